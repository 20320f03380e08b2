/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions: the one kind of work whose begin and end can be seen, because it is the program's own code.
 *
 * The driver behind calls `run` in the function's place, perhaps before the call that queued it has returned, and so
 * before the observer knows of the work. Then the thread that is later tells of both begin and end. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "libs/forward/works.h"
#include "observe/calls.h"

struct mr_forward_host_function {
    pthread_mutex_t lock; /* guards what follows */
    struct mr_observed_work work;
    CUhostFn function;
    CUstreamCallback callback;
    void *data;
    uint64_t from, to; /* when it ran */
    bool bound, begun, finished; /* bound: the observer knows of the work; begun: also that it has begun */
};

static void drop(struct mr_forward_host_function *function)
{
    pthread_mutex_destroy(&function->lock);
    free(function);
}

static void begin(struct mr_forward_host_function *function)
{
    pthread_mutex_lock(&function->lock);
    function->from = mr_clock_ns();
    function->begun = function->bound;
    bool tell = function->begun;
    pthread_mutex_unlock(&function->lock);
    if (tell)
        mr_observer.begin(&function->work);
}

/* The later of the two that are done with it, the function and the call, tells of the end. */
static void tell_end(struct mr_forward_host_function *function)
{
    if (!function->begun)
        mr_observer.begin(&function->work);
    if (mr_observes(MR_OBSERVE_SLICES))
        mr_observer.ran(&function->work, function->from, function->to, CUDA_SUCCESS);
    mr_observer.end(&function->work, CUDA_SUCCESS);
    drop(function);
}

static void finish(struct mr_forward_host_function *function)
{
    pthread_mutex_lock(&function->lock);
    function->finished = true;
    function->to = mr_clock_ns();
    bool last = function->bound;
    pthread_mutex_unlock(&function->lock);
    if (last)
        tell_end(function);
}

static void CUDA_CB run(void *data)
{
    struct mr_forward_host_function *function = data;
    begin(function);
    function->function(function->data);
    finish(function);
}

static void CUDA_CB run_callback(CUstream stream, CUresult status, void *data)
{
    struct mr_forward_host_function *function = data;
    begin(function);
    function->callback(stream, status, function->data);
    finish(function);
}

struct mr_forward_host_function *mr_forward_host_exchange(struct mr_observed_call *call)
{
    struct mr_forward_host_function *function;
    if ((call->call != MR_CALL_cuLaunchHostFunc && call->call != MR_CALL_cuStreamAddCallback) ||
        !(function = calloc(1, sizeof *function)))
        return NULL;
    pthread_mutex_init(&function->lock, NULL);
    if (call->call == MR_CALL_cuLaunchHostFunc) {
        struct mr_params_cuLaunchHostFunc *params = (struct mr_params_cuLaunchHostFunc *)call->params;
        function->function = params->fn;
        function->data = params->userData;
        params->userData = function;
        params->fn = params->fn ? run : NULL; /* the driver behind refuses that */
    } else {
        struct mr_params_cuStreamAddCallback *params = (struct mr_params_cuStreamAddCallback *)call->params;
        function->callback = params->callback;
        function->data = params->userData;
        params->userData = function;
        params->callback = params->callback ? run_callback : NULL;
    }
    return function;
}

void mr_forward_host_bound(struct mr_forward_host_function *function, const struct mr_observed_work *work)
{
    if (!work) {
        drop(function);
        return;
    }
    pthread_mutex_lock(&function->lock);
    function->work = *work;
    function->bound = true;
    bool last = function->finished;
    pthread_mutex_unlock(&function->lock);
    if (last)
        tell_end(function);
}
