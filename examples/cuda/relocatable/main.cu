/* SPDX-License-Identifier: Apache-2.0 */
/* Device code in two sources (-rdc=true): a function and a variable of the other source, and one name that each has for itself. */
#include "../check.h"
#include "table.h"

static __device__ int own = 7;

__global__ void use(int *out)
{
    out[threadIdx.x] = look_up(threadIdx.x) + own + table_base;
}

int main()
{
    int *out;
    CHECK(cudaMallocManaged(&out, 32 * sizeof(int)));
    CHECK(set_base(1000));
    use<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == i * i + 40 + 7 + 1000);
    CHECK(cudaFree(out));
    std::printf("relocatable: 32 values of the other source\n");
    return 0;
}
