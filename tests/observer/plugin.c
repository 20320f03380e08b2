/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is loaded, calls back, and is closed. */
#include <stdint.h>

uint32_t plugin(uint32_t (*take)(void));
uint32_t plugin(uint32_t (*take)(void))
{
    uint32_t site = take();
    __asm__ volatile("" ::: "memory");
    return site;
}
