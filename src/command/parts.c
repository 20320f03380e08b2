/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a record of work in parts. */
#include "command/parts.h"

#include "base/alloc.h"

static _Thread_local struct mr_parts_told told __attribute__((tls_model("initial-exec")));
static _Thread_local CUresult failure __attribute__((tls_model("initial-exec")));

struct mr_parts *mr_parts_new(uint64_t count, void (*run)(void *data, uint64_t first, uint64_t end),
                              void (*release)(void *data), void *data)
{
    struct mr_parts *parts = mr_alloc(sizeof *parts);
    if (!parts)
        return NULL;
    *parts = (struct mr_parts){.count = count, .run = run, .release = release, .data = data};
    atomic_store_explicit(&parts->references, 1, memory_order_relaxed);
    return parts;
}

void mr_parts_hold(struct mr_parts *parts)
{
    atomic_fetch_add_explicit(&parts->references, 1, memory_order_relaxed);
}

void mr_parts_drop(struct mr_parts *parts)
{
    if (!parts || atomic_fetch_sub_explicit(&parts->references, 1, memory_order_acq_rel) != 1)
        return;
    if (parts->release)
        parts->release(parts->data);
    mr_free(parts->told.touches);
    mr_free(parts);
}

CUresult mr_parts_ended(CUresult status)
{
    CUresult said = failure;
    failure = CUDA_SUCCESS;
    return status != CUDA_SUCCESS ? status : said;
}

void millrace_fail_part(CUresult status)
{
    failure = status;
}

void CUDA_CB mr_parts_run_all(void *data)
{
    const struct mr_parts *parts = data;
    parts->run(parts->data, 0, parts->count);
}

struct mr_parts_told mr_parts_take_told(void)
{
    struct mr_parts_told taken = told;
    if (taken.lost)
        taken.count = 0;
    told = (struct mr_parts_told){.function = NULL};
    return taken;
}

void mr_parts_name(const char *function)
{
    if (!told.function && !told.lost)
        told.function = function;
}

void mr_parts_tell(const char *function, const struct mr_parts_tells *tells)
{
    if (!function) {
        mr_free(told.touches);
        told = (struct mr_parts_told){.function = NULL};
        return;
    }
    if (told.count == told.room && !told.lost) {
        size_t room = told.room ? 2 * told.room : 8;
        struct mr_parts_tells *more = mr_realloc(told.touches, room * sizeof *more);
        told.lost = !more;
        told.touches = more ? more : told.touches;
        told.room = more ? room : told.room;
    }
    told.function = told.lost ? NULL : function;
    if (!told.lost)
        told.touches[told.count++] = *tells;
}
