/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation and version (driver API manual, Initialization and Version Management). */
#include "api_impl.h"

#include <stdio.h>

#include "api/observed.h"
#include "api/state.h"
#include "api/trace.h"
#include "api/wiring.h"
#include "base/call.h"
#include "base/chaos.h"
#include "base/log.h"
#include "base/settings.h"
#include "base/thread.h"
#include "memory/allocation.h"
#include "object/device.h"
#include "observe/attach.h"

static mr_lock init_lock = MR_LOCK_INIT(INIT);

CUresult mr_cuInit(unsigned int Flags)
{
    CUresult status = CUDA_SUCCESS;
    bool opened = false;
    uint64_t begun = mr_trace_enter();
    if (Flags != 0) {
        mr_call_log(MR_LOG_INFO, "flags must be 0, not %#x", Flags);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (mr_driver_open())
        return CUDA_SUCCESS;
    mr_lock_take(&init_lock);
    int state = atomic_load_explicit(&mr_driver_state, memory_order_acquire);
    if (state != MR_DRIVER_NEW) {
        status = mr_driver_open() ? CUDA_SUCCESS : mr_driver_refuse();
        goto done;
    }
    mr_log_setup_keeping();
    mr_settings_check();
    mr_chaos_setup();
    mr_wiring_setup();
    if ((status = mr_devices_setup()) != CUDA_SUCCESS)
        goto done;
    if (!mr_memory_init()) {
        mr_call_log(MR_LOG_ERROR, "no address space for device memory");
        status = CUDA_ERROR_OUT_OF_MEMORY;
        goto done;
    }
    static bool watching; /* a failed memory set-up may be tried again */
    if (!watching && !(watching = mr_driver_watch_fork() && mr_driver_watch_exit())) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
        goto done;
    }
    mr_observed_begin();
    mr_trace_first(Flags, begun);
    opened = true;
done:
    mr_lock_drop(&init_lock);
    if (opened)
        mr_observe_opened();
    return status;
}

int mr_driver_version(void)
{
    static _Atomic int known;
    int version = known;
    if (version != 0)
        return version;
    unsigned minor = 0;
    sscanf(mr_setting_in_force(MR_SETTING_DRIVER_VERSION), "13.%u", &minor);
    version = CUDA_VERSION + (int)minor * 10;
    known = version;
    return version;
}

CUresult mr_cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = mr_driver_version();
    return CUDA_SUCCESS;
}
