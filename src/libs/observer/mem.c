/* SPDX-License-Identifier: Apache-2.0 */
/* The tool mem: finds kernels, copies and fills that touch memory which they may not use, and memory that nobody frees.
 *
 * The rules (order.h) tell which allocations there are and when they end; the boxes that works touch are compared with
 * them (mem_fault.h), and so is what the host's own code touches, where that is told of (host.h). Options: "leaks" also
 * reports memory that is there when the program ends (mem_leak.h). */
#include <string.h>

#include "base/log.h"
#include "libs/observer/advice.h"
#include "libs/observer/follow.h"
#include "libs/observer/found.h"
#include "libs/observer/heap.h"
#include "libs/observer/host.h"
#include "libs/observer/mem_fault.h"
#include "libs/observer/mem_leak.h"
#include "libs/observer/mpi.h"
#include "libs/observer/order_call.h"
#include "libs/observer/results.h"
#include "libs/observer/sites.h"
#include "libs/observer/tool.h"

static const struct mr_observed_driver *driver;
static CUresult (*pointer_attribute)(void *, CUpointer_attribute, CUdeviceptr);
static bool leaks;

/* Is it memory that the host of a machine with a GPU can't use? The memory of some pools it can. */
static bool is_device(const struct obs_generation_view *view)
{
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;
    unsigned managed = 0;
    if (!view->alive || (view->kind != MR_ALLOCATION_DEVICE && view->kind != MR_ALLOCATION_POOL &&
                         view->kind != MR_ALLOCATION_GRAPH && view->kind != MR_ALLOCATION_IMPORTED))
        return false;
    if (view->kind == MR_ALLOCATION_DEVICE)
        return true;
    driver->pause(true);
    bool known = pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)view->base) == CUDA_SUCCESS &&
                 pointer_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)view->base) == CUDA_SUCCESS;
    driver->pause(false);
    return known && type == CU_MEMORYTYPE_DEVICE && !managed;
}

/* The program's own code loads or stores. */
static void host_touches(uintptr_t first, size_t size, bool stores, const void *site)
{
    struct obs_generation_view view;
    if (!obs_generation_at(first, UINT64_MAX, &view) || !is_device(&view))
        return;
    struct mr_finding finding = {.kind = MR_FINDING_DEVICE_POINTER,
                                 .later = {.what = MR_SIDE_HOST,
                                           .call = obs_host_code,
                                           .site = obs_site_here(site),
                                           .number = obs_order_calls(),
                                           .thread = obs_thread_number(),
                                           .of_thread = obs_calls_of_thread(),
                                           .how = stores ? MR_ACCESS_WRITE : MR_ACCESS_READ},
                                 .first = first,
                                 .end = first + size,
                                 .touched = size,
                                 .allocation = obs_mem_allocation(&view)};
    obs_finding_note(&finding);
}

static void look_at_message(const struct mr_observed_work *work, struct obs_operation *operation,
                            const struct mr_access *boxes, size_t count)
{
    obs_mem_touch(work, operation, boxes, count);
    obs_mem_settle(work);
}

static bool open_mem(const struct mr_observed_driver *given, const char *options)
{
    for (const char *option = options; *option;) {
        size_t length = strcspn(option, ":");
        if (length != 5 || memcmp(option, "leaks", 5) != 0) {
            mr_log(MR_LOG_ERROR, "MILLRACE_OBSERVE: the tool mem has no option '%.*s'; nothing is observed",
                   (int)length, option);
            return false;
        }
        leaks = true;
        option += length + (option[length] == ':');
    }
    driver = given;
    obs_mem_begin(given);
    obs_follow_begin(&obs_tool_mem, given, false);
    pointer_attribute = given->function("cuPointerGetAttribute");
    obs_host_tell(host_touches);
    obs_mpi_tell(look_at_message, given);
    return true;
}

static void enter(struct mr_observed_call *call)
{
    obs_follow_enter(&obs_tool_mem, call);
}

static void leave(struct mr_observed_call *call, CUresult status)
{
    obs_follow_leave(&obs_tool_mem, call, status);
    switch (call->call) {
    case MR_CALL_cuCtxDestroy_v2:
    case MR_CALL_cuCtxDetach:
    case MR_CALL_cuDevicePrimaryCtxRelease:
    case MR_CALL_cuDevicePrimaryCtxRelease_v2:
    case MR_CALL_cuDevicePrimaryCtxReset_v2:
        obs_mem_context_ended(driver);
        break;
    default:
        break;
    }
}

static void bind(const struct mr_observed_work *work)
{
    obs_follow_bind(&obs_tool_mem, work);
}

static void begin(const struct mr_observed_work *work)
{
    struct obs_operation *early, *operation;
    if (!work->node || !obs_follow_is(&obs_tool_mem))
        return;
    operation = obs_order_of_work(work, true, &early); /* a step of a graph is known from its begin on */
    if (operation)
        obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

static void access_boxes(const struct mr_observed_work *work, const struct mr_access *boxes, size_t count)
{
    struct obs_operation *early, *operation = obs_order_of_work(work, false, &early);
    if (operation) {
        obs_mem_touch(work, operation, boxes, count);
        obs_operation_drop(operation);
    }
    if (early)
        obs_operation_drop(early);
}

/* What free() in a kernel was given. */
static void report_bad_free(struct obs_operation *operation, uintptr_t address)
{
    struct mr_finding finding = {
        .kind = MR_FINDING_BAD_FREE, .later = operation->side, .first = address, .end = address + 1};
    struct obs_generation_view view;
    finding.later.how = OBS_ACCESS_FREES;
    if (obs_generation_at(address, UINT64_MAX, &view)) {
        finding.allocation = obs_mem_allocation(&view);
        if (view.kind == MR_ALLOCATION_HEAP && view.base == address)
            finding.earlier = view.ended;
    }
    obs_finding_note(&finding);
}

static void heap(const struct mr_observed_work *work, const struct mr_observed_heap *changes, size_t count)
{
    struct obs_operation *early, *operation;
    obs_heap_told(&obs_tool_mem, work, changes, count);
    operation = obs_order_of_work(work, false, &early);
    for (size_t i = 0; operation && i < count; i++)
        if (changes[i].how == MR_OBSERVED_HEAP_BAD_FREE)
            report_bad_free(operation, changes[i].first);
    if (operation)
        obs_operation_drop(operation);
    if (early)
        obs_operation_drop(early);
}

static void end(const struct mr_observed_work *work, CUresult status)
{
    (void)status;
    obs_mem_settle(work);
    obs_follow_end(&obs_tool_mem, work);
}

static uint64_t found(void)
{
    return obs_finding_count();
}

/* The file is the same for all tools that have findings. */
static bool write_mem(const char *folder, const char *how)
{
    if (leaks && strcmp(how, "exit") == 0)
        obs_mem_find_leaks(driver);
    return obs_results_write(folder, how, driver);
}

const struct obs_tool obs_tool_mem = {.name = "mem",
                                      .points =
                                          MR_OBSERVE_CALLS | MR_OBSERVE_WORK | MR_OBSERVE_ACCESS | MR_OBSERVE_APART,
                                      .open = open_mem,
                                      .enter = enter,
                                      .leave = leave,
                                      .bind = bind,
                                      .begin = begin,
                                      .end = end,
                                      .access = access_boxes,
                                      .heap = heap,
                                      .found = found,
                                      .write = write_mem};
