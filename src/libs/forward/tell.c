/* SPDX-License-Identifier: Apache-2.0 */
/* What the observer is told and what it may ask, with another driver behind (observe/observe.h).
 *
 * Calls are told of as the own driver tells them. Of the works that a call queues only the call is known: the driver
 * behind says neither when they begin nor when they end. So they are told of between the call's return and `leave`
 * (works.c), with all that they touch, as if they had run by then. An observer that asks for times learns them later,
 * by events that are recorded around the works (times.c). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/demangle.h"
#include "base/log.h"
#include "base/settings.h"
#include "libs/forward/works.h"

/* ---- what the observer may ask ---- */

static bool no_place(uint32_t place, struct mr_observed_place *out)
{
    (void)place, (void)out;
    return false;
}

static void pause_calls(bool on)
{
    if (on)
        mr_observe_depth++;
    else
        mr_observe_depth--;
}

/* No work is ever held: what orders works is the driver behind. */
static void ask_again(void)
{
}

static bool at_rest(void)
{
    return true;
}

static void *find_function(const char *name)
{
    return mr_forward_symbol(name);
}

static enum mr_observed_memory_kind kind_at(uintptr_t address, int *device)
{
    unsigned type = 0, managed = 0;
    int ordinal = -1;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *into[] = {&type, &managed, &ordinal};
    if (mr_forward_driver.pointer_attributes(3, what, into, address) != CUDA_SUCCESS || type == 0)
        return MR_OBSERVED_PAGEABLE;
    if (ordinal >= 0)
        *device = ordinal;
    return managed ? MR_OBSERVED_MANAGED : type == CU_MEMORYTYPE_HOST ? MR_OBSERVED_PINNED : MR_OBSERVED_DEVICE;
}

static enum mr_observed_memory memory_at(uintptr_t address)
{
    int device;
    return kind_at(address, &device) == MR_OBSERVED_PAGEABLE ? MR_OBSERVED_FOREIGN : MR_OBSERVED_ALLOCATED;
}

/* Arrays have no addresses that would tell which bytes two works share. */
static bool no_array(uint64_t handle, bool mipmap, uintptr_t *first, size_t *size)
{
    (void)handle, (void)mipmap, (void)first, (void)size;
    return false;
}

static bool stream_number(CUstream stream, uint64_t *number)
{
    CUcontext context = NULL;
    mr_forward_driver.context_current(&context);
    return mr_forward_stream_number(stream, context, number);
}

static const struct mr_observed_driver driver = {.version = MR_OBSERVER_VERSION,
                                                 .place = no_place,
                                                 .pause = pause_calls,
                                                 .ask_again = ask_again,
                                                 .at_rest = at_rest,
                                                 .function = find_function,
                                                 .memory = memory_at,
                                                 .array = no_array,
                                                 .parts = mr_forward_parts,
                                                 .kind = kind_at,
                                                 .stream = stream_number,
                                                 .ran_later = true};

/* ---- beginning and end ---- */

/* The functions that the library calls itself. False: the driver behind lacks one. */
static bool find_functions(void)
{
    const struct {
        const char *elf;
        void *into;
        bool needed;
    } wanted[] = {
        {"cuCtxGetCurrent", &mr_forward_driver.context_current, true},
        {"cuCtxGetDevice", &mr_forward_driver.context_device, true},
        {"cuCtxGetId", &mr_forward_driver.context_number, true},
        {"cuStreamGetId", &mr_forward_driver.stream_id, true},
        {"cuStreamGetCtx", &mr_forward_driver.stream_context, true},
        {"cuStreamIsCapturing", &mr_forward_driver.stream_captures, true},
        {"cuPointerGetAttributes", &mr_forward_driver.pointer_attributes, true},
        {"cuCtxPushCurrent_v2", &mr_forward_driver.context_push, true},
        {"cuCtxPopCurrent_v2", &mr_forward_driver.context_pop, true},
        {"cuThreadExchangeStreamCaptureMode", &mr_forward_driver.capture_mode, true},
        {"cuStreamCreate", &mr_forward_driver.stream_create, true},
        {"cuStreamDestroy_v2", &mr_forward_driver.stream_destroy, true},
        {"cuEventCreate", &mr_forward_driver.event_create, true},
        {"cuEventDestroy_v2", &mr_forward_driver.event_destroy, true},
        {"cuEventRecord", &mr_forward_driver.event_record, true},
        {"cuEventQuery", &mr_forward_driver.event_query, true},
        {"cuEventElapsedTime", &mr_forward_driver.event_elapsed, true},
        {"cuFuncGetName", &mr_forward_driver.function_name, false},
        {"cuKernelGetName", &mr_forward_driver.kernel_name, false},
        {"cuFuncGetParamInfo", &mr_forward_driver.function_param, false},
        {"cuKernelGetParamInfo", &mr_forward_driver.kernel_param, false},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *function = mr_forward_symbol(wanted[i].elf);
        if (!function && wanted[i].needed) {
            mr_log(MR_LOG_ERROR, "the driver behind has no %s, so nothing is observed: it is older than CUDA 12.0",
                   wanted[i].elf);
            return false;
        }
        *(void **)wanted[i].into = function;
    }
    return true;
}

static void end_of_process(void)
{
    mr_forward_times_over(NULL, NULL);
    mr_forward_wait_ends(0, NULL);
    mr_observe_finish();
}

static void begin(void)
{
    mr_log_setup();
    if (!find_functions())
        return;
    mr_demangle_prepare();
    if (atexit(end_of_process) == 0)
        mr_observe_load(&driver);
    (void)at_quick_exit(end_of_process); /* runs before the observer's own */
}

CUresult mr_forward_cuInit(CUresult (*behind)(unsigned), unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!behind)
        return mr_forward_lacks("cuInit");
    CUresult status = behind(flags);
    if (status == CUDA_SUCCESS)
        pthread_once(&once, begin);
    return status;
}

/* ---- calls ---- */

void mr_forward_enter(struct mr_observed_call *call, const void *site)
{
    static _Atomic uint64_t calls;
    CUcontext context = NULL;
    mr_observe_depth++;
    mr_forward_driver.context_current(&context);
    call->site = site;
    call->context = context;
    call->number = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    mr_observer.enter(call);
    mr_forward_modules_enter(call);
    mr_forward_works_enter(call);
}

void mr_forward_leave(struct mr_observed_call *call, CUresult status)
{
    if (!call->context) /* the call may have made one current */
        mr_forward_driver.context_current(&call->context);
    mr_forward_modules_leave(call, status);
    mr_forward_works_leave(call, status);
    mr_observer.leave(call, status);
    mr_observe_depth--;
}
