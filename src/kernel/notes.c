/* SPDX-License-Identifier: Apache-2.0 */
/* From notes to sets of bytes: the services that code calls which makes notes (abi/note.h).
 *
 * A site's pieces are mostly of one width and follow each other at even distances; then code moves the run on by
 * itself. What breaks a run comes here: the run goes to the site's set, and the piece begins another. The second piece
 * of a run says how far the pieces are apart. If the third is elsewhere, the first was one by itself, and the others
 * may be a run.
 *
 * Lanes that touch what lies side by side are a piece; lanes at even distances are a box; all others are stretches of
 * neighbours, or single bytes.
 *
 * Where somebody asks which bytes the launch reads before it writes them, each piece is looked at when it comes, before
 * the access is made, and code moves no run on by itself. */
#include "kernel/notes.h"

#include "observe/hooks.h"

/* Fewer bytes than that, which touch no others, go to pages at once. */
#define STRETCH_LEAST 32u

/* Whether a generic address is one of global memory: not the block's shared memory, nor a stack, nor parameters. */
static bool is_global(const struct mr_executor *executor, uint64_t address)
{
    const struct mr_launch *launch = executor->launch;
    const struct {
        const void *start;
        size_t bytes;
    } others[] = {{executor->shared_map, executor->shared_map_bytes},
                  {executor->stacks, executor->stacks_bytes},
                  {launch->params, launch->param_bytes},
                  {executor->params, launch->param_bytes},
                  {executor->block.grid_workspace, sizeof *executor->block.grid_workspace}};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].start && address - (uintptr_t)others[i].start < others[i].bytes)
            return false;
    return true;
}

/* --- Runs ------------------------------------------------------------------------------ */

/* Where the run goes on. */
static uint64_t end_of(const struct mr_note *note)
{
    return note->next == MR_NOTE_NOWHERE ? note->other : note->next;
}

/* `count` pieces, `step` bytes apart. */
static void add_pieces(const struct mr_site *site, struct mr_touched *set, uint64_t first, uint32_t width,
                       uint64_t count, uint64_t step)
{
    if (!site->stride) {
        mr_touched_add(set, first, width, count, step);
        return;
    }
    uint64_t teeth = (width - site->bytes) / site->stride + 1;
    if (step == teeth * site->stride) {
        mr_touched_add(set, first, site->bytes, teeth * count, site->stride);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        mr_touched_add(set, first + i * step, site->bytes, teeth, site->stride);
}

static void close_run(struct mr_note *note, const struct mr_site *site, struct mr_touched *set)
{
    if (note->state == 0)
        return;
    uint64_t first = note->first, rows = 1;
    int64_t step = (int64_t)note->step;
    if (note->state == 2) {
        rows = (uint64_t)((int64_t)(end_of(note) - first) / step);
        if (step < 0) {
            first += (rows - 1) * (uint64_t)step;
            step = -step;
        }
    }
    if (rows == 2 && (uint64_t)step > note->width) {
        add_pieces(site, set, first, note->width, 1, 0);
        first += (uint64_t)step;
        rows = 1;
    }
    add_pieces(site, set, first, note->width, rows, (uint64_t)step);
    note->state = 0;
}

/* The run goes on there. Code may only move it on if its pieces are as wide as the site's, and nobody looks at each. */
static void go_on(struct mr_note *note, const struct mr_site *site, uint64_t at)
{
    note->next = note->width == site->width && !mr_observes(MR_OBSERVE_FIRST) ? at : MR_NOTE_NOWHERE;
    note->other = at;
}

static void begin_run(struct mr_note *note, const struct mr_site *site, uint64_t address, uint32_t width)
{
    note->first = address;
    note->width = width;
    note->step = 0;
    note->state = 1;
    go_on(note, site, address);
}

static void add_piece(struct mr_note *note, const struct mr_site *site, struct mr_touched *set, uint64_t address,
                      uint32_t width)
{
    if (note->state == 0 || note->width != width) {
        close_run(note, site, set);
        begin_run(note, site, address, width);
        return;
    }
    uint64_t end = end_of(note);
    if (note->state == 1) {
        if (address == note->first)
            return;
        note->step = address - note->first;
        note->state = 2;
        go_on(note, site, address + note->step);
        return;
    }
    if (address == end) {
        go_on(note, site, address + note->step);
        return;
    }
    uint64_t last = end - note->step;
    if (address == last)
        return;
    if (last - note->first == note->step) {
        add_pieces(site, set, note->first, width, 1, 0);
        note->first = last;
        note->step = address - last;
        go_on(note, site, address + note->step);
        return;
    }
    close_run(note, site, set);
    begin_run(note, site, address, width);
}

void mr_part_close(struct mr_part *part)
{
    for (unsigned warp = 0; warp < MR_WARPS_MAX && part->notes[warp]; warp++)
        for (uint32_t i = 0; i < part->code->sites->count; i++)
            close_run(&part->notes[warp][i], &part->code->sites->site[i], &part->touched[i]);
}

/* --- Lanes ----------------------------------------------------------------------------- */

/* A call of a service. */
struct call {
    const struct mr_executor *executor;
    const struct mr_site *site;
    struct mr_note *note;
    struct mr_touched *set, *first;
    struct mr_wrote *wrote; /* NULL: nobody asks what is read first */
};

static struct call begin_call(struct mr_block *block, uint32_t site)
{
    struct mr_executor *executor = block->engine;
    struct mr_part *part = executor->part;
    return (struct call){executor,
                         &executor->code->sites->site[site],
                         &block->notes[site],
                         &part->touched[site],
                         part->wrote ? &part->first[site] : NULL,
                         part->wrote};
}

static bool is_noted(const struct call *call, uint64_t address)
{
    return !(call->site->flags & MR_SITE_GENERIC) || is_global(call->executor, address);
}

/* `count` stretches are touched now, `step` bytes apart: of what the site reads, notes what the launch has not written
 * yet; what it writes is written from now on. */
static void follow_each(const struct call *call, uint64_t first, uint64_t width, uint64_t count, uint64_t step)
{
    if (step == width) {
        width *= count;
        count = 1;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = first + i * step, end = at + width, gap, gap_end;
        if (call->site->flags & MR_SITE_READ) {
            for (; mr_wrote_gap(call->wrote, at, end, &gap, &gap_end); at = gap_end)
                if (gap_end - gap >= STRETCH_LEAST)
                    mr_touched_add(call->first, gap, gap_end - gap, 1, 0);
                else
                    mr_touched_mark(call->first, gap, gap_end);
        }
        if (call->site->flags & MR_SITE_WRITE)
            mr_wrote_add(call->wrote, first + i * step, end);
    }
}

static void follow(const struct call *call, uint64_t first, uint64_t width, uint64_t count, uint64_t step)
{
    if (call->wrote)
        follow_each(call, first, width, count, step);
}

/* A few bytes, or many, that belong to no run. */
static void add_stretch(const struct call *call, uint64_t from, uint64_t to)
{
    if (to - from >= STRETCH_LEAST)
        mr_touched_add(call->set, from, to - from, 1, 0);
    else
        mr_touched_mark(call->set, from, to);
}

/* `count` lanes at even distances, all of which are noted. */
static void add_even(const struct call *call, uint64_t first, int64_t step, unsigned count)
{
    uint32_t bytes = call->site->bytes;
    if (step < 0) {
        first += (uint64_t)step * (count - 1);
        step = -step;
    }
    if (count == 1)
        step = 0;
    uint64_t width = (uint64_t)step * (count - 1) + bytes;
    bool comb = (uint64_t)step > bytes;
    if (call->site->stride ? comb && (uint64_t)step == call->site->stride : !comb)
        add_piece(call->note, call->site, call->set, first, (uint32_t)width);
    else
        mr_touched_add(call->set, first, comb ? bytes : width, comb ? count : 1, (uint64_t)step);
}

/* Fewer lanes at an even distance are a coincidence. */
#define EVEN_LEAST 4u

/* Lanes with any addresses, all of which are noted: those at even distances go together. The first such parts of the
 * warp make runs of their own, if there are notes for them. */
static void add_any(struct call call, const uint64_t *address, unsigned count)
{
    uint32_t bytes = call.site->bytes;
    uint64_t left[64];
    bool is_unit = bytes && !(bytes & (bytes - 1));
    uint32_t unit = is_unit ? (uint32_t)__builtin_ctz(bytes) : 0;
    for (unsigned i = 0; call.wrote && i < count; i++)
        follow_each(&call, address[i], bytes, 1, 0);
    if (call.set->field_count && is_unit) {
        count = mr_touched_lanes(call.set, address, count, unit, left);
        address = left;
    }
    unsigned more = call.site->flags & MR_SITE_PARTS ? MR_SITE_PARTS_MORE : 0;
    for (unsigned from = 0; from < count;) {
        unsigned to = from + 1;
        uint64_t step = to < count ? address[to] - address[from] : 0;
        while (to < count && address[to] - address[to - 1] == step)
            to++;
        unsigned lanes = to - from;
        if (lanes >= EVEN_LEAST || lanes == count || (lanes > 1 && (step == bytes || step == 0))) {
            add_even(&call, address[from], (int64_t)step, lanes);
            from = to;
            if (more) {
                more--;
                call.note++;
                call.set++;
            }
        } else {
            if (is_unit)
                mr_touched_lane(call.set, address[from], unit);
            else
                add_stretch(&call, address[from], address[from] + bytes);
            from++;
        }
    }
}

void mr_note_piece(struct mr_block *block, uint32_t site, uint64_t address, uint32_t bytes)
{
    struct call call = begin_call(block, site);
    if (!is_noted(&call, address))
        return;
    if (call.site->stride)
        follow(&call, address, call.site->bytes, (bytes - call.site->bytes) / call.site->stride + 1, call.site->stride);
    else
        follow(&call, address, bytes, 1, 0);
    add_piece(call.note, call.site, call.set, address, bytes);
}

void mr_note_lanes(struct mr_block *block, uint32_t site, const uint64_t *address, uint64_t mask)
{
    struct call call = begin_call(block, site);
    bool generic = call.site->flags & MR_SITE_GENERIC;
    if (!generic && (mask == UINT32_MAX || mask == UINT64_MAX)) {
        add_any(call, address, mask == UINT32_MAX ? 32 : 64);
        return;
    }
    uint64_t noted[64];
    unsigned count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t at = address[__builtin_ctzll(mask)];
        if (!generic || is_global(call.executor, at))
            noted[count++] = at;
    }
    if (count)
        add_any(call, noted, count);
}

void mr_note_steps(struct mr_block *block, uint32_t site, uint64_t address, uint64_t step, uint64_t mask)
{
    struct call call = begin_call(block, site);
    unsigned lane = (unsigned)__builtin_ctzll(mask), count = (unsigned)__builtin_popcountll(mask);
    uint64_t run = mask >> lane, first = address + step * lane;
    if (!(run & (run + 1)) && is_noted(&call, first) && is_noted(&call, first + step * (count - 1))) {
        follow(&call, first, call.site->bytes, count, step);
        add_even(&call, first, (int64_t)step, count);
        return;
    }
    uint64_t lanes[64];
    for (uint64_t rest = mask; rest; rest &= rest - 1)
        lanes[__builtin_ctzll(rest)] = address + step * (unsigned)__builtin_ctzll(rest);
    mr_note_lanes(block, site, lanes, mask);
}

void mr_note_sizes(struct mr_block *block, uint32_t site, const uint64_t *address, const uint32_t *bytes, uint64_t mask)
{
    struct call call = begin_call(block, site);
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(mask);
        if (!bytes[lane] || !is_noted(&call, address[lane]))
            continue;
        follow(&call, address[lane], bytes[lane], 1, 0);
        add_stretch(&call, address[lane], address[lane] + bytes[lane]);
    }
}

void mr_note_rows(struct mr_block *block, uint32_t site, uint64_t address, uint64_t bytes, uint32_t rows,
                  uint64_t pitch)
{
    struct call call = begin_call(block, site);
    if (!is_noted(&call, address))
        return;
    follow(&call, address, bytes, rows, pitch);
    mr_touched_add(call.set, address, bytes, rows, pitch);
}

void mr_note_touch(struct mr_executor *executor, const void *place, uint64_t bytes)
{
    struct call call = begin_call(&executor->block, executor->block.site);
    follow(&call, (uintptr_t)place, bytes, 1, 0);
    add_stretch(&call, (uintptr_t)place, (uintptr_t)place + bytes);
}
