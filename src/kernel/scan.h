/* SPDX-License-Identifier: Apache-2.0 */
/* The service next_block: see abi.h for its table. */
#ifndef MR_KERNEL_SCAN_H
#define MR_KERNEL_SCAN_H

#include <stdbool.h>

#include "abi/abi.h"

uint32_t mr_scan_next(struct mr_block *block, const void *masks, const void *registers, const uint32_t *table,
                      uint32_t at, uint32_t order);

#endif
