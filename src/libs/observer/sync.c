/* SPDX-License-Identifier: Apache-2.0 */
/* An object's point is all that its releases stood for. What libraries of CUDA do among themselves says nothing of the
 * program, and is left out: by the module that calls, and inside of the driver's calls. */
#include "libs/observer/sync.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/observer/host.h"
#include "libs/observer/order.h"
#include "libs/observer/threads.h"
#include "observe/threads.h"

enum { HEADS = 4096, OBJECTS = 1 << 20, RANGES = 1024 };

struct object {
    struct object *next;
    uintptr_t address;
    struct obs_point point;
};

/* Where the code of a module lies, and whether it is the program's. */
struct range {
    uintptr_t first, end;
    bool programs;
};

static struct object *objects[HEADS]; /* under the rules' lock */
static size_t object_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows, while it grows */
static struct range ranges[RANGES];
static _Atomic size_t range_count;
static _Thread_local bool busy;

static bool is_ours(const char *path)
{
    static const char *const names[] = {"libmillrace", "libcuda",  "libcublas",
                                        "libcusparse", "libnvrtc", "libnvJitLink"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    size_t count = atomic_load(&range_count);
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum && count < RANGES; i++) {
        uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        bool known = info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X);
        for (size_t n = 0; n < count; n++)
            known = known || ranges[n].first == first;
        if (known)
            continue;
        ranges[count] = (struct range){first, first + info->dlpi_phdr[i].p_memsz, !is_ours(info->dlpi_name)};
        atomic_store_explicit(&range_count, ++count, memory_order_release);
    }
    return 0;
}

static const struct range *range_of(uintptr_t code)
{
    size_t count = atomic_load_explicit(&range_count, memory_order_acquire);
    for (size_t i = 0; i < count; i++)
        if (code - ranges[i].first < ranges[i].end - ranges[i].first)
            return &ranges[i];
    return NULL;
}

/* Code without a module is made at run time, by the program. */
static bool is_programs(const void *caller)
{
    const struct range *range = range_of((uintptr_t)caller);
    if (!range) {
        pthread_mutex_lock(&lock);
        dl_iterate_phdr(add_module, NULL);
        pthread_mutex_unlock(&lock);
        range = range_of((uintptr_t)caller);
    }
    return !range || range->programs;
}

static struct object *find(uintptr_t address, bool make)
{
    struct object **head = &objects[(address * 0x9e3779b97f4a7c15u) >> 52], *object = *head;
    while (object && object->address != address)
        object = object->next;
    if (object || !make || object_count == OBJECTS || !(object = calloc(1, sizeof *object)))
        return object;
    object->address = address;
    object->next = *head;
    object_count++;
    return *head = object;
}

static bool begins(const void *caller)
{
    if (busy || obs_thread_here()->inside > 0)
        return false;
    busy = true;
    if (is_programs(caller))
        return true;
    busy = false;
    return false;
}

static void acquired(uintptr_t address, const void *caller)
{
    if (!begins(caller))
        return;
    obs_order_lock();
    const struct object *object = find(address, false);
    if (object)
        obs_order_known(&object->point, OBS_EDGES_DOCUMENTED);
    obs_order_unlock();
    busy = false;
}

static void released(uintptr_t address, const void *caller)
{
    if (!begins(caller))
        return;
    obs_host_settle(); /* what comes later is not released */
    obs_order_lock();
    struct object *object = find(address, true);
    if (object)
        obs_order_release(&object->point);
    else
        obs_order_short = true;
    obs_order_unlock();
    busy = false;
}

bool obs_sync_begin(void)
{
    struct mr_threads *threads = dlsym(RTLD_DEFAULT, MR_THREADS_SYMBOL);
    if (!threads || threads->version != MR_THREADS_VERSION) {
        mr_log(MR_LOG_ERROR, "the order of threads can't be seen: libmillrace-threads.so is not in LD_PRELOAD, as "
                             "'millrace check --host-threads=strict' has it; nothing is observed");
        return false;
    }
    obs_order_strict = true;
    obs_lanes_apart = true;
    dl_iterate_phdr(add_module, NULL);
    atomic_store_explicit(&threads->released, released, memory_order_release);
    atomic_store_explicit(&threads->acquired, acquired, memory_order_release);
    return true;
}
