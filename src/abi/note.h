/* SPDX-License-Identifier: Apache-2.0 */
/* Notes that a kernel's code makes of what it touches, where an observer asks for them (src/observe/observe.h).
 *
 * Terms.
 *
 * - A site is an access of the code: an instruction that reads or writes global memory, with how it does that. The
 *   object file has a table of them, under MR_SITES_SYMBOL.
 * - A piece is what a warp (or a row of its threads) touches at a site at once, where that is one stretch of bytes, or
 * a comb: stretches at a distance that the site tells.
 * - A run is a series of pieces of one width at even distances: what a warp touches in a loop, or what warps touch one
 *   after the other.
 * - A note is the run that is under way at a site. A warp that has a stack of its own has notes of its own; all other
 *   code of a thread shares one set.
 *
 * The code looks whether a piece is where the run goes on. If so, it moves the run's end on by itself; everything else
 * is the runtime's, which it calls (mr_runtime.note_piece and its like). What the runtime makes of it says
 * src/kernel/footprint.h. */
#ifndef MR_ABI_NOTE_H
#define MR_ABI_NOTE_H

#include <stdint.h>

#define MR_SITES_SYMBOL "mr_sites"

/* Flags of a site. The first three are those of enum mr_access_how. */
enum {
    MR_SITE_READ = 1u << 0,
    MR_SITE_WRITE = 1u << 1,
    MR_SITE_ATOMIC = 1u << 2,
    MR_SITE_PARTS = 1u << 4, /* the next MR_SITE_PARTS_MORE sites are the same one: for runs of several parts of a warp,
                                as where it is several rows */
    MR_SITE_WAY = 1u << 5, /* a load whose value says which way the lane goes; */
    MR_SITE_PLACE = 1u << 6, /* where it accesses memory */
    MR_SITE_PAST_GRIDS = 1u << 7, /* lanes may have waited for the grids before their own (griddepcontrol.wait) */
    MR_SITE_TALKS = 1u << 8, /* the host may look while the kernel runs: volatile, or in the scope of the system */
    MR_SITE_GENERIC = 1u << 3, /* addresses may turn out to be of shared or local memory, or of parameters */
};

#define MR_SITE_PARTS_MORE 3u

struct mr_site {
    uint32_t line; /* of the PTX */
    uint32_t source_line; /* of the source, where .loc tells; else 0 */
    uint32_t file; /* where the source's name stands in the table, in bytes from its start; 0: not known */
    uint32_t bytes; /* that a lane touches, where that is known */
    uint32_t width; /* of pieces that the code takes for a run by itself, from their first byte to their last;
                       0: there are none */
    uint32_t stride; /* of a comb, from one stretch of `bytes` to the next; 0: pieces are stretches */
    uint32_t flags; /* MR_SITE_* */
};

struct mr_sites {
    uint32_t count;
    uint32_t size; /* of the table with the names behind it, in bytes */
    struct mr_site site[];
};

/* No address: where a run goes on that the code may not move on. */
#define MR_NOTE_NOWHERE UINT64_MAX

/* All zero at first, except that `next` is MR_NOTE_NOWHERE: 0 is an address that a kernel may touch. */
struct mr_note {
    uint64_t next; /* where the run's next piece of the site's width begins; MR_NOTE_NOWHERE */
    uint64_t step; /* from one piece to the next; `next` moves on by it */
    uint64_t first; /* the rest is the runtime's: where the run's first piece begins; */
    uint64_t other; /* `next`, where that is MR_NOTE_NOWHERE; */
    uint32_t width; /* of its pieces; */
    uint32_t state; /* 0: no run; 1: one piece, and no step; 2: several pieces */
};

#endif
