/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out one command: bytes that move, and functions of the program that are called.
 *
 * Launches have their own way (grid.c); records, waits and what ends later are the stream's business. */
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

/* Around a call of the program's own code: calls of the driver are refused meanwhile, and the monitor knows that this worker may be away for long. */
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

CUresult mr_command_execute(struct mr_command *command, CUresult status)
{
    switch (command->kind) {
    case MR_COMMAND_COPY:
        return mr_fault_guard(copy_work, &command->copy);
    case MR_COMMAND_FILL:
        return mr_fault_guard(fill_work, &command->fill);
    case MR_COMMAND_HOST:
        enter_host();
        command->host.function(command->host.data);
        leave_host();
        return CUDA_SUCCESS;
    case MR_COMMAND_CALLBACK:
        enter_host();
        command->callback.function(command->callback.stream, status, command->callback.data);
        leave_host();
        return CUDA_SUCCESS;
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
