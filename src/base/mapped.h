/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the system what the program's address space holds, for addresses that nothing else has checked. Ask seldom: each
 * question is a system call or more. */
#ifndef MR_BASE_MAPPED_H
#define MR_BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does every page of [start, start + size) exist, whatever its rights? A few hundred nanoseconds for some pages. Any
 * thread. */
bool mr_mapped_exists(uintptr_t start, size_t size);

/* May the program read, or write, every page of it? From the system's own list, which is tens of microseconds; where
 * that can't be had, whether the pages exist. */
bool mr_mapped_allows(uintptr_t start, size_t size, bool write);

#endif
