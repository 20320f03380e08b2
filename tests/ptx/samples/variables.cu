// SPDX-License-Identifier: Apache-2.0
// samples/variables.ptx is made from this source: as `nvcc -G` does it, without the headers.
struct node {
    node *next;
    float values[2][3];
    unsigned char letter;
};
typedef unsigned int number;
enum colour { RED, GREEN };
__attribute__((device, noinline)) int helper(const node *first, number count)
{
    int sum = 0;
    for (number i = 0; i < count; i++)
        sum += first->letter;
    return sum;
}
extern "C" __attribute__((global)) void kernel(float *values, colour which)
{
    node one;
    one.next = &one;
    one.values[1][2] = values[0];
    one.letter = which;
    double wide = values[1];
    values[0] = helper(&one, 3) + wide;
}
