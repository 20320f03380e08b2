/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels have launched and has not begun; see launched.h. */
#include "kernel/launched.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "kernel/executor.h"
#include "kernel/launch_shape.h"

#define STREAM_TAIL_LAUNCH 3u /* cudaStreamTailLaunch */

/* What a launch answers: cudaError_t. */
enum { MADE = 0, OUT_OF_MEMORY = 2, BAD_CONFIGURATION = 9, NO_FUNCTION = 98 };

struct mr_launched {
    struct mr_launched *next;
    unsigned entry;
    uint32_t grid[3], block[3], shared;
    unsigned char params[];
};

/* Of a launch under way whose kernel has launched some. */
struct family {
    struct family *next;
    uint64_t launch; /* mr_launch.id */
    struct mr_launched *first, **end, *tail, **tail_end;
};

static mr_lock lock = MR_LOCK_INIT(LAUNCHED);
static struct family *families;

static struct family **find(uint64_t launch)
{
    MR_HELD(&lock);
    struct family **place = &families;
    while (*place && (*place)->launch != launch)
        place = &(*place)->next;
    return place;
}

/* What a lane asks for. The record is the kernel's, and reading it may fault: no lock is held. */
static uint32_t read_request(const struct mr_module *module, uint64_t address, struct mr_launched **out)
{
    struct mr_launch_record record;
    memcpy(&record, (const void *)(uintptr_t)address, sizeof record);
    size_t entry = mr_program_entry_of(module->program, record.kernel);
    if (entry == (size_t)-1)
        return NO_FUNCTION;
    const struct mr_entry *info = mr_program_entry(module->program, entry);
    if (!mr_launch_shape_is_valid(record.grid, record.block, info) ||
        record.shared > mr_module_dynamic_limit(module, entry))
        return BAD_CONFIGURATION;
    struct mr_launched *made = mr_calloc(1, sizeof *made + info->param_bytes);
    if (!made)
        return OUT_OF_MEMORY;
    made->entry = (unsigned)entry;
    memcpy(made->grid, record.grid, sizeof made->grid);
    memcpy(made->block, record.block, sizeof made->block);
    made->shared = record.shared;
    memcpy(made->params, (const char *)(uintptr_t)address + sizeof record, info->param_bytes);
    *out = made;
    return MADE;
}

static bool note(uint64_t launch, struct mr_launched *made, bool tail)
{
    struct family *fresh = mr_calloc(1, sizeof *fresh);
    mr_lock_take(&lock);
    struct family **place = find(launch), *family = *place;
    if (!family && fresh) {
        family = *place = fresh;
        family->launch = launch;
        family->end = &family->first;
        family->tail_end = &family->tail;
        fresh = NULL;
    }
    if (family) {
        struct mr_launched ***end = tail ? &family->tail_end : &family->end;
        **end = made;
        *end = &made->next;
    }
    mr_lock_drop(&lock);
    mr_free(fresh);
    return family != NULL;
}

void mr_launched_note(struct mr_block *block, uint32_t mask, const uint64_t *record, const uint64_t *stream,
                      uint32_t *result)
{
    const struct mr_executor *executor = block->engine;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        struct mr_launched *made = NULL;
        result[lane] = read_request(executor->launch->module, record[lane], &made);
        if (made && !note(executor->launch->id, made, stream[lane] == STREAM_TAIL_LAUNCH)) {
            mr_free(made);
            result[lane] = OUT_OF_MEMORY;
        }
    }
}

struct mr_launched *mr_launched_take(const struct mr_launch *launch)
{
    mr_lock_take(&lock);
    struct family **place = find(launch->id), *family = *place;
    if (family)
        *place = family->next;
    mr_lock_drop(&lock);
    if (!family)
        return NULL;
    *family->end = family->tail;
    struct mr_launched *list = family->first;
    mr_free(family);
    return list;
}

void mr_launched_before(struct mr_launched *first, struct mr_launched **list)
{
    struct mr_launched **end = &first;
    while (*end)
        end = &(*end)->next;
    *end = *list;
    *list = first;
}

CUresult mr_launched_begin(struct mr_launched **list, const struct mr_launch *root, struct mr_launch **out)
{
    struct mr_launched *first = *list;
    struct mr_program *program = root->module->program;
    const struct mr_entry *info = mr_program_entry(program, first->entry);
    struct mr_launch *launch = mr_launch_new(info->param_bytes);
    CUresult status =
        launch ? mr_program_code(program, first->entry, first->block, &launch->code) : CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS) {
        launch->module = root->module;
        mr_object_hold(launch->module);
        launch->context = root->context;
        mr_launch_set_shape(launch, info, first->grid, first->block, first->shared);
        memcpy(launch->params, first->params, info->param_bytes);
        *out = launch;
    } else {
        mr_log(MR_LOG_WARN, "kernel '%s', which a kernel has launched, does not run: status %d", info->name,
               (int)status);
        mr_launch_free(launch);
    }
    *list = first->next;
    mr_free(first);
    return status;
}

void mr_launched_free(struct mr_launched *list)
{
    while (list) {
        struct mr_launched *next = list->next;
        mr_free(list);
        list = next;
    }
}
