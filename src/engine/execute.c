/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out one command: bytes that move, and functions of the program that are called.
 *
 * Launches have their own way (job.c); records, waits and what ends later are the stream's business. */
#include "base/call_program.h"
#include "base/log.h"
#include "command/parts.h"
#include "engine/transfer.h"
#include "engine/workers.h"
#include "kernel/fault.h"
#include "object/context.h"

static void copy_work(void *data)
{
    mr_copy_execute(data);
}

static void fill_work(void *data)
{
    mr_fill_execute(data);
}

/* Around a call of the program's own code: calls of the driver are refused meanwhile, and the monitor knows that this
 * worker may be away for long. */
static void enter_host(void)
{
    mr_in_host_function = true;
    mr_lock_take(&mr_engine.lock);
    mr_engine.in_host++;
    mr_lock_drop(&mr_engine.lock);
}

static void leave_host(void)
{
    mr_lock_take(&mr_engine.lock);
    mr_engine.in_host--;
    mr_lock_drop(&mr_engine.lock);
    mr_in_host_function = false;
}

struct callback_call {
    const struct mr_command *command;
    CUresult status;
};

static void callback_work(void *data)
{
    const struct callback_call *call = data;
    const struct mr_command *command = call->command;
    command->callback.function(command->callback.stream, call->status, command->callback.data);
}

/* A function that ends its thread has not returned, as its stream's later work may rely on: that fails the context. */
static CUresult call_host(void (*function)(void *data), void *data)
{
    enter_host();
    bool returned = mr_call_program(function, data);
    leave_host();
    if (returned)
        return CUDA_SUCCESS;
    mr_log(MR_LOG_ERROR, "a host function called pthread_exit: its context fails, and the thread goes on");
    return CUDA_ERROR_UNKNOWN;
}

CUresult mr_command_execute(struct mr_command *command, CUresult status)
{
    switch (command->kind) {
    case MR_COMMAND_COPY:
        return mr_fault_guard(copy_work, &command->copy);
    case MR_COMMAND_FILL:
        return mr_fault_guard(fill_work, &command->fill);
    case MR_COMMAND_PARTS:
        return mr_parts_ended(mr_fault_guard(mr_parts_run_all, command->parts));
    case MR_COMMAND_HOST:
        return call_host(command->host.function, command->host.data);
    case MR_COMMAND_CALLBACK:
        return call_host(callback_work, &(struct callback_call){command, status});
    case MR_COMMAND_RELEASE:
        command->release.function(command->release.data);
        return CUDA_SUCCESS;
    case MR_COMMAND_LAUNCH:
    case MR_COMMAND_RECORD:
    case MR_COMMAND_WAIT:
    case MR_COMMAND_ASYNC:
        break;
    }
    return CUDA_ERROR_UNKNOWN;
}
