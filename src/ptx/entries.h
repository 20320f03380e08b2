/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PTX with some of its kernels alone, as an assembler makes code for those that -e names.
 */
#ifndef MR_PTX_ENTRIES_H
#define MR_PTX_ENTRIES_H

#include <stdbool.h>

#include "base/text.h"

enum mr_ptx_entries_result {
    MR_PTX_ENTRIES_KEPT,
    MR_PTX_ENTRIES_UNKNOWN,  /* the text defines nothing of that name */
    MR_PTX_ENTRIES_NO_ENTRY, /* it defines a function or a variable of that name, and no kernel */
};

/*
 * Adds the PTX to `out` without the kernels that `names` doesn't have; everything else stays as it is. Names are as
 * PTX has them. A name that is no kernel's: *wrong is its place in `names`, and `out` is to be thrown away. Text that
 * can't be read as PTX is copied from there on. Any thread.
 */
enum mr_ptx_entries_result mr_ptx_keep_entries(const char *ptx, const struct mr_words *names, struct mr_text *out,
                                               size_t *wrong);

/* Adds the names of a comma list; empty ones, and those that are there, are passed over. */
void mr_ptx_entries_list(const char *list, struct mr_words *names);

/*
 * Says in `out` what is wrong with a name, in the words of NVIDIA's assembler, which build systems and people know.
 * Ends with a line feed.
 */
void mr_ptx_entries_explain(enum mr_ptx_entries_result result, const char *name, struct mr_text *out);

#endif
