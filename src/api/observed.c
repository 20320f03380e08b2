/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer is given by the driver, the calls that it is told of, and observers that attach while the program
 * runs. */
#include "api/observed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "api/trace.h"
#include "base/settings.h"
#include "base/visit.h"
#include "compile/compile.h"
#include "engine/gate.h"
#include "kernel/heap.h"
#include "memory/allocation.h"
#include "module/array.h"
#include "module/module.h"
#include "object/context.h"
#include "observe/attach.h"
#include "observe/place.h"
#include "stream/stream.h"

static void pause_calls(bool on)
{
    if (on)
        mr_observe_depth++;
    else
        mr_observe_depth--;
}

static void *own_library;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

/* The library that this code is in; none in a program that is linked with the driver's objects. */
static void find_own(void)
{
    Dl_info self;
    if (dladdr((void *)&own_library, &self) != 0 && self.dli_fname)
        own_library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void *find_function(const char *name)
{
    pthread_once(&own_once, find_own);
    return dlsym(own_library ? own_library : RTLD_DEFAULT, name);
}

static enum mr_observed_memory memory_at(uintptr_t address)
{
    struct mr_allocation found;
    enum mr_heap_place heap = mr_heap_at(address);
    if (mr_memory_find_usable(address, &found) || heap == MR_HEAP_LIVE)
        return MR_OBSERVED_ALLOCATED;
    return heap == MR_HEAP_FREE || mr_memory_is_reserved(address) ? MR_OBSERVED_FREE : MR_OBSERVED_FOREIGN;
}

static bool array_of(uint64_t handle, bool mipmap, uintptr_t *first, size_t *size)
{
    struct mr_allocation found;
    void *object = mr_object_acquire((void *)(uintptr_t)handle, mipmap ? MR_KIND_MIPMAP : MR_KIND_ARRAY);
    if (!object)
        return false;
    bool level = !mipmap && ((struct mr_array *)object)->is_level;
    uintptr_t base = mipmap ? ((struct mr_mipmap *)object)->base : ((struct mr_array *)object)->texels.base;
    bool there = !level && mr_memory_find(base, &found);
    if (there) {
        *first = MR_OBSERVED_ARRAY(found.id) + (base - found.base);
        *size = found.size;
    }
    mr_object_drop(object);
    return there;
}

struct parts {
    struct mr_observed_part *at;
    size_t room, count;
};

static void add_part(struct parts *parts, const struct mr_module *module, uintptr_t first, size_t size)
{
    if (parts->count < parts->room)
        parts->at[parts->count] =
            (struct mr_observed_part){module->number, mr_object_handle(module->context), first, size};
    parts->count++;
}

static void add_module(struct parts *parts, const struct mr_module *module)
{
    add_part(parts, module, 0, 0);
    for (size_t i = 0; i < module->symbol_count; i++) {
        const struct mr_symbol *symbol = mr_program_symbol(module->program, i);
        if (symbol->what == MR_SYMBOL_VARIABLE && symbol->size && module->symbols[i])
            add_part(parts, module, module->symbols[i], symbol->size);
    }
}

static size_t parts_of(uint64_t handle, bool library, struct mr_observed_part *out, size_t room)
{
    struct parts parts = {out, room, 0};
    void *object = mr_object_acquire((void *)(uintptr_t)handle, library ? MR_KIND_LIBRARY : MR_KIND_MODULE);
    if (!object)
        return 0;
    if (library) {
        struct mr_library *all = object;
        mr_lock_take(&all->lock);
        for (size_t i = 0; i < all->module_room; i++)
            if (all->modules[i])
                add_module(&parts, all->modules[i]);
        mr_lock_drop(&all->lock);
    } else if (!((struct mr_module *)object)->library) {
        add_module(&parts, object);
    }
    mr_object_drop(object);
    return parts.count;
}

static enum mr_observed_memory_kind kind_at(uintptr_t address, int *device)
{
    struct mr_allocation found;
    if (!mr_memory_find(address, &found))
        return MR_OBSERVED_PAGEABLE;
    if (found.device)
        *device = found.device->ordinal;
    switch (found.kind) {
    case MR_MEMORY_PINNED:
    case MR_MEMORY_REGISTERED:
    case MR_MEMORY_MAPPED_HOST:
    case MR_MEMORY_HOST_POOL:
        return MR_OBSERVED_PINNED;
    case MR_MEMORY_MANAGED:
        return MR_OBSERVED_MANAGED;
    case MR_MEMORY_ARRAY:
        return MR_OBSERVED_ARRAY_MEMORY;
    default:
        return MR_OBSERVED_DEVICE;
    }
}

static bool stream_number(CUstream handle, uint64_t *number)
{
    struct mr_stream *stream = NULL;
    uint64_t outer = mr_visit_begin();
    CUresult status = mr_stream_find(handle, &stream); /* one of a context that has failed is found, too */
    bool found = stream != NULL && status != CUDA_ERROR_CONTEXT_IS_DESTROYED && status != CUDA_ERROR_INVALID_HANDLE;
    if (found)
        *number = mr_stream_id(stream);
    mr_visit_end(outer);
    return found;
}

static const struct mr_observed_driver driver = {.version = MR_OBSERVER_VERSION,
                                                 .place = mr_place_tell,
                                                 .pause = pause_calls,
                                                 .ask_again = mr_gate_ask_again,
                                                 .at_rest = mr_gate_at_rest,
                                                 .function = find_function,
                                                 .memory = memory_at,
                                                 .array = array_of,
                                                 .parts = parts_of,
                                                 .kind = kind_at,
                                                 .stream = stream_number};

static bool traced; /* written before any call is observed */

/* Guards the driver's state as far as observers change it, and the table that attaches. */
static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;

void mr_observed_begin(void)
{
    pthread_mutex_lock(&attaching);
    if (!*mr_setting_text(MR_SETTING_DRIVER_BEHIND)) /* else calls are told of by the library that hands them on */
        mr_observe_load(&driver);
    if (mr_observes(MR_OBSERVE_ACCESS))
        mr_program_place = mr_place_number;
    traced = mr_trace_begin();
    bool observed = traced || mr_observes(MR_OBSERVE_CALLS);
    atomic_store_explicit(&mr_driver_state, observed ? MR_DRIVER_OBSERVED : MR_DRIVER_READY, memory_order_release);
    pthread_mutex_unlock(&attaching);
}

/* ---- observers that attach ---- */

static void runtime_enter(struct mr_observed_call *call);

static struct mr_runtime_points runtime = {.enter = runtime_enter, .leave = mr_observe_runtime_leave};

static void runtime_enter(struct mr_observed_call *call)
{
    static _Atomic uint64_t calls;
    const struct mr_context *context = mr_context_current();
    call->context = context ? context->handle : NULL;
    call->number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    mr_observe_runtime_enter(call);
}

__attribute__((visibility("default"))) mr_attach_function millrace_attach;
__attribute__((visibility("default"))) mr_runtime_points_function millrace_runtime_points;

/* A driver that isn't open takes its state when it opens. */
const struct mr_observed_driver *millrace_attach(const struct mr_observer *table, uint32_t points)
{
    int ready = MR_DRIVER_READY, observed = MR_DRIVER_OBSERVED;
    pthread_mutex_lock(&attaching);
    bool taken = mr_observe_attach(table, points);
    if (taken) {
        atomic_store_explicit(&runtime.on, (points & MR_ATTACH_RUNTIME) != 0, memory_order_release);
        if (traced || mr_observes(MR_OBSERVE_CALLS))
            atomic_compare_exchange_strong(&mr_driver_state, &ready, MR_DRIVER_OBSERVED);
        else
            atomic_compare_exchange_strong(&mr_driver_state, &observed, MR_DRIVER_READY);
    }
    pthread_mutex_unlock(&attaching);
    return taken ? &driver : NULL;
}

const struct mr_runtime_points *millrace_runtime_points(void)
{
    return &runtime;
}

void mr_observed_enter(struct mr_observed_call *call)
{
    static _Atomic uint64_t calls;
    const struct mr_context *context = mr_context_current();
    mr_observe_depth++;
    call->site = mr_observe_site;
    call->context = context ? context->handle : NULL;
    call->number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    if (mr_observes(MR_OBSERVE_CALLS))
        mr_observer.enter(call);
    if (traced)
        call->begun = mr_trace_enter();
}

void mr_observed_leave(struct mr_observed_call *call, CUresult status)
{
    if (traced)
        mr_trace_leave(call, status, call->begun);
    if (mr_observes(MR_OBSERVE_CALLS) || call->attached)
        mr_observer.leave(call, status);
    mr_observe_depth--;
}
