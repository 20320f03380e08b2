/* SPDX-License-Identifier: Apache-2.0 */

#include "program.h"

u64 draw_bits(u64 *state)
{
    u64 x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
