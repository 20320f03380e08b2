/* SPDX-License-Identifier: Apache-2.0 */
/* The process's mappings, as the kernel lists them. */
#ifndef MR_REDIRECT_MAPS_H
#define MR_REDIRECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_mapping {
    uintptr_t begin, end;
    uint64_t offset; /* of the file, at begin */
    int protection;  /* PROT_… */
    bool is_private;
};

struct mr_mappings {
    struct mr_mapping *list; /* by address */
    size_t count;
};

/* Reads the list; false if it can't be read. mr_mappings_free frees it either way. */
bool mr_mappings_read(struct mr_mappings *out);
void mr_mappings_free(struct mr_mappings *mappings);

/* The mapping that holds `address`, or NULL. */
const struct mr_mapping *mr_mapping_at(const struct mr_mappings *mappings, uintptr_t address);

/* The hole of `size` bytes nearest below `address`, at least `gap` bytes from other mappings on both sides, else
 * nearest above; 0 if there is none within `reach`. */
uintptr_t mr_mappings_hole(const struct mr_mappings *mappings, uintptr_t address, size_t size, size_t gap,
                           size_t reach);

#endif
