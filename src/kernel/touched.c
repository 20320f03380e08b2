/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bytes: see touched.h. */
#include "kernel/touched.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define PAGE 4096u
#define WORDS (PAGE / 64u)
#define BOXES_MOST 1024u   /* of a set; what is more goes to pages */
#define RECENT 512u
#define RECENT_FROM 8u     /* boxes; fewer are all looked at */
#define POUR_PAGES 4096u   /* boxes that span more stay boxes, unless there are too many of these, too */
#define BITS_AT_ONCE 15u   /* pages */
#define POUR_ROWS 64u      /* boxes of so many go to pages at once if others have gone there */
#define MANY 64u           /* boxes beside pages; at the end they become pages, too, if there are more */

struct mr_bits {
    struct mr_bits *next;
    uint32_t used;
    uint64_t words[BITS_AT_ONCE][WORDS];
};

_Atomic size_t mr_touched_most = (size_t)256 << 20;
static _Atomic size_t in_use;

/* --- Memory within the bound ---------------------------------------------------------- */

static bool claim(size_t bytes)
{
    size_t before = atomic_fetch_add_explicit(&in_use, bytes, memory_order_relaxed);
    if (before + bytes <= atomic_load_explicit(&mr_touched_most, memory_order_relaxed))
        return true;
    atomic_fetch_sub_explicit(&in_use, bytes, memory_order_relaxed);
    return false;
}

static void give_back(size_t bytes)
{
    atomic_fetch_sub_explicit(&in_use, bytes, memory_order_relaxed);
}

/* Zeroed; NULL beyond the bound. */
static void *take(size_t bytes)
{
    if (!claim(bytes))
        return NULL;
    void *memory = mr_calloc(1, bytes);
    if (!memory)
        give_back(bytes);
    return memory;
}

static void drop(void *memory, size_t bytes)
{
    if (!memory)
        return;
    mr_free(memory);
    give_back(bytes);
}

/* --- Pages ---------------------------------------------------------------------------- */

static void widen(struct mr_touched *set, uint64_t from, uint64_t to)
{
    if (!set->high || from < set->low)
        set->low = from;
    if (to > set->high)
        set->high = to;
}

static uint32_t place_of(const struct mr_page *pages, uint32_t room, uint64_t number)
{
    uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
    while (pages[at].to && pages[at].number != number)
        at = (at + 1) & (room - 1);
    return at;
}

static bool grow_pages(struct mr_touched *set)
{
    uint32_t room = set->page_room ? 2 * set->page_room : 64;
    struct mr_page *pages = room ? take(room * sizeof *pages) : NULL;
    if (!pages)
        return false;
    for (uint32_t i = 0; i < set->page_room; i++)
        if (set->pages[i].to)
            pages[place_of(pages, room, set->pages[i].number)] = set->pages[i];
    drop(set->pages, set->page_room * sizeof *pages);
    set->pages = pages;
    set->page_room = room;
    set->page_last = 0;
    return true;
}

/* The page's record, with `to` 0 if it is new; NULL if there is no memory for it. */
static struct mr_page *find_page(struct mr_touched *set, uint64_t number)
{
    if (set->page_room && set->pages[set->page_last].number == number && set->pages[set->page_last].to)
        return &set->pages[set->page_last];
    if (4 * (uint64_t)set->page_count >= 3 * (uint64_t)set->page_room && !grow_pages(set)) {
        /* Pages that are there can still be found. */
        if (!set->page_room)
            return NULL;
        uint32_t at = place_of(set->pages, set->page_room, number);
        return set->pages[at].to ? &set->pages[at] : NULL;
    }
    set->page_last = place_of(set->pages, set->page_room, number);
    struct mr_page *page = &set->pages[set->page_last];
    if (!page->to) {
        *page = (struct mr_page){.number = number};
        set->page_count++;
    }
    return page;
}

static uint64_t *new_bits(struct mr_touched *set)
{
    if (!set->bits || set->bits->used == BITS_AT_ONCE) {
        struct mr_bits *bits = take(sizeof *bits);
        if (!bits)
            return NULL;
        bits->next = set->bits;
        set->bits = bits;
        set->bits_bytes += sizeof *bits;
    }
    return set->bits->words[set->bits->used++];
}

static void set_bits(uint64_t *bits, unsigned from, unsigned to)
{
    unsigned first = from / 64, last = (to - 1) / 64;
    uint64_t head = UINT64_MAX << (from % 64), tail = UINT64_MAX >> (63 - (to - 1) % 64);
    if (first == last) {
        bits[first] |= head & tail;
        return;
    }
    bits[first] |= head;
    for (unsigned i = first + 1; i < last; i++)
        bits[i] = UINT64_MAX;
    bits[last] |= tail;
}

static void mark_page(struct mr_touched *set, struct mr_page *page, unsigned from, unsigned to)
{
    bool apart = page->to && (from > page->to || to < page->from);
    if (!page->bits && apart && !page->rough) {
        page->bits = new_bits(set);
        if (page->bits)
            set_bits(page->bits, page->from, page->to);
        else
            page->rough = true;
    }
    if (page->bits)
        set_bits(page->bits, from, to);
    if (!page->to || from < page->from)
        page->from = (uint16_t)from;
    if (to > page->to)
        page->to = (uint16_t)to;
}

void mr_touched_mark(struct mr_touched *set, uint64_t from, uint64_t to)
{
    if (set->page_room && from % 64 + (to - from) <= 64 && from != to) {
        /* Within a word of the page that was looked at last. */
        struct mr_page *page = &set->pages[set->page_last];
        if (page->number == from / PAGE && page->bits) {
            page->bits[from % PAGE / 64] |= UINT64_MAX >> (64 - (to - from)) << from % 64;
            return;
        }
    }
    while (from < to) {
        uint64_t number = from / PAGE, end = (number + 1) * PAGE;
        struct mr_page *page = find_page(set, number);
        if (!page) {
            widen(set, from, to);
            return;
        }
        if (end > to || end == 0)
            end = to;
        mark_page(set, page, (unsigned)(from % PAGE), (unsigned)(end - number * PAGE));
        from = end;
    }
}

/* --- Boxes ---------------------------------------------------------------------------- */

static void pour(struct mr_touched *set, const struct mr_box *box)
{
    for (uint64_t row = 0; row < box->rows; row++)
        mr_touched_mark(set, box->first + row * box->pitch, box->first + row * box->pitch + box->width);
}

static uint64_t pages_of(const struct mr_box *box)
{
    uint64_t each = box->width / PAGE + 1;
    return box->rows > POUR_PAGES ? UINT64_MAX : each * box->rows;
}

/* Makes room for a box: by fewer and larger ones, or else by pages. */
static void make_room(struct mr_touched *set)
{
    set->count = mr_boxes_join(set->boxes, set->count);
    set->last = 0;
    for (unsigned all = 0; all < 2 && set->count > set->room / 2; all++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < set->count; i++)
            if (!all && pages_of(&set->boxes[i]) > POUR_PAGES)
                set->boxes[kept++] = set->boxes[i];
            else
                pour(set, &set->boxes[i]);
        set->count = kept;
        set->poured = true;
    }
}

/* Room for one more box; false if there is no memory for any. */
static bool provide(struct mr_touched *set)
{
    if (set->count < set->room)
        return true;
    uint32_t room = set->room ? 2 * set->room : 4;
    struct mr_box *boxes = room <= BOXES_MOST ? take(room * sizeof *boxes) : NULL;
    if (boxes) {
        if (set->count)
            memcpy(boxes, set->boxes, set->count * sizeof *boxes);
        drop(set->boxes, set->room * sizeof *boxes);
        set->boxes = boxes;
        set->room = room;
    } else if (set->room) {
        make_room(set);
    }
    if (!set->recent && set->room > RECENT_FROM)
        set->recent = take(RECENT * sizeof *set->recent);
    return set->count < set->room;
}

static bool is_same(const struct mr_box *a, const struct mr_box *b)
{
    return a->first == b->first && a->width == b->width && a->rows == b->rows && a->pitch == b->pitch;
}

/* Whether the box has come before, as far as is remembered; if not, it is remembered under the next number. */
static bool is_known(struct mr_touched *set, const struct mr_box *box)
{
    if (!set->recent) {
        for (uint32_t i = 0; i < set->count; i++)
            if (is_same(&set->boxes[i], box))
                return true;
        return false;
    }
    uint64_t hash = (box->first ^ box->width << 40 ^ box->rows << 20 ^ box->pitch) * UINT64_C(0x9e3779b97f4a7c15);
    uint16_t *place = &set->recent[hash >> 32 & (RECENT - 1)];
    if (*place < set->count && is_same(&set->boxes[*place], box))
        return true;
    *place = (uint16_t)set->count;
    return false;
}

/* Whether the last box could take the new one in. */
static bool extends(struct mr_box *last, const struct mr_box *box)
{
    uint64_t end = box->first + box->width;
    if (box->rows == 1 && last->rows == 1) {
        if (box->first > last->first + last->width || end < last->first)
            return false;
        uint64_t most = last->first + last->width > end ? last->first + last->width : end;
        last->first = box->first < last->first ? box->first : last->first;
        last->width = most - last->first;
        return true;
    }
    if (last->rows == 1)
        return false;
    if (box->width == last->width && (box->rows == 1 || box->pitch == last->pitch) &&
        box->first == last->first + last->rows * last->pitch) {
        last->rows += box->rows;
        return true;
    }
    uint64_t ahead = box->first - last->first;
    if (box->rows != last->rows || box->pitch != last->pitch || ahead > last->width || ahead + box->width > last->pitch)
        return false;
    if (ahead + box->width > last->width)
        last->width = ahead + box->width;
    if (last->width == last->pitch)
        *last = (struct mr_box){last->first, last->pitch * last->rows, 1, 0};
    return true;
}

void mr_touched_add(struct mr_touched *set, uint64_t first, uint64_t width, uint64_t rows, uint64_t pitch)
{
    struct mr_box box = {first, width, rows, pitch};
    if (rows == 1 || pitch <= width)
        box = (struct mr_box){first, (rows - 1) * pitch + width, 1, 0};
    if (set->count && extends(&set->boxes[set->last], &box))
        return;
    if (is_known(set, &box))
        return;
    if ((set->poured && rows > 1 && rows <= POUR_ROWS) || !provide(set)) {
        pour(set, &box);
        return;
    }
    set->last = set->count;
    set->boxes[set->count++] = box;
}

/* --- Fields --------------------------------------------------------------------------- */

static size_t field_bytes(uint32_t unit)
{
    return (size_t)(MR_FIELD >> unit) / 8;
}

/* Where the field is, or would be; the table has room. */
static struct mr_field *field_place(struct mr_field *fields, uint32_t room, uint64_t number)
{
    uint32_t at = (uint32_t)number & (room - 1);
    while (fields[at].bits && fields[at].number != number)
        at = (at + 1) & (room - 1);
    return &fields[at];
}

static inline uint64_t *field_bits(const struct mr_touched *set, uint64_t address)
{
    uint64_t number = address >> MR_FIELD_SHIFT;
    return field_place(set->fields, set->field_room, number)->bits;
}

/* The bits become the set's. */
static bool add_field(struct mr_touched *set, uint64_t number, uint64_t *bits)
{
    if (4 * set->field_count >= 3 * set->field_room) {
        uint32_t room = set->field_room ? 2 * set->field_room : 16;
        struct mr_field *fields = room ? take(room * sizeof *fields) : NULL;
        if (!fields)
            return false;
        for (uint32_t i = 0; i < set->field_room; i++)
            if (set->fields[i].bits)
                *field_place(fields, room, set->fields[i].number) = set->fields[i];
        drop(set->fields, set->field_room * sizeof *fields);
        set->fields = fields;
        set->field_room = room;
    }
    *field_place(set->fields, set->field_room, number) = (struct mr_field){number, bits};
    set->field_count++;
    return true;
}

static void set_unit(uint64_t *bits, uint64_t address, uint32_t unit)
{
    uint64_t at = (address & (MR_FIELD - 1)) >> unit;
    bits[at / 64] |= UINT64_C(1) << at % 64;
}

void mr_touched_lane(struct mr_touched *set, uint64_t address, uint32_t unit)
{
    size_t bytes = field_bytes(unit);
    uint64_t *bits = NULL;
    if ((set->field_count + 1) * bytes <= set->bits_bytes && (!set->field_count || set->unit == unit) &&
        address % (UINT64_C(1) << unit) == 0) {
        bits = set->field_count ? field_bits(set, address) : NULL;
        if (!bits) {
            bits = take(bytes);
            set->unit = unit;
            if (bits && !add_field(set, address >> MR_FIELD_SHIFT, bits)) {
                drop(bits, bytes);
                bits = NULL;
            }
        }
    }
    if (bits)
        set_unit(bits, address, unit);
    else
        mr_touched_mark(set, address, address + (UINT64_C(1) << unit));
}

unsigned mr_touched_lanes(struct mr_touched *set, const uint64_t *address, unsigned count, uint32_t unit,
                          uint64_t *left)
{
    unsigned others = 0;
    bool fits = set->field_count && set->unit == unit;
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = address[i];
        uint64_t *bits = fits && at % (UINT64_C(1) << unit) == 0 ? field_bits(set, at) : NULL;
        if (bits)
            set_unit(bits, at, unit);
        else
            left[others++] = at;
    }
    return others;
}

/* --- Whole sets ----------------------------------------------------------------------- */

/* Calls `run` for each stretch of the bits that are set: `count` bits, a multiple of 64, each of 1 << unit bytes. */
static void bit_runs(const uint64_t *bits, uint32_t count, uint64_t base, uint32_t unit,
                     void (*run)(void *data, uint64_t from, uint64_t to), void *data)
{
    for (uint32_t at = 0; at < count;) {
        uint64_t word = bits[at / 64] >> (at % 64);
        if (!word) {
            at = (at / 64 + 1) * 64;
            continue;
        }
        at += (uint32_t)__builtin_ctzll(word);
        uint32_t from = at;
        while (at < count) {
            word = ~(bits[at / 64] >> (at % 64));
            uint32_t ones = word ? (uint32_t)__builtin_ctzll(word) : 64;
            uint32_t left = 64 - at % 64;
            at += ones < left ? ones : left;
            if (ones < left)
                break;
        }
        run(data, base + ((uint64_t)from << unit), base + ((uint64_t)at << unit));
    }
}

static void mark_runs(const struct mr_page *page, void (*run)(void *data, uint64_t from, uint64_t to), void *data)
{
    uint64_t base = page->number * PAGE;
    if (page->bits)
        bit_runs(page->bits, PAGE, base, 0, run, data);
    else
        run(data, base + page->from, base + page->to);
}

static void field_runs(const struct mr_field *field, uint32_t unit, void (*run)(void *data, uint64_t from, uint64_t to),
                       void *data)
{
    bit_runs(field->bits, (uint32_t)(MR_FIELD >> unit), field->number << MR_FIELD_SHIFT, unit, run, data);
}

static void add_run(void *data, uint64_t from, uint64_t to)
{
    mr_touched_mark(data, from, to);
}

/* Fields of the same memory become one; others are taken over. */
static void join_fields(struct mr_touched *set, struct mr_touched *from)
{
    bool fits = !set->field_count || set->unit == from->unit;
    size_t words = from->field_count ? field_bytes(from->unit) / sizeof(uint64_t) : 0;
    if (from->field_count && fits)
        set->unit = from->unit;
    for (uint32_t i = 0; i < from->field_room; i++) {
        struct mr_field *field = &from->fields[i];
        uint64_t *bits =
            fits && field->bits && set->field_count ? field_bits(set, field->number << MR_FIELD_SHIFT) : NULL;
        if (!field->bits)
            continue;
        for (size_t word = 0; bits && word < words; word++)
            bits[word] |= field->bits[word];
        if (!bits && fits && add_field(set, field->number, field->bits))
            field->bits = NULL;
        else if (!bits)
            field_runs(field, from->unit, add_run, set);
    }
}

void mr_touched_join(struct mr_touched *set, struct mr_touched *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        mr_touched_add(set, from->boxes[i].first, from->boxes[i].width, from->boxes[i].rows, from->boxes[i].pitch);
    for (uint32_t i = 0; i < from->page_room; i++) {
        struct mr_page *page = from->pages[i].to ? &from->pages[i] : NULL;
        if (!page)
            continue;
        mark_runs(page, add_run, set);
        struct mr_page *to = page->rough ? find_page(set, page->number) : NULL;
        if (to)
            to->rough = true;
    }
    join_fields(set, from);
    if (from->high)
        widen(set, from->low, from->high);
    if (!set->misaligned) {
        set->misaligned = from->misaligned;
        set->misaligned_at = from->misaligned_at;
    }
    mr_touched_clear(from);
}

static int by_number(const void *left, const void *right)
{
    const struct mr_page *a = left, *b = right;
    if (!a->to || !b->to)
        return (b->to != 0) - (a->to != 0);
    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_field(const void *left, const void *right)
{
    const struct mr_field *a = left, *b = right;
    if (!a->bits || !b->bits)
        return (b->bits != NULL) - (a->bits != NULL);
    return a->number < b->number ? -1 : a->number > b->number;
}

/* A page whose stretches may go into a field. */
struct fold {
    uint64_t *bits; /* of the field; NULL: only look whether all stretches have whole units */
    uint32_t unit;
    bool whole;
};

static void fold_run(void *data, uint64_t from, uint64_t to)
{
    struct fold *fold = data;
    uint64_t part = (UINT64_C(1) << fold->unit) - 1;
    fold->whole = fold->whole && !((from | to) & part);
    uint64_t first = (from & (MR_FIELD - 1)) >> fold->unit;
    if (fold->bits)
        set_bits(fold->bits, (unsigned)first, (unsigned)(first + ((to - from) >> fold->unit)));
}

/* What was noted of a field's memory before there was the field goes to the field. */
static void fold_pages(struct mr_touched *set)
{
    for (uint32_t i = 0; i < set->page_room; i++) {
        struct mr_page *page = &set->pages[i];
        uint64_t *bits = page->to && !page->rough ? field_bits(set, page->number * PAGE) : NULL;
        struct fold fold = {NULL, set->unit, true};
        if (bits)
            mark_runs(page, fold_run, &fold);
        if (!bits || !fold.whole)
            continue;
        fold.bits = bits;
        mark_runs(page, fold_run, &fold);
        page->to = 0;
        set->page_count--;
    }
}

/* What comes from pages, in the order of addresses: stretches that touch become one, and those of one width at even
 * distances a box. */
struct giver {
    struct mr_box box; /* that has not been given yet; rows 0: none */
    bool rough;
    void (*take)(void *data, const struct mr_box *box, bool rough);
    void *data;
};

static void give(struct giver *giver)
{
    if (giver->box.rows)
        giver->take(giver->data, &giver->box, giver->rough);
    giver->box.rows = 0;
}

static void give_run(void *data, uint64_t from, uint64_t to)
{
    struct giver *giver = data;
    struct mr_box *box = &giver->box;
    uint64_t width = to - from;
    if (box->rows == 1 && from == box->first + box->width) {
        box->width += width;
        return;
    }
    if (box->rows == 1 && width == box->width) {
        box->rows = 2;
        box->pitch = from - box->first;
        return;
    }
    if (box->rows > 1 && width == box->width && from == box->first + box->rows * box->pitch) {
        box->rows++;
        return;
    }
    /* A stretch that goes on is the last row of a box. */
    if (box->rows > 1 && from == box->first + (box->rows - 1) * box->pitch + box->width) {
        box->rows--;
        from -= box->width;
        width += box->width;
        if (box->rows == 1)
            box->pitch = 0;
    }
    give(giver);
    *box = (struct mr_box){from, width, 1, 0};
}

void mr_touched_each(struct mr_touched *set, void (*take_box)(void *data, const struct mr_box *box, bool rough),
                     void *data)
{
    struct giver giver = {.take = take_box, .data = data};
    set->count = mr_boxes_join(set->boxes, set->count);
    set->last = 0;
    if (set->page_count && set->count > MANY) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < set->count; i++)
            if (pages_of(&set->boxes[i]) > POUR_PAGES)
                set->boxes[kept++] = set->boxes[i];
            else
                pour(set, &set->boxes[i]);
        set->count = kept;
    }
    for (uint32_t i = 0; i < set->count; i++)
        take_box(data, &set->boxes[i], false);
    if (set->field_count)
        fold_pages(set);
    if (set->page_room)
        qsort(set->pages, set->page_room, sizeof *set->pages, by_number);
    for (uint32_t i = 0; i < set->page_count && set->pages[i].to; i++) {
        if (set->pages[i].rough != giver.rough)
            give(&giver);
        giver.rough = set->pages[i].rough;
        mark_runs(&set->pages[i], give_run, &giver);
    }
    give(&giver);
    giver.rough = false;
    if (set->field_room)
        qsort(set->fields, set->field_room, sizeof *set->fields, by_field);
    for (uint32_t i = 0; i < set->field_count; i++)
        field_runs(&set->fields[i], set->unit, give_run, &giver);
    give(&giver);
    if (set->high)
        take_box(data, &(struct mr_box){set->low, set->high - set->low, 1, 0}, true);
    mr_touched_clear(set);
}

void mr_touched_clear(struct mr_touched *set)
{
    while (set->bits) {
        struct mr_bits *next = set->bits->next;
        drop(set->bits, sizeof *set->bits);
        set->bits = next;
    }
    for (uint32_t i = 0; i < set->field_room; i++)
        drop(set->fields[i].bits, field_bytes(set->unit));
    drop(set->fields, set->field_room * sizeof *set->fields);
    drop(set->boxes, set->room * sizeof *set->boxes);
    drop(set->recent, RECENT * sizeof *set->recent);
    drop(set->pages, set->page_room * sizeof *set->pages);
    *set = (struct mr_touched){.boxes = NULL};
}
