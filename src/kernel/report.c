/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says of a kernel that failed: one line that names the kernel, the place in its source, the block and the
 * thread, the address with the allocation nearest to it, and what helps to find out more. */
#include "kernel/executor.h"

#include <stdio.h>
#include <string.h>

#include "base/demangle.h"
#include "base/log.h"
#include "base/settings.h"
#include "kernel/notes.h"
#include "memory/allocation.h"
#include "object/context.h"

#define PAGE ((uint64_t)4096)

/* The first lane whose access was at fault, of the warp that the block's record names; -1 if the record does not tell.
 * It is the lane that touches the page of the fault's address: the processor may have met the lanes in any order. A
 * misaligned address is no multiple of the bytes. */
static int faulty_lane(const struct mr_block *block, const struct mr_fault *fault)
{
    if (!block->access_bytes)
        return -1;
    for (int lane = 0; lane < 64; lane++) {
        if (!(block->access_mask >> lane & 1))
            continue;
        uint64_t from = block->access[lane];
        bool inside =
            from / PAGE <= fault->address / PAGE && fault->address / PAGE <= (from + block->access_bytes - 1) / PAGE;
        if (fault->status == CUDA_ERROR_MISALIGNED_ADDRESS ? from % block->access_bytes != 0 : fault->signal && inside)
            return lane;
    }
    return -1;
}

/* Where the access was; 0: the record does not tell. */
static uint64_t faulty_address(const struct mr_executor *executor)
{
    int lane = faulty_lane(&executor->block, &executor->fault);
    return lane < 0 ? 0 : executor->block.access[lane];
}

/* As much as is known of what caused it: the thread (true), or the warp and its threads. */
static bool name_threads(const struct mr_executor *executor, char *text, size_t room)
{
    const struct mr_block *block = &executor->block;
    uint32_t warp = executor->direct || (executor->code->flags & MR_CODE_PARTS) ? block->warp : executor->current;
    int lane = warp == block->warp ? faulty_lane(block, &executor->fault) : -1;
    uint32_t first = warp * MR_WARP_LANES + (lane > 0 ? (uint32_t)lane : 0);
    uint32_t x = first % block->ntid[0], y = first / block->ntid[0] % block->ntid[1],
             z = first / block->ntid[0] / block->ntid[1];
    if (lane >= 0)
        snprintf(text, room, ", thread (%u,%u,%u)", x, y, z);
    else
        snprintf(text, room, ", warp %u (from thread (%u,%u,%u) on)", warp, x, y, z);
    return lane >= 0;
}

/* The line of the PTX, if it isn't known from where the fault came. */
static void find_line(struct mr_executor *executor)
{
    struct mr_fault *fault = &executor->fault;
    if (!fault->line && fault->pc && executor->code->line_of)
        fault->line = executor->code->line_of(executor->code, fault->pc);
    /* Outside of generated code: in a service that it called. */
    if (!fault->line && fault->status != CUDA_ERROR_HARDWARE_STACK_ERROR)
        fault->line = executor->block.service_line;
}

/* Where that is, as words behind the kernel's name. True if it is a line of the kernel's source. */
static bool name_place(const struct mr_executor *executor, char *text, size_t room)
{
    const struct mr_code *code = executor->code;
    const struct mr_fault *fault = &executor->fault;
    char file[512] = "";
    uint32_t line = 0;
    if (fault->line && code->source_of)
        line = code->source_of(code, fault->line, file, sizeof file);
    if (line)
        snprintf(text, room, " at %s:%u (line %u of the PTX)", file, line, fault->line);
    else if (fault->line)
        snprintf(text, room, " (line %u of the PTX)", fault->line);
    return line != 0;
}

/* What the user can do to learn more than the line says. */
static const char *advice(const struct mr_executor *executor, bool thread_known, bool source_known)
{
    const struct mr_fault *fault = &executor->fault;
    bool memory = fault->status == CUDA_ERROR_ILLEGAL_ADDRESS || fault->status == CUDA_ERROR_MISALIGNED_ADDRESS;
    if (fault->status == CUDA_ERROR_ASSERT)
        return "";
    if (fault->status == CUDA_ERROR_HARDWARE_STACK_ERROR)
        return "; a larger CU_LIMIT_STACK_SIZE (cudaLimitStackSize) gives threads more stack";
    if (!source_known)
        return "; compiled with -lineinfo, the kernel names its source line here";
    if (memory && !thread_known)
        return "; MILLRACE_FAULT_THREADS=on names the thread, 'millrace check --tool mem' finds the access that is "
               "first out of bounds";
    return "; 'gdb' stops there with a breakpoint on the source line";
}

void mr_executor_report(struct mr_executor *executor)
{
    struct mr_fault *fault = &executor->fault;
    const uint32_t *at = executor->block.ctaid;
    char kernel[512], threads[80] = "", address[32] = "", near[192] = "", place[600] = "";
    find_line(executor);
    if (fault->status == CUDA_ERROR_MISALIGNED_ADDRESS && fault->line)
        mr_footprint_misaligned(executor, fault->line, faulty_address(executor));
    /* Other blocks of the launch fail at the same time, mostly in the same way. */
    bool told = atomic_exchange_explicit(&executor->launch->context->fault_told, true, memory_order_relaxed);
    enum mr_log_level level = told ? MR_LOG_INFO : MR_LOG_WARN;
    if (!mr_log_enabled(level))
        return;
    bool thread_known = name_threads(executor, threads, sizeof threads);
    if (fault->signal)
        snprintf(address, sizeof address, " at 0x%llx", (unsigned long long)fault->address);
    if (fault->signal && fault->status == CUDA_ERROR_ILLEGAL_ADDRESS)
        mr_memory_describe(fault->address, near, sizeof near);
    bool source_known = name_place(executor, place, sizeof place);
    mr_demangle(executor->launch->code->name, kernel, sizeof kernel);
    mr_log(level, "kernel %s failed%s in block (%u,%u,%u)%s: %s%s%s; the context is unusable from now on%s", kernel,
           place, at[0], at[1], at[2], threads, fault->what, address, near,
           advice(executor, thread_known, source_known));
}
