/* SPDX-License-Identifier: Apache-2.0 */
/* For tests in which workers alone shall settle who runs what: the engine's monitor (engine/monitor.c) is kept out. */
#ifndef TESTS_STREAM_MONITOR_H
#define TESTS_STREAM_MONITOR_H

#include "support.h"

#include "engine/workers.h"
#include "kernel/progress.h"

/* Keeps the monitor asleep, so that it starts no extra workers; and takes that back. First it waits until the monitor
 * rests, and the extra workers that it has started have left; then everybody believes that it doesn't rest, and that
 * somebody looks whether launches stall, so nobody wakes it. */
static inline void keep_monitor_asleep(bool asleep)
{
    bool changed = false;
    while (!changed) {
        sched_yield();
        mr_lock_take(&mr_engine.lock);
        changed = asleep ? !mr_engine.monitor_armed && mr_engine.workers <= mr_engine.base &&
                               !atomic_load(&mr_progress_watched)
                         : mr_engine.monitor_armed;
        if (changed) {
            mr_engine.monitor_armed = asleep;
            atomic_store(&mr_progress_watched, asleep);
        }
        mr_lock_drop(&mr_engine.lock);
    }
}

/* Waits for the stream without helping. */
static inline void watch(CUstream stream)
{
    CUresult status;
    while ((status = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
        sched_yield();
    OK(status);
}

#endif
