/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's state and what a call hears that comes too early or too late; and the refusal of
 * functions that are not implemented. */
#include "api/state.h"

#include "api/stub.h"
#include "base/log.h"

_Atomic int mr_driver_state = MR_DRIVER_NEW;

CUresult mr_driver_refuse(void)
{
    if (atomic_load_explicit(&mr_driver_state, memory_order_acquire) == MR_DRIVER_ENDED) {
        return CUDA_ERROR_DEINITIALIZED;
    }
    mr_log(MR_LOG_INFO, "a call came before cuInit");
    return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult mr_stub_refuse(const char *name)
{
    mr_log(MR_LOG_INFO, "%s is not supported", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}
