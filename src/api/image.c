/* SPDX-License-Identifier: Apache-2.0 */
/* Images on their way in: from memory or a file, with the options of the just-in-time compiler.
 *
 * Options come as two arrays; a value is either the number itself in the pointer's bits or a pointer to a buffer. Those that steer NVIDIA's
 * code generator towards its chips (cache modes, targets) say nothing about the result and are accepted without effect, because the manual
 * calls them hints or the device has no such resource. Limits of registers bound the number that cuFuncGetAttribute reports. Options that would
 * change results or bind symbols are refused where they can't be honoured. */
#include "api/image.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "compile/compile.h"
#include "kernel/fault.h"
#include "object/device.h"

/* The parsed options, and where results go. Indices are into the arrays; -1: not asked for. */
struct request {
    struct mr_program_options program;
    int wall_time, info_size, error_size, threads, target;
};

static unsigned number(void *value)
{
    return (unsigned)(uintptr_t)value;
}

/* The threads of a block that are compiled for: whole warps, as many as a block can have. */
static unsigned whole_warps(unsigned threads)
{
    return threads == 0 ? 32 : threads > 1024 - 31 ? 1024 : (threads + 31) / 32 * 32;
}

static CUresult refuse_option(const char *entry, int option)
{
    mr_log(MR_LOG_INFO, "%s: the option %d of the just-in-time compiler is not supported", entry, option);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult read_option(const char *entry, struct request *request, int option, void *value, int index)
{
    struct mr_program_options *program = &request->program;
    switch (option) {
    case CU_JIT_WALL_TIME: request->wall_time = index; break;
    case CU_JIT_INFO_LOG_BUFFER: program->info_log = value; break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        request->info_size = index;
        program->info_room = number(value);
        break;
    case CU_JIT_ERROR_LOG_BUFFER: program->error_log = value; break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        request->error_size = index;
        program->error_room = number(value);
        break;
    case CU_JIT_OPTIMIZATION_LEVEL:
        program->optimisation = number(value) < 4 ? number(value) : 4;
        break;
    case CU_JIT_GENERATE_DEBUG_INFO: program->debug = number(value) != 0; break;
    case CU_JIT_GENERATE_LINE_INFO: program->line_info = number(value) != 0; break;
    case CU_JIT_LOG_VERBOSE: program->verbose = number(value) != 0; break;
    case CU_JIT_FALLBACK_STRATEGY:
        if (number(value) > CU_PREFER_BINARY)
            return mr_bad_value(entry, "there is no fallback strategy %u", number(value));
        break;
    case CU_JIT_CACHE_MODE:
        if (number(value) > CU_JIT_CACHE_OPTION_CA)
            return mr_bad_value(entry, "there is no cache mode %u", number(value));
        break;
    case CU_JIT_MAX_REGISTERS:
        if (number(value) == 0)
            return mr_bad_value(entry, "no registers at all for a thread");
        program->limits.registers = number(value) <= 255 ? number(value) : 0;
        break;
    case CU_JIT_THREADS_PER_BLOCK:
        request->threads = index;
        program->limits.block_threads = whole_warps(number(value));
        break;
    case CU_JIT_OVERRIDE_DIRECTIVE_VALUES: program->limits.override = number(value) != 0; break;
    case CU_JIT_TARGET: request->target = index; break;
    case CU_JIT_MAX_THREADS_PER_BLOCK: program->limits.most_threads = number(value); break;
    case CU_JIT_MIN_CTA_PER_SM: program->limits.blocks = number(value); break;
    case CU_JIT_TARGET_FROM_CUCONTEXT:
    case CU_JIT_NEW_SM3X_OPT:
    case CU_JIT_FAST_COMPILE:
    case CU_JIT_POSITION_INDEPENDENT_CODE:
    case CU_JIT_SPLIT_COMPILE:
    case CU_JIT_LTO:
    case CU_JIT_FTZ:        /* these four are for the link-time optimiser's input only; PTX states its own rounding */
    case CU_JIT_PREC_DIV:
    case CU_JIT_PREC_SQRT:
    case CU_JIT_FMA:
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_KERNEL_COUNT:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_COUNT:
    case CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES:
        break;
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
        return refuse_option(entry, option);
    default:
        return mr_bad_value(entry, "there is no option %d of the just-in-time compiler", option);
    }
    return CUDA_SUCCESS;
}

static CUresult read_options(const char *entry, const struct mr_image_options *options, struct request *request)
{
    request->wall_time = request->info_size = request->error_size = request->threads = request->target = -1;
    if (options->count == 0)
        return CUDA_SUCCESS;
    if (!options->names || !options->values)
        return mr_bad_value(entry, "%u options, but no arrays of them", options->count);
    for (unsigned i = 0; i < options->count; i++) {
        CUresult status = read_option(entry, request, (int)options->names[i], options->values[i], (int)i);
        if (status != CUDA_SUCCESS)
            return status;
    }
    if (request->threads >= 0 && request->target >= 0)
        return mr_bad_value(entry, "CU_JIT_TARGET and CU_JIT_THREADS_PER_BLOCK exclude each other");
    struct mr_program_options *program = &request->program;
    if (!program->info_log)
        program->info_room = 0;
    if (!program->error_log)
        program->error_room = 0;
    return CUDA_SUCCESS;
}

CUresult mr_image_options_check(const char *entry, const struct mr_image_options *options)
{
    struct request request = { .program = { .optimisation = 4 } };
    return read_options(entry, options, &request);
}

static void write_back(const struct mr_image_options *options, const struct request *request, uint64_t nanoseconds)
{
    if (request->info_size >= 0)
        options->values[request->info_size] = (void *)(uintptr_t)request->program.info_used;
    if (request->error_size >= 0)
        options->values[request->error_size] = (void *)(uintptr_t)request->program.error_used;
    if (request->threads >= 0)
        options->values[request->threads] = (void *)(uintptr_t)request->program.limits.block_threads;
    if (request->wall_time >= 0) {
        float milliseconds = (float)((double)nanoseconds / 1e6);
        uint32_t bits;
        memcpy(&bits, &milliseconds, sizeof bits);
        options->values[request->wall_time] = (void *)(uintptr_t)bits;
    }
}

/* Reads the options of a request, and makes its logs empty. */
static CUresult begin_request(const char *entry, const struct mr_device *device, const struct mr_image_options *options,
                              struct request *request)
{
    *request = (struct request){ .program = { .optimisation = 4 } };
    struct mr_program_options *program = &request->program;
    CUresult status = read_options(entry, options, request);
    if (status != CUDA_SUCCESS)
        return status;
    /* Logs are strings whatever happens, also where the load writes nothing. */
    if (program->info_room)
        program->info_log[0] = 0;
    if (program->error_room)
        program->error_log[0] = 0;
    program->capability = device->capability_major * 10 + device->capability_minor;
    return CUDA_SUCCESS;
}

static CUresult load_image(const char *entry, const struct mr_device *device, const void *image, size_t size, bool partial,
                           const struct mr_image_options *options, struct mr_program **out)
{
    struct request request;
    if (!image)
        return mr_bad_value(entry, "the image is NULL");
    CUresult status = begin_request(entry, device, options, &request);
    if (status != CUDA_SUCCESS)
        return status;
    request.program.partial = partial;
    uint64_t start = mr_clock_ns();
    mr_fault_launch_near();
    status = mr_program_load(image, size, &request.program, out);
    write_back(options, &request, mr_clock_ns() - start);
    if (status != CUDA_SUCCESS)
        mr_log(MR_LOG_INFO, "%s: the image was refused with status %d", entry, (int)status);
    return status;
}

CUresult mr_image_load(const char *entry, const struct mr_device *device, const void *image, size_t size,
                       const struct mr_image_options *options, struct mr_program **out)
{
    return load_image(entry, device, image, size, false, options, out);
}

CUresult mr_image_check(const char *entry, const struct mr_device *device, const void *image, size_t size, bool partial,
                        const struct mr_image_options *options)
{
    struct mr_program *program;
    CUresult status = load_image(entry, device, image, size, partial, options, &program);
    if (status == CUDA_SUCCESS)
        mr_program_drop(program);
    return status;
}

CUresult mr_image_join(const char *entry, const struct mr_device *device, const struct mr_program_image *images, unsigned count,
                       const struct mr_image_options *options, char **text)
{
    struct request request;
    CUresult status = begin_request(entry, device, options, &request);
    if (status != CUDA_SUCCESS)
        return status;
    uint64_t start = mr_clock_ns();
    status = mr_program_join(images, count, &request.program, text);
    write_back(options, &request, mr_clock_ns() - start);
    return status;
}

/* The whole file with a zero byte after it (PTX text needs one), or NULL. */
static char *read_file(const char *path, size_t *size, CUresult *status)
{
    char *data = NULL;
    size_t used = 0, room = 0;
    *status = CUDA_ERROR_FILE_NOT_FOUND;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    for (;;) {
        if (!mr_array_reserve((void **)&data, &room, used + 65536, 1)) {
            *status = CUDA_ERROR_OUT_OF_MEMORY;
            goto failed;
        }
        size_t got = fread(data + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
    }
    if (ferror(file)) {
        if (errno == EISDIR) /* odd, but what hardware answers */
            *status = CUDA_ERROR_OUT_OF_MEMORY;
        goto failed;
    }
    fclose(file);
    data[used] = 0;
    *size = used;
    return data;
failed:;
    int error = errno;
    fclose(file);
    mr_free(data);
    errno = error;
    return NULL;
}

CUresult mr_image_read_file(const char *entry, const char *path, char **data, size_t *size)
{
    CUresult status;
    if (!path || !*path)
        return mr_bad_value(entry, "there is no file name");
    *data = read_file(path, size, &status);
    if (*data)
        return CUDA_SUCCESS;
    mr_log(MR_LOG_INFO, "%s: cannot read '%s': %s", entry, path, strerror(errno));
    return status;
}

CUresult mr_image_load_file(const char *entry, const struct mr_device *device, const char *path,
                            const struct mr_image_options *options, struct mr_program **out)
{
    char *data;
    size_t size;
    CUresult status = mr_image_read_file(entry, path, &data, &size);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_image_load(entry, device, data, size, options, out);
    mr_free(data);
    return status;
}
