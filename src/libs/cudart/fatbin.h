/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a fat binary, as compilers put it into programs. */
#ifndef MR_CUDART_FATBIN_H
#define MR_CUDART_FATBIN_H

#include <stdint.h>

#define MR_FATBIN_MAGIC 0xba55ed50u

struct mr_fatbin_head {
    uint32_t magic;
    uint16_t version, size; /* of this head, in bytes */
    uint64_t rest;          /* bytes of the entries behind it */
};

#endif
