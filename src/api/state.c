/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's state and what a call hears that comes too early or too late.
 *
 * When a program calls exit, functions given to atexit after cuInit still find the driver at work; those given before,
 * and destructors, are refused: cuInit registers a function of its own, as hardware's driver does. quick_exit leaves
 * the driver alone.
 *
 * A process that was forked after cuInit has none of the driver's threads, so every call there is answered as before
 * cuInit, and cuInit itself refuses: what hardware does as well. */
#include "api/state.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/call.h"
#include "compile/compiler.h"
#include "observe/hooks.h"

_Atomic int mr_driver_state = MR_DRIVER_NEW;

CUresult mr_driver_refuse(void)
{
    switch (atomic_load_explicit(&mr_driver_state, memory_order_acquire)) {
    case MR_DRIVER_ENDED:
        return CUDA_ERROR_DEINITIALIZED;
    case MR_DRIVER_FORKED:
        mr_call_log(MR_LOG_INFO, "a process forked after cuInit cannot use the driver");
        return CUDA_ERROR_NOT_INITIALIZED;
    default:
        mr_call_log(MR_LOG_INFO, "the call came before cuInit");
        return CUDA_ERROR_NOT_INITIALIZED;
    }
}

/* From open to another state; anything else stays. False if it wasn't open. */
static bool move_on(int state)
{
    int ready = MR_DRIVER_READY, observed = MR_DRIVER_OBSERVED;
    return atomic_compare_exchange_strong(&mr_driver_state, &ready, state) ||
           atomic_compare_exchange_strong(&mr_driver_state, &observed, state);
}

static void after_fork_in_child(void)
{
    mr_compiler_fork_ends();
    (void)move_on(MR_DRIVER_FORKED);
}

bool mr_driver_watch_fork(void)
{
    return pthread_atfork(mr_compiler_fork_begins, mr_compiler_fork_ends, after_fork_in_child) == 0;
}

static void end_of_driver(void)
{
    if (move_on(MR_DRIVER_ENDED))
        mr_observe_finish();
}

bool mr_driver_watch_exit(void)
{
    return atexit(end_of_driver) == 0;
}

/* Calls that other libraries make from their own destructors, after this one, are refused even if cuInit was never
 * called. */
__attribute__((destructor)) static void end_of_process(void)
{
    atomic_store_explicit(&mr_driver_state, MR_DRIVER_ENDED, memory_order_release);
}
