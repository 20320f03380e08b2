/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations: checking a batch, and running it from wait to wait.
 *
 * A batch is run by one thread at a time: the one that began it, or later the one that saw its watch's condition hold.
 * Each run of operations between two pending waits is guarded, since the program may free the memory meanwhile. */
#include "engine/batch.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/sanitizer.h"
#include "engine/tell.h"
#include "engine/watch.h"
#include "kernel/fault.h"
#include "memory/allocation.h"
#include "object/context.h"

struct mr_batch {
    struct mr_watch watch;
    struct mr_context *context;
    struct mr_job *resume;
    unsigned count;
    volatile unsigned next; /* the operation that is being carried out; volatile: looked at after a fault */
    CUstreamBatchMemOpParams ops[];
};

/* ---- checking ---- */

static CUresult bad(unsigned at, const char *what)
{
    mr_call_log(MR_LOG_INFO, "operation %u: %s", at, what);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_address(unsigned at, CUdeviceptr address, size_t size)
{
    struct mr_allocation found;
    if (address == 0 || address % size != 0)
        return bad(at, address ? "the address is not a multiple of the value's size" : "the address is NULL");
    if (!mr_memory_find((uintptr_t)address, &found) || found.size - ((uintptr_t)address - found.base) < size)
        return bad(at, "the address is in no memory that the driver knows");
    if (found.kind == MR_MEMORY_MANAGED || found.kind == MR_MEMORY_POOL || found.kind == MR_MEMORY_HOST_POOL)
        return bad(at, "the address is in managed memory or a pool's, where hardware allows none of these");
    return CUDA_SUCCESS;
}

static CUresult check_wait(unsigned at, const CUstreamBatchMemOpParams *op, size_t size)
{
    unsigned flags = op->waitValue.flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    if (flags > CU_STREAM_WAIT_VALUE_NOR)
        return bad(at, "flags that a wait doesn't have");
    if (op->waitValue.flags != flags) {
        mr_call_log(MR_LOG_INFO,
                    "operation %u: remote writes can't be flushed (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0)",
                    at);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return check_address(at, op->waitValue.address, size);
}

static CUresult check_write(unsigned at, const CUstreamBatchMemOpParams *op, size_t size)
{
    if (op->writeValue.flags != CU_STREAM_WRITE_VALUE_DEFAULT)
        return bad(
            at,
            "flags that a write doesn't have (CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is one of the first version's)");
    return check_address(at, op->writeValue.address, size);
}

CUresult mr_batch_check(const CUstreamBatchMemOpParams *ops, unsigned count)
{
    CUresult status = CUDA_SUCCESS;
    if (count > MR_BATCH_MOST) {
        mr_call_log(MR_LOG_INFO, "%u operations; at most %u are possible", count, MR_BATCH_MOST);
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++) {
        switch ((int)ops[i].operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            status = check_wait(i, &ops[i], 4);
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            status = check_wait(i, &ops[i], 8);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            status = check_write(i, &ops[i], 4);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            status = check_write(i, &ops[i], 8);
            break;
        case CU_STREAM_MEM_OP_BARRIER:
            if (ops[i].memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
                status = bad(i, "there is no such memory barrier");
            break;
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
            mr_call_log(
                MR_LOG_INFO,
                "operation %u: remote writes can't be flushed (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0)", i);
            status = CUDA_ERROR_NOT_SUPPORTED;
            break;
        default:
            status = bad(i, "there is no such operation");
        }
    }
    return status;
}

/* ---- running ---- */

/* The comparisons of CUstreamWaitValue_flags; "greater or equal" goes round, as a difference with a sign. */
static bool holds32(uint32_t now, uint32_t value, unsigned flags)
{
    switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return ~(now | value) != 0;
    default:
        return (int32_t)(now - value) >= 0;
    }
}

static bool holds64(uint64_t now, uint64_t value, unsigned flags)
{
    switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return ~(now | value) != 0;
    default:
        return (int64_t)(now - value) >= 0;
    }
}

#ifdef __clang__
#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNWATCHED __attribute__((no_sanitize("thread")))
#endif

static void *place_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

/* True if the operation was carried out, or its condition holds. What else is done to the words at that time is the
 * program's business: ThreadSanitizer is not to look; run_op tells it what is ordered by them. */
UNWATCHED static bool run_op_unwatched(const CUstreamBatchMemOpParams *op)
{
    switch ((int)op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return holds32(__atomic_load_n((uint32_t *)place_of(op->waitValue.address), __ATOMIC_SEQ_CST),
                       op->waitValue.value, op->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return holds64(__atomic_load_n((uint64_t *)place_of(op->waitValue.address), __ATOMIC_SEQ_CST),
                       op->waitValue.value64, op->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        __atomic_store_n((uint32_t *)place_of(op->writeValue.address), op->writeValue.value, __ATOMIC_SEQ_CST);
        return true;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        __atomic_store_n((uint64_t *)place_of(op->writeValue.address), op->writeValue.value64, __ATOMIC_SEQ_CST);
        return true;
    default:
        atomic_thread_fence(memory_order_seq_cst);
        return true;
    }
}

static bool is_write(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static bool run_op(const CUstreamBatchMemOpParams *op)
{
    void *place = place_of(op->waitValue.address);
    if (is_write(op))
        MR_TSAN_RELEASE(place);
    bool done = run_op_unwatched(op);
    if (done && is_wait(op))
        MR_TSAN_ACQUIRE(place);
    return done;
}

/* For the guard: one operation. */
static void run_one(void *data)
{
    struct mr_batch *batch = data;
    if (run_op(&batch->ops[batch->next]))
        batch->next = batch->next + 1;
}

/* Under an observer, which is told of a write before anything can see it, and of a wait once it is over: so of a write
 * before the wait that it lets go on. */
static CUresult run_told(struct mr_batch *batch)
{
    CUresult status = CUDA_SUCCESS;
    bool done = true;
    while (status == CUDA_SUCCESS && done && batch->next < batch->count) {
        unsigned at = batch->next;
        if (is_write(&batch->ops[at]))
            mr_tell_memory_op(batch->resume->told, &batch->ops[at]);
        status = mr_fault_guard(run_one, batch);
        done = batch->next != at;
        if (done && is_wait(&batch->ops[at]))
            mr_tell_memory_op(batch->resume->told, &batch->ops[at]);
    }
    return status;
}

/* For the guard: on from `next`, up to the end or a wait that is pending. */
static void run_ops(void *data)
{
    struct mr_batch *batch = data;
    while (batch->next < batch->count && run_op(&batch->ops[batch->next]))
        batch->next = batch->next + 1;
}

/* Watch functions. */
static bool wait_ready(struct mr_watch *watch)
{
    struct mr_batch *batch = MR_CONTAINER(watch, struct mr_batch, watch);
    return mr_context_error(batch->context) != CUDA_SUCCESS || run_op(&batch->ops[batch->next]);
}

/* True if the batch is complete, false if a watch is on. */
static bool run_on(struct mr_batch *batch, CUresult *status)
{
    for (;;) {
        unsigned first = batch->next;
        *status = batch->resume->told ? run_told(batch) : mr_fault_guard(run_ops, batch);
        for (unsigned i = first; i < batch->next; i++)
            if (is_write(&batch->ops[i]))
                mr_watch_ring_at(place_of(batch->ops[i].writeValue.address));
        if (*status == CUDA_SUCCESS)
            *status = mr_context_error(batch->context);
        if (*status != CUDA_SUCCESS || batch->next == batch->count)
            return true;
        batch->watch.word = place_of(batch->ops[batch->next].waitValue.address);
        if (mr_watch_add(&batch->watch))
            return false;
        if (batch->watch.status != CUDA_SUCCESS) {
            *status = batch->watch.status;
            return true;
        }
    }
}

static void wait_over(struct mr_watch *watch)
{
    struct mr_batch *batch = MR_CONTAINER(watch, struct mr_batch, watch);
    struct mr_job *resume = batch->resume;
    CUresult status = watch->status;
    if (status == CUDA_SUCCESS)
        status = mr_context_error(batch->context);
    if (status == CUDA_SUCCESS) {
        mr_tell_memory_op(resume->told, &batch->ops[batch->next]);
        batch->next = batch->next + 1;
        if (!run_on(batch, &status))
            return;
    }
    atomic_store(&resume->status, (int)status);
    resume->resume(resume);
}

bool mr_batch_begin(struct mr_batch *batch, struct mr_job *resume, CUresult *status)
{
    batch->next = 0;
    batch->resume = resume;
    return run_on(batch, status);
}

struct mr_batch *mr_batch_new(const CUstreamBatchMemOpParams *ops, unsigned count, struct mr_context *context)
{
    bool waits = false;
    for (unsigned i = 0; i < count; i++)
        waits |= is_wait(&ops[i]);
    if (waits && !mr_watch_begin())
        return NULL;
    struct mr_batch *batch = mr_alloc(sizeof *batch + count * sizeof *ops);
    if (!batch)
        return NULL;
    batch->watch = (struct mr_watch){.ready = wait_ready, .done = wait_over};
    batch->context = context;
    batch->resume = NULL;
    batch->count = count;
    batch->next = 0;
    for (unsigned i = 0; i < count; i++)
        batch->ops[i] = ops[i];
    return batch;
}

void mr_batch_free(struct mr_batch *batch)
{
    mr_free(batch);
}

/* ---- as a stream's command ---- */

static bool begin_command(void *data, uint64_t key, struct mr_job *resume, CUresult *status)
{
    (void)key;
    return mr_batch_begin(data, resume, status);
}

static void free_command(void *data)
{
    mr_batch_free(data);
}

struct mr_command *mr_batch_command(struct mr_batch *batch)
{
    struct mr_command *command = mr_command_new(MR_COMMAND_ASYNC);
    if (!command)
        return NULL;
    command->async.begin = begin_command;
    command->async.free = free_command;
    command->async.data = batch;
    command->async.kind = MR_ASYNC_BATCH;
    command->async.quick = true;
    return command;
}
