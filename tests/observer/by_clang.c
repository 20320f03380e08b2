/* SPDX-License-Identifier: Apache-2.0 */
/* A part of `stacks` that clang compiles: its debug information has no table of addresses, the other parts' has. */
#include <stdint.h>

uint32_t by_clang(uint32_t (*function)(void));

__attribute__((noinline)) uint32_t by_clang(uint32_t (*function)(void))
{
    uint32_t site = function();
    __asm__ volatile("" ::: "memory");
    return site;
}
