/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: a list that the host builds and a kernel walks through; and variables of the device, set and read by name. */
#include "check.h"

struct node {
    int value;
    node *next;
};

__device__ int total;
__device__ int scale = 3;
__constant__ int offsets[2] = { 10, 20 };

__global__ void walk(node *first)
{
    int sum = 0;
    for (node *at = first; at; at = at->next) {
        at->value *= scale;
        sum += at->value + offsets[at->value & 1];
    }
    total = sum;
}

int main()
{
    const int n = 100;
    node *nodes;
    CHECK(cudaMallocManaged(&nodes, n * sizeof(node)));
    for (int i = 0; i < n; i++)
        nodes[i] = { i, i + 1 < n ? &nodes[i + 1] : nullptr };
    int five = 5, more[2] = { 1, 2 }, sum = 0;
    CHECK(cudaMemcpyToSymbol(scale, &five, sizeof five));
    CHECK(cudaMemcpyToSymbol(offsets, more, sizeof more));
    walk<<<1, 1>>>(nodes);
    CHECK(cudaDeviceSynchronize());
    int expected = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(nodes[i].value == 5 * i);
        expected += 5 * i + more[5 * i & 1];
    }
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    EXPECT(sum == expected);
    CHECK(cudaFree(nodes));
    std::printf("managed: the list's total is %d\n", sum);
    return 0;
}
