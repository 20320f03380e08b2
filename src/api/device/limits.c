/* SPDX-License-Identifier: Apache-2.0 */
/* What can be set on a context: limits, cache and bank preferences; and the range of stream priorities.
 *
 * The stack size, the device heap and the printf buffer are used by the kernel runtime. Preferences for caches and
 * banks are kept and given back: the manual calls them hints, and a CPU has nothing to act on. */
#include "api_impl.h"

#include "base/call.h"
#include "object/context.h"
#include "prepare/check.h"

#define PRINTF_LEAST ((size_t)512 * 1024) /* bytes, as on hardware */
#define STACK_LIMIT 523712u            /* bytes a thread; driver 580 on an H100 takes no more */

static bool limit_supported(CUlimit limit)
{
    switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        return true;
    default:
        return false;
    }
}

static CUresult refuse_limit(CUlimit limit)
{
    if ((int)limit < 0 || limit >= CU_LIMIT_MAX)
        return mr_bad_value("there is no limit %d", (int)limit);
    mr_call_log(MR_LOG_INFO, "limit %d does not apply to this device", (int)limit);
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult mr_cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!limit_supported(limit))
        return refuse_limit(limit);
    switch ((int)limit) {
    case CU_LIMIT_STACK_SIZE:
        if (value > STACK_LIMIT)
            return mr_bad_value("a stack of %zu bytes is more than %u", value, STACK_LIMIT);
        value = (value + 15) & ~(size_t)15;
        break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        if (limit == CU_LIMIT_PRINTF_FIFO_SIZE && atomic_load_explicit(&context->has_printed, memory_order_relaxed))
            return mr_bad_value("a kernel with printf was launched in the context; the buffer's size is fixed");
        if (value > context->device->total_memory) {
            mr_call_log(MR_LOG_INFO, "%zu bytes are more than the device has", value);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        if (limit == CU_LIMIT_PRINTF_FIFO_SIZE)
            value = value < PRINTF_LEAST ? PRINTF_LEAST : (value + 255) & ~(size_t)255;
        break;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
        if (value > 24)
            return mr_bad_value("a depth of %zu is more than 24", value);
        break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
        if (value > 128)
            return mr_bad_value("a granularity of %zu is more than 128", value);
        break;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        value = 0; /* no part of the cache can be set aside: the value is clamped to the device's maximum */
        break;
    default:
        break;
    }
    atomic_store_explicit(&context->limits[limit], value, memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    struct mr_context *context;
    if (!pvalue)
        return mr_bad_value("pvalue is NULL");
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!limit_supported(limit))
        return refuse_limit(limit);
    *pvalue = atomic_load_explicit(&context->limits[limit], memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    struct mr_context *context;
    if (!pconfig)
        return mr_bad_value("pconfig is NULL");
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        *pconfig = (CUfunc_cache)atomic_load_explicit(&context->cache_config, memory_order_relaxed);
    return status;
}

CUresult mr_cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        return mr_bad_value("there is no cache preference %d", (int)config);
    atomic_store_explicit(&context->cache_config, (int)config, memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUresult mr_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
    struct mr_context *context;
    if (!pConfig)
        return mr_bad_value("pConfig is NULL");
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS)
        *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return status;
}

/* Since capability 5.0 banks are four bytes wide whatever is asked for. */
CUresult mr_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
        return mr_bad_value("there is no bank size %d", (int)config);
    return status;
}

CUresult mr_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (leastPriority)
        *leastPriority = MR_PRIORITY_LEAST;
    if (greatestPriority)
        *greatestPriority = MR_PRIORITY_GREATEST;
    return CUDA_SUCCESS;
}

/* No line of a CPU's cache is ever marked as persisting, so all of them are normal afterwards. */
CUresult mr_cuCtxResetPersistingL2Cache(void)
{
    struct mr_context *context;
    return mr_context_require(&context);
}
