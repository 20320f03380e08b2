/* SPDX-License-Identifier: Apache-2.0 */
/* Launch records: from pools of three sizes, so that what waits in a stream weighs little. Blocks of parameters beyond
 * the largest are allocated one by one. Grid numbers are handed to threads by the thousand. */
#include "kernel/launch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "module/module.h"

#define CLASSES 3u
#define ID_RUN 1024u

static const size_t class_size[CLASSES] = {128, 384, 2048};

static struct mr_pool launches[CLASSES] = {
    {.place = MR_POOL_LAUNCHES, .size = 128, .link = 0, .lock = MR_LOCK_INIT(POOL)},
    {.place = MR_POOL_LAUNCHES + 1, .size = 384, .link = 0, .lock = MR_LOCK_INIT(POOL)},
    {.place = MR_POOL_LAUNCHES + 2, .size = 2048, .link = 0, .lock = MR_LOCK_INIT(POOL)},
};

static _Atomic uint64_t next_id = 1;
static _Thread_local struct {
    uint64_t next, end;
} ids __attribute__((tls_model("initial-exec")));

struct mr_launch *mr_launch_new(size_t param_bytes)
{
    if (param_bytes > UINT16_MAX)
        return NULL;
    unsigned class = 0;
    size_t size = sizeof(struct mr_launch) + param_bytes;
    while (class < CLASSES && size > class_size[class])
        class ++;
    struct mr_launch *launch = class < CLASSES ? mr_pool_get(&launches[class]) : mr_calloc_aligned(64, size);
    if (!launch)
        return NULL;
    memset(launch, 0, size);
    launch->room = (uint8_t)class;
    launch->param_bytes = (uint16_t)param_bytes;
    mr_launch_renew(launch);
    return launch;
}

void mr_launch_renew(struct mr_launch *launch)
{
    if (ids.next == ids.end) {
        ids.next = atomic_fetch_add_explicit(&next_id, ID_RUN, memory_order_relaxed);
        ids.end = ids.next + ID_RUN;
    }
    launch->id = ids.next++;
}

struct mr_launch *mr_launch_copy(const struct mr_launch *launch)
{
    struct mr_launch *copy = mr_launch_new(launch->param_bytes);
    if (!copy)
        return NULL;
    uint64_t id = copy->id;
    memcpy(copy, launch, sizeof *launch + launch->param_bytes);
    copy->id = id;
    if (copy->module)
        mr_object_hold(copy->module);
    return copy;
}

uint64_t mr_launch_module(const struct mr_launch *launch)
{
    return launch->module ? launch->module->number : 0;
}

void mr_launch_free(struct mr_launch *launch)
{
    if (!launch)
        return;
    if (launch->module)
        mr_object_drop(launch->module);
    if (launch->room < CLASSES)
        mr_pool_put(&launches[launch->room], launch);
    else
        mr_free(launch);
}
