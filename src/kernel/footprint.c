/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches have footprints, and their parts: see footprint.h. */
#include "kernel/footprint.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "kernel/notes.h"
#include "observe/hooks.h"

#define BUCKETS 64u
#define AT_ONCE 256u

/* Of a launch under way. */
struct footprint {
    struct footprint *next; /* in its bucket */
    uint64_t launch;        /* mr_launch.id */
    struct mr_part *parts;
    struct mr_wrote *wrote; /* NULL: nobody asks what is read first, or memory is short */
    bool first; /* somebody asks */
};

static mr_lock lock = MR_LOCK_INIT(FOOTPRINTS);
static struct footprint *buckets[BUCKETS];

/* Where the launch's footprint is, or would be. Lock held. */
static struct footprint **find(uint64_t launch)
{
    MR_HELD(&lock);
    struct footprint **place = &buckets[launch % BUCKETS];
    while (*place && (*place)->launch != launch)
        place = &(*place)->next;
    return place;
}

static struct mr_part *find_part(const struct mr_executor *executor)
{
    struct mr_part *part = NULL;
    mr_lock_take(&lock);
    struct footprint *footprint = *find(executor->launch->id);
    if (footprint)
        part = footprint->parts;
    while (part && (part->owner != executor || part->code != executor->code))
        part = part->next;
    mr_lock_drop(&lock);
    return part;
}

static void free_part(struct mr_part *part)
{
    for (uint32_t i = 0; i < part->code->sites->count; i++) {
        mr_touched_clear(&part->touched[i]);
        if (part->first)
            mr_touched_clear(&part->first[i]);
    }
    for (unsigned i = 0; i < MR_WARPS_MAX; i++)
        mr_free(part->notes[i]);
    mr_free(part);
}

/* A new part, listed with its launch; NULL when memory is short. */
static struct mr_part *new_part(struct mr_executor *executor)
{
    const struct mr_code *code = executor->code;
    bool first = mr_observes(MR_OBSERVE_FIRST);
    size_t sets = (size_t)code->sites->count * (first ? 2 : 1);
    struct mr_part *part = mr_calloc(1, sizeof *part + sets * sizeof part->touched[0]);
    struct footprint *made = mr_calloc(1, sizeof *made);
    struct mr_wrote *wrote = first ? mr_wrote_new() : NULL;
    if (part && made) {
        part->owner = executor;
        part->code = code;
        made->launch = executor->launch->id;
        made->wrote = wrote;
        made->first = first;
        mr_lock_take(&lock);
        struct footprint **place = find(made->launch);
        if (!*place) {
            *place = made;
            made = NULL;
            wrote = NULL;
        }
        part->wrote = (*place)->wrote;
        part->first = part->wrote ? part->touched + code->sites->count : NULL;
        part->next = (*place)->parts;
        (*place)->parts = part;
        mr_lock_drop(&lock);
    } else {
        mr_free(part);
        part = NULL;
    }
    mr_wrote_free(wrote);
    mr_free(made);
    return part;
}

static struct mr_note *new_notes(const struct mr_code *code)
{
    struct mr_note *notes = mr_calloc(code->sites->count + 1, sizeof *notes);
    for (uint32_t i = 0; notes && i < code->sites->count; i++)
        notes[i].next = MR_NOTE_NOWHERE;
    return notes;
}

bool mr_footprint_begin(struct mr_executor *executor, uint32_t warps)
{
    const struct mr_code *code = executor->code;
    struct mr_part *part = executor->part_launch == executor->launch->id && executor->part->code == code
                               ? executor->part
                               : find_part(executor);
    if (!part)
        part = new_part(executor);
    if (!part)
        return false;
    for (uint32_t i = 0; i < warps; i++) {
        if (!part->notes[i])
            part->notes[i] = new_notes(code);
        if (!part->notes[i])
            return false;
        executor->warps[i].notes = part->notes[i];
    }
    executor->part = part;
    executor->part_launch = executor->launch->id;
    executor->block.notes = part->notes[0];
    return true;
}

void mr_footprint_misaligned(const struct mr_executor *executor, uint32_t line, uint64_t address)
{
    struct mr_part *part = executor->part;
    if (!executor->code->sites || !part || executor->part_launch != executor->launch->id ||
        part->code != executor->code)
        return;
    for (uint32_t i = 0; i < executor->code->sites->count; i++) {
        const struct mr_site *site = &executor->code->sites->site[i];
        if (site->line != line || !site->bytes)
            continue;
        part->touched[i].misaligned = site->bytes;
        part->touched[i].misaligned_at = address;
        return;
    }
}

/* --- The end --------------------------------------------------------------------------- */

/* A site's set, and what the boxes in it are. */
struct place {
    struct mr_touched *set;
    uint32_t place, how;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->how < b->how ? -1 : a->how > b->how;
}

struct giver {
    struct mr_access boxes[AT_ONCE];
    size_t count;
    uint32_t place, how;
    void (*give)(void *data, struct mr_access *boxes, size_t count);
    void *data;
};

static void give_all(struct giver *giver)
{
    if (giver->count)
        giver->give(giver->data, giver->boxes, giver->count);
    giver->count = 0;
}

static void take_box(void *data, const struct mr_box *box, bool rough)
{
    struct giver *giver = data;
    if (giver->count == AT_ONCE)
        give_all(giver);
    giver->boxes[giver->count++] = (struct mr_access){.first = box->first,
                                                      .width = box->width,
                                                      .rows = box->rows,
                                                      .pitch = box->rows > 1 ? box->pitch : box->width,
                                                      .place = giver->place,
                                                      .how = giver->how | (rough ? MR_ACCESS_ROUGH : 0u)};
}

/* The set is empty then. */
static void give_set(struct mr_touched *set, uint32_t place, uint32_t how, struct giver *giver)
{
    const struct mr_box misaligned = {set->misaligned_at, set->misaligned, 1, 0};
    giver->place = place;
    giver->how = how;
    mr_touched_each(set, take_box, giver);
    if (misaligned.width) {
        giver->how |= MR_ACCESS_MISALIGNED;
        take_box(giver, &misaligned, false);
    }
}

/* Gives the boxes of all places, those of one place together; with `first`, of what was read first. `places` may be
 * NULL: each by itself. */
static void give_sets(struct mr_part *parts, bool first, struct place *places, struct giver *giver)
{
    size_t count = 0;
    for (struct mr_part *part = parts; part; part = part->next)
        for (uint32_t i = 0; i < part->code->sites->count; i++) {
            uint32_t flags = part->code->sites->site[i].flags;
            struct place place = {first ? &part->first[i] : &part->touched[i],
                                  part->code->places ? part->code->places[i] : i,
                                  (flags & (MR_ACCESS_READ | MR_ACCESS_WRITE | MR_ACCESS_ATOMIC)) |
                                      (flags & MR_SITE_PAST_GRIDS ? MR_ACCESS_PAST_GRIDS : 0u) |
                                      (flags & MR_SITE_TALKS ? MR_ACCESS_TALKS : 0u)};
            if (first)
                place.how |= MR_ACCESS_FIRST | (flags & MR_SITE_WAY ? MR_ACCESS_WAY : 0u) |
                             (flags & MR_SITE_PLACE ? MR_ACCESS_PLACE : 0u);
            if (mr_touched_is_empty(place.set))
                continue; /* most sites of large kernels */
            if (places) {
                places[count++] = place;
                continue;
            }
            give_set(place.set, place.place, place.how, giver);
        }
    if (count > 1)
        qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && by_place(&places[i], &places[i + 1]) == 0) {
            mr_touched_join(places[i + 1].set, places[i].set);
            continue;
        }
        give_set(places[i].set, places[i].place, places[i].how, giver);
    }
}

/* Some of what was read first is missing. */
static void give_short(struct giver *giver)
{
    giver->place = 0;
    giver->how = MR_ACCESS_READ | MR_ACCESS_FIRST;
    take_box(giver, &(struct mr_box){0}, true);
}

void mr_footprint_give(const struct mr_launch *launch, void (*give)(void *data, struct mr_access *boxes, size_t count),
                       void *data)
{
    if (!launch->code->sites)
        return;
    mr_lock_take(&lock);
    struct footprint **place = find(launch->id), *footprint = *place;
    if (footprint)
        *place = footprint->next;
    mr_lock_drop(&lock);
    if (!footprint)
        return;
    size_t sites = 0;
    for (struct mr_part *part = footprint->parts; part; part = part->next) {
        mr_part_close(part);
        sites += part->code->sites->count;
    }
    struct place *places = sites ? mr_alloc(sites * sizeof *places) : NULL;
    struct giver giver;
    giver.count = 0;
    giver.give = give;
    giver.data = data;
    if (footprint->wrote)
        give_sets(footprint->parts, true, places, &giver);
    if (footprint->first && (!footprint->wrote || mr_wrote_is_short(footprint->wrote)))
        give_short(&giver);
    give_sets(footprint->parts, false, places, &giver);
    give_all(&giver);
    mr_free(places);
    mr_wrote_free(footprint->wrote);
    for (struct mr_part *part = footprint->parts, *next; part; part = next) {
        next = part->next;
        free_part(part);
    }
    mr_free(footprint);
}
