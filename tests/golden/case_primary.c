/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Primary contexts: retain, release, reset, flags and state.
 *
 * Each case has a process of its own because the primary context belongs to
 * the process; the child's own context stays beside it.
 */
#include "gold.h"

static void state(void)
{
    unsigned flags = 99;
    int active = 99;
    say(cuDevicePrimaryCtxGetState(gold_device(), &flags, &active));
    say_value("flags", flags);
    say_value("active", active);
}

CASE(primary, state_at_first, .alone = true)
{
    state();
}

CASE(primary, retain_and_release, .alone = true)
{
    CUcontext context = NULL, current = NULL;
    say(cuDevicePrimaryCtxRetain(&context, gold_device()));
    say_if("not_null", context != NULL);
    say(cuCtxGetCurrent(&current));
    say_if("still_own_current", current == gold_context());
    state();
    say(cuDevicePrimaryCtxRelease(gold_device()));
    state();
}

CASE(primary, retain_twice_is_same, .alone = true)
{
    CUcontext one = NULL, two = NULL;
    say(cuDevicePrimaryCtxRetain(&one, gold_device()));
    say(cuDevicePrimaryCtxRetain(&two, gold_device()));
    say_if("same", one == two);
    say(cuDevicePrimaryCtxRelease(gold_device()));
    state();
    say(cuDevicePrimaryCtxRelease(gold_device()));
    state();
    say(cuDevicePrimaryCtxRelease(gold_device()));
}

CASE(primary, release_unretained, .alone = true)
{
    say(cuDevicePrimaryCtxRelease(gold_device()));
}

CASE(primary, retain_bad, .alone = true)
{
    CUcontext context;
    say(cuDevicePrimaryCtxRetain(NULL, gold_device()));
    say(cuDevicePrimaryCtxRetain(&context, 9999));
    say(cuDevicePrimaryCtxRetain(&context, -1));
    say(cuDevicePrimaryCtxRelease(9999));
    say(cuDevicePrimaryCtxReset(9999));
    say(cuDevicePrimaryCtxSetFlags(9999, 0));
}

CASE(primary, state_bad, .alone = true)
{
    unsigned flags;
    int active;
    say(cuDevicePrimaryCtxGetState(9999, &flags, &active));
    say(cuDevicePrimaryCtxGetState(gold_device(), NULL, &active));
    say(cuDevicePrimaryCtxGetState(gold_device(), &flags, NULL));
    say(cuDevicePrimaryCtxGetState(gold_device(), NULL, NULL));
}

CASE(primary, destroy_is_refused, .alone = true)
{
    CUcontext context = NULL;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    say(cuCtxDestroy(context));
    state();
}

CASE(primary, set_flags_inactive, .alone = true)
{
    say(cuDevicePrimaryCtxSetFlags(gold_device(), CU_CTX_SCHED_BLOCKING_SYNC));
    state();
    CUcontext context = NULL;
    unsigned flags = 99;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    NEED(cuCtxSetCurrent(context));
    say(cuCtxGetFlags(&flags));
    say_hex(flags);
}

CASE(primary, set_flags_active, .alone = true)
{
    CUcontext context = NULL;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    say(cuDevicePrimaryCtxSetFlags(gold_device(), CU_CTX_SCHED_YIELD));
    state();
}

CASE(primary, set_flags_bad, .alone = true)
{
    say(cuDevicePrimaryCtxSetFlags(gold_device(), 3));
    say(cuDevicePrimaryCtxSetFlags(gold_device(), 0x10000));
    state();
}

CASE(primary, reset_inactive, .alone = true)
{
    say(cuDevicePrimaryCtxReset(gold_device()));
    state();
}

CASE(primary, reset_active, .alone = true)
{
    CUcontext context = NULL;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    say(cuDevicePrimaryCtxReset(gold_device()));
    state();
    say(cuDevicePrimaryCtxRelease(gold_device()));
}

CASE(primary, reset_then_retain, .alone = true)
{
    CUcontext one = NULL, two = NULL;
    NEED(cuDevicePrimaryCtxRetain(&one, gold_device()));
    NEED(cuDevicePrimaryCtxReset(gold_device()));
    say(cuDevicePrimaryCtxRetain(&two, gold_device()));
    NEED(cuCtxSetCurrent(two));
    CUdeviceptr address;
    say(cuMemAlloc(&address, 16));
    state();
}

CASE(primary, work_in_it, .alone = true)
{
    CUcontext context = NULL;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    NEED(cuCtxSetCurrent(context));
    CUdeviceptr address = gold_alloc_words(4, 9);
    say_int(gold_word(address + 12));
    CUdevice device = -1;
    unsigned version = 0;
    say(cuCtxGetDevice(&device));
    say_if("own_device", device == gold_device());
    say(cuCtxGetApiVersion(context, &version));
    say_int(version);
}

CASE(primary, used_after_last_release, .alone = true,
     .allow = "CUDA_SUCCESS CUDA_ERROR_CONTEXT_IS_DESTROYED|CUDA_SUCCESS CUDA_ERROR_INVALID_CONTEXT",
     .why = "hardware may keep the context's shell")
{
    CUcontext context = NULL;
    NEED(cuDevicePrimaryCtxRetain(&context, gold_device()));
    NEED(cuCtxSetCurrent(context));
    CUdeviceptr address = gold_alloc(16);
    (void)address;
    say(cuDevicePrimaryCtxRelease(gold_device()));
    say(cuMemAlloc(&address, 16));
}

CASE(primary, current_survives_other_release, .alone = true)
{
    CUcontext one = NULL, two = NULL;
    NEED(cuDevicePrimaryCtxRetain(&one, gold_device()));
    NEED(cuDevicePrimaryCtxRetain(&two, gold_device()));
    NEED(cuCtxSetCurrent(one));
    say(cuDevicePrimaryCtxRelease(gold_device()));
    CUdeviceptr address;
    say(cuMemAlloc(&address, 16));
}
