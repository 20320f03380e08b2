/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a type lie. A type without gaps is one run. For any other the MPI library is asked: it unpacks one
 * element of bytes that are all ones into zeros, and what is not zero then is what it touches. That answer is kept
 * until the program frees the type. */
#include "libs/mpi/layout.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A type that reaches farther, and a message of more boxes than that, is not told of. */
#define LARGEST ((intptr_t)1 << 28)
enum { MOST_BOXES = 1 << 16 };

int MPI_Type_size(word type, int *size);
int MPI_Type_get_extent(word type, intptr_t *lower, intptr_t *extent);
int MPI_Type_get_true_extent(word type, intptr_t *lower, intptr_t *extent);
int MPI_Pack_size(int count, word type, word comm, int *size);
int MPI_Unpack(const void *from, int size, int *position, void *to, int count, word type, word comm);
OPEN int MPI_Type_free(word *type);

/* One element: rows of bytes, from its beginning. */
struct layout {
    struct layout *next;
    word type;
    struct boxes boxes;
};

struct size {
    int bytes;
    intptr_t lower, extent, true_lower, true_extent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and what is in it */
static struct layout *layouts;

static word handle_of(word type)
{
    return mr_mpi_is_open() ? type : (word)(uint32_t)type;
}

static bool size_of(word type, struct size *size)
{
    return REAL(MPI_Type_size)(type, &size->bytes) == MPI_DONE &&
           REAL(MPI_Type_get_extent)(type, &size->lower, &size->extent) == MPI_DONE &&
           REAL(MPI_Type_get_true_extent)(type, &size->true_lower, &size->true_extent) == MPI_DONE && size->bytes > 0;
}

intptr_t mr_layout_extent(word type)
{
    intptr_t lower, extent;
    return REAL(MPI_Type_get_extent)(type, &lower, &extent) == MPI_DONE ? extent : 0;
}

bool mr_layout_span(word type, int64_t count, intptr_t *first, intptr_t *end)
{
    struct size size;
    if (!size_of(type, &size))
        return false;
    intptr_t last = size.extent * (intptr_t)(count - 1);
    *first = size.true_lower + (last < 0 ? last : 0);
    *end = size.true_lower + size.true_extent + (last > 0 ? last : 0);
    return true;
}

/* The library's communicator of this process alone. */
static word self(void)
{
    static _Atomic(void *) known;
    return mr_mpi_is_open() ? (word)mr_mpi_find(&known, "ompi_mpi_comm_self") : 0x44000001;
}

/* One element's bytes, of which those that the type touches are not 0. NULL: memory is short, or the library refuses.
 */
static unsigned char *touched_by(word type, const struct size *size)
{
    int room = 0, position = 0;
    if (REAL(MPI_Pack_size)(1, type, self(), &room) != MPI_DONE)
        return NULL;
    unsigned char *ones = malloc((size_t)room), *bytes = calloc(1, (size_t)size->true_extent);
    if (ones)
        memset(ones, 0xff, (size_t)room);
    if (!ones || !bytes ||
        REAL(MPI_Unpack)(ones, room, &position, (void *)((uintptr_t)bytes - (uintptr_t)size->true_lower), 1, type,
                         self()) != MPI_DONE) {
        free(bytes);
        bytes = NULL;
    }
    free(ones);
    return bytes;
}

static bool add(struct boxes *boxes, const struct mr_access *box)
{
    if (boxes->count == MOST_BOXES)
        return false;
    if (boxes->count == boxes->room) {
        size_t room = boxes->room ? 2 * boxes->room : 4;
        struct mr_access *more = realloc(boxes->at, room * sizeof *more);
        if (!more)
            return false;
        boxes->at = more;
        boxes->room = room;
    }
    boxes->at[boxes->count++] = *box;
    return true;
}

/* Adds a run to the last box, if it is the next of its rows. */
static bool goes_on(struct mr_access *box, uintptr_t first, size_t width)
{
    if (box->width != width || (box->rows > 1 && box->first + box->rows * box->pitch != first))
        return false;
    box->pitch = box->rows > 1 ? box->pitch : first - box->first;
    box->rows++;
    return true;
}

static bool find_runs(struct boxes *boxes, const unsigned char *bytes, const struct size *size)
{
    size_t extent = (size_t)size->true_extent;
    for (size_t at = 0; at < extent;) {
        size_t end;
        while (at < extent && !bytes[at])
            at++;
        for (end = at; end < extent && bytes[end]; end++)
            ;
        struct mr_access box = {
            .first = (uintptr_t)size->true_lower + at, .width = end - at, .rows = 1, .pitch = end - at};
        bool same = boxes->count && goes_on(&boxes->at[boxes->count - 1], box.first, box.width);
        if (end > at && !same && !add(boxes, &box))
            return false;
        at = end;
    }
    return true;
}

/* The type's layout; it is made if it is new. NULL: as mr_layout_add. The lock is held. */
static const struct layout *layout_of(word type, const struct size *size)
{
    struct boxes runs = {0};
    for (struct layout *layout = layouts; layout; layout = layout->next)
        if (layout->type == handle_of(type))
            return layout;
    if (size->true_extent <= 0 || size->true_extent > LARGEST)
        return NULL;
    unsigned char *bytes = touched_by(type, size);
    struct layout *layout = bytes ? calloc(1, sizeof *layout) : NULL;
    if (!layout || !find_runs(&runs, bytes, size)) {
        free(runs.at);
        free(layout);
        layout = NULL;
    } else {
        *layout = (struct layout){layouts, handle_of(type), runs};
        layouts = layout;
    }
    free(bytes);
    return layout;
}

/* All elements of one box of the layout. */
static bool add_all(struct boxes *boxes, const struct mr_access *box, uintptr_t buffer, int64_t count, intptr_t extent,
                    uint32_t how)
{
    struct mr_access moved = *box;
    moved.first += buffer;
    moved.how = how;
    if (count > 1 && box->rows == 1 && extent > 0) {
        bool dense = (size_t)extent == box->width;
        moved.rows = dense ? 1 : (size_t)count;
        moved.width = dense ? box->width * (size_t)count : box->width;
        moved.pitch = dense ? moved.width : (size_t)extent;
        return add(boxes, &moved);
    }
    for (int64_t i = 0; i < count; i++, moved.first += (uintptr_t)extent)
        if (!add(boxes, &moved))
            return false;
    return true;
}

bool mr_layout_add(struct boxes *boxes, uintptr_t buffer, int64_t count, word type, uint32_t how)
{
    struct size size;
    size_t before = boxes->count;
    bool good = true;
    if (!size_of(type, &size))
        return false;
    if (size.bytes == size.true_extent) {
        struct mr_access run = {
            .first = (uintptr_t)size.true_lower, .width = (size_t)size.bytes, .rows = 1, .pitch = (size_t)size.bytes};
        good = add_all(boxes, &run, buffer, count, size.extent, how);
    } else {
        pthread_mutex_lock(&lock);
        const struct layout *layout = layout_of(type, &size);
        good = layout != NULL;
        for (size_t i = 0; good && i < layout->boxes.count; i++)
            good = add_all(boxes, &layout->boxes.at[i], buffer, count, size.extent, how);
        pthread_mutex_unlock(&lock);
    }
    if (!good)
        boxes->count = before;
    return good;
}

OPEN int MPI_Type_free(word *type)
{
    word handle = mr_mpi_is_open() ? *type : *(const uint32_t *)(const void *)type;
    pthread_mutex_lock(&lock);
    for (struct layout **at = &layouts; *at;) {
        struct layout *layout = *at;
        if (layout->type != handle) {
            at = &layout->next;
            continue;
        }
        *at = layout->next;
        free(layout->boxes.at);
        free(layout);
    }
    pthread_mutex_unlock(&lock);
    return REAL(MPI_Type_free)(type);
}
