/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of 16 bytes as CUDA C++ spells them; test_wide_atomics.c runs this. */

struct alignas(16) counter {
    unsigned long long up, down;
};

extern "C" __global__ void count(counter *total, unsigned __int128 *last, counter *failed)
{
    counter before = *total;
    for (;;) {
        counter next = {before.up + 1, before.down - 1}, seen = atomicCAS(total, before, next);
        if (seen.up == before.up && seen.down == before.down)
            break;
        before = seen;
    }
    unsigned __int128 value = (unsigned __int128)~before.up << 64 | before.up, old = atomicExch_system(last, value);
    if ((unsigned long long)(old >> 64) != ~(unsigned long long)old)
        atomicAdd(&failed->up, 1ull);
    if (atomicCAS_block(last, (unsigned __int128)0, (unsigned __int128)1) == 0)
        atomicAdd(&failed->down, 1ull);
}
