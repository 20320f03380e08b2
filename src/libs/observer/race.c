/* SPDX-License-Identifier: Apache-2.0 */
/* The tool race: finds works that touch the same bytes and that nothing orders.
 *
 * The rules (order.h) say what comes after what, the shadow (shadow.h) what touched which bytes, and findings
 * (finding.h) come of the two. Options: "luck" also reports what is in order only because hardware behaves so; with
 * "strict" the end of a host function tells the host nothing; with "threads", and in a program that has
 * libmillrace-threads.so, the order of host threads is what the program makes it (sync.h), and "strict" is on. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "libs/observer/code.h"
#include "libs/observer/follow.h"
#include "libs/observer/heap.h"
#include "libs/observer/history.h"
#include "libs/observer/host.h"
#include "libs/observer/mpi.h"
#include "libs/observer/order_call.h"
#include "libs/observer/results.h"
#include "libs/observer/shadow.h"
#include "libs/observer/sync.h"
#include "libs/observer/talk.h"
#include "libs/observer/tool.h"

static const struct mr_observed_driver *driver;

static void look_at_message(const struct mr_observed_work *work, struct obs_operation *operation,
                            const struct mr_access *boxes, size_t count)
{
    (void)work;
    obs_shadow_touch(operation, boxes, count);
}

static bool open_race(const struct mr_observed_driver *given, const char *options)
{
    bool luck = false, threads = false;
    for (const char *option = options; *option;) {
        size_t length = strcspn(option, ":");
        if (length == 4 && memcmp(option, "luck", 4) == 0) {
            luck = true;
        } else if (length == 6 && memcmp(option, "strict", 6) == 0) {
            obs_order_strict = true;
        } else if (length == 7 && memcmp(option, "threads", 7) == 0) {
            threads = true;
        } else {
            mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE: the tool race has no option '%.*s'; nothing is observed",
                   (int)length, option);
            return false;
        }
        option += length + (option[length] == ':');
    }
    driver = given;
    if (threads && !obs_sync_begin())
        return false;
    obs_code_watched = luck;
    obs_follow_begin(&obs_tool_race, given, luck);
    obs_host_begin();
    obs_mpi_tell(look_at_message, given);
    return true;
}

static void enter(struct mr_observed_call *call)
{
    obs_host_settle();
    obs_follow_enter(&obs_tool_race, call);
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    obs_follow_leave(&obs_tool_race, call, status);
}

static void bind(const struct mr_observed_work *work)
{
    obs_follow_bind(&obs_tool_race, work);
}

static void begin(const struct mr_observed_work *work)
{
    struct obs_operation *early, *operation;
    if (!work->node && !obs_is_host_function(work) && !obs_code_watched)
        return;
    operation = obs_order_of_work(work, work->node || obs_is_host_function(work), &early);
    if (!operation)
        return;
    if (work->kind == MR_OBSERVED_KERNEL)
        obs_code_runs(operation, work->module, work->node != 0);
    if (obs_is_host_function(work)) {
        obs_order_function_begins(operation);
        obs_host_function(operation);
    }
    obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

static bool is_pinned(uintptr_t address, uint64_t call)
{
    enum mr_allocation_kind kind;
    return obs_generation_kind_at(address, call, &kind) &&
           (kind == MR_ALLOCATION_PINNED || kind == MR_ALLOCATION_REGISTERED);
}

/* What the call itself has read is the host's own business. A wait for a value is meant to read what others write. */
static bool is_left_out(const struct mr_observed_work *work, const struct mr_access *box)
{
    return box->how & (MR_ACCESS_CALL | MR_ACCESS_MISALIGNED) ||
           (work->kind == MR_OBSERVED_MEMORY_OP && box->how & MR_ACCESS_READ);
}

/* A stream writes values, and doesn't look at what was there. */
static void set_values(const struct mr_observed_work *work, struct obs_operation *operation,
                       const struct mr_access *boxes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct mr_access box = boxes[i];
        box.how |= box.how & MR_ACCESS_WRITE ? OBS_ACCESS_SETS | MR_ACCESS_TALKS : 0;
        if (is_left_out(work, &box))
            continue;
        obs_talk_work(operation, &box, 1);
        obs_shadow_touch(operation, &box, 1);
        obs_talk_work(operation, &box, 1);
    }
}

/* What a kernel that may overlap does before it waits for the one in front of it is `early`'s. */
static void touch_early(struct obs_operation *operation, struct obs_operation *early, const struct mr_access *boxes,
                        size_t count)
{
    enum { AT_ONCE = 64 };
    struct mr_access some[AT_ONCE];
    for (size_t i = 0, n; i < count; i += n) {
        bool past = !early || boxes[i].how & MR_ACCESS_PAST_GRIDS;
        size_t taken = 0;
        for (n = 0; n < AT_ONCE && i + n < count && past == (!early || boxes[i + n].how & MR_ACCESS_PAST_GRIDS); n++) {
            if (boxes[i + n].how & MR_ACCESS_MISALIGNED)
                continue;
            some[taken] = boxes[i + n];
            some[taken++].how &= ~(uint32_t)MR_ACCESS_PAST_GRIDS;
        }
        if (taken)
            obs_shadow_touch(past ? operation : early, some, taken);
    }
}

/* A copy may read a pinned source without regard to the default-stream rules: by `early`, if there is one. */
static void touch_apart(const struct mr_observed_work *work, struct obs_operation *operation,
                        struct obs_operation *early, const struct mr_access *boxes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_left_out(work, &boxes[i]))
            continue;
        bool reads = early && boxes[i].how & MR_ACCESS_READ && is_pinned(boxes[i].first, operation->side.number);
        obs_shadow_touch(reads ? early : operation, &boxes[i], 1);
    }
}

/* A module's memory has no call that tells of it unless the program asks where a variable is. What is touched of it
 * becomes known then, so that it is not taken for what lay there before. */
static void know_module(const struct mr_access *box, uint64_t call)
{
    struct obs_generation_view view;
    size_t size = box->rows > 1 ? (box->rows - 1) * box->pitch + box->width : box->width;
    bool found = obs_generation_at(box->first, UINT64_MAX, &view), alive = found && view.alive;
    if (found && !alive && view.kind == MR_ALLOCATION_MODULE && view.ended.number > call)
        return; /* the module is being unloaded */
    bool is_known = alive && view.kind == MR_ALLOCATION_MODULE;
    if (is_known && box->first + size <= view.base + view.size)
        return;
    obs_order_lock();
    struct obs_operation *made = obs_order_before_all();
    obs_order_unlock();
    if (!made)
        return;
    made->side.call = "cuModuleLoadData";
    made->side.what = MR_SIDE_ALLOCATION;
    if (alive && !is_known)
        (void)obs_generation_made(made, MR_ALLOCATION_MODULE, box->first, size);
    else
        obs_generation_fill(made, MR_ALLOCATION_MODULE, box->first, size);
    obs_operation_drop(made);
}

static void access_boxes(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    struct obs_operation *early, *operation = obs_order_of_work(work, false, &early);
    if (!operation)
        return;
    bool apart = early != NULL, talks = false;
    if (__builtin_expect(obs_flags != NULL, 0) && (work->kind != MR_OBSERVED_MEMORY_OP || work->node))
        obs_values_written(operation, boxes, count);
    for (size_t i = 0; i < count; i++) {
        apart = apart || is_left_out(work, &boxes[i]) || boxes[i].how & MR_ACCESS_PAST_GRIDS;
        if (boxes[i].how & MR_ACCESS_MODULE)
            know_module(&boxes[i], operation->side.number);
        talks = talks || boxes[i].how & MR_ACCESS_TALKS;
    }
    if (talks)
        obs_talk_work(operation, boxes, count);
    if (work->kind == MR_OBSERVED_MEMORY_OP)
        set_values(work, operation, boxes, count);
    else if (apart && work->kind == MR_OBSERVED_KERNEL)
        touch_early(operation, early, boxes, count);
    else if (apart)
        touch_apart(work, operation, early, boxes, count);
    else
        obs_shadow_touch(operation, boxes, count);
    if (talks)
        obs_talk_work(operation, boxes, count);
    obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

/* What has written the words that this work has waited for, if no stream has. */
static void acquire_values(const struct mr_observed_work *work)
{
    enum { MOST = 16 };
    uint64_t addresses[MOST];
    struct obs_operation *writers[MOST], *early, *wait = obs_order_of_work(work, false, &early);
    size_t count = wait ? obs_values_waited(wait, addresses, MOST) : 0;
    for (size_t i = 0; i < count; i++) {
        struct mr_access word = {.first = addresses[i], .width = 4, .rows = 1, .how = MR_ACCESS_WRITE};
        size_t found = obs_shadow_writers(word.first, word.first + word.width, 0, wait, writers, MOST);
        for (size_t n = 0; n < found; n++) {
            if (writers[n]->side.what != MR_SIDE_MEMORY_OP)
                obs_values_written(writers[n], &word, 1);
            obs_operation_drop(writers[n]);
        }
    }
    obs_operation_drop(wait);
    obs_operation_drop(early);
}

static void heap(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count)
{
    obs_heap_told(&obs_tool_race, work, changes, count);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    (void)status;
    if (obs_is_host_function(work))
        obs_host_function(NULL);
    if (work->parts && !work->touches)
        obs_shadow_unseen();
    if (work->kind == MR_OBSERVED_MEMORY_OP && obs_values_open)
        acquire_values(work);
    obs_follow_end(&obs_tool_race, work);
}

static uint64_t found(void)
{
    return obs_finding_count();
}

static bool write_race(const char *folder, const char *how)
{
    return obs_results_write(folder, how, driver);
}

const struct obs_tool obs_tool_race = {.name = "race",
                                       .points = MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS,
                                       .open = open_race,
                                       .enter = enter,
                                       .leave = leave,
                                       .bind = bind,
                                       .begin = begin,
                                       .end = end,
                                       .access = access_boxes,
                                       .heap = heap,
                                       .found = found,
                                       .write = write_race};
