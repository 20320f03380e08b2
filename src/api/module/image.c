/* SPDX-License-Identifier: Apache-2.0 */
/* Images on their way in: from memory or a file, with the options of the just-in-time compiler.
 *
 * Options come as two arrays; a value is either the number itself in the pointer's bits or a pointer to a buffer. Those
 * that steer NVIDIA's code generator towards its chips (cache modes) say nothing about the result and are accepted
 * without effect, because the manual calls them hints or the device has no such resource. A target must be one whose
 * code the device runs. Limits of registers bound the number that cuFuncGetAttribute reports. Options that would change
 * results or bind symbols are refused where they can't be honoured. */
#include "api/module/image.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/clock.h"
#include "compile/compile.h"
#include "kernel/fault.h"
#include "object/device.h"
#include "prepare/check.h"

/* The parsed options, and where results go. Indices are into the arrays; -1: not asked for. */
struct request {
    struct mr_program_options program;
    int wall_time, info_size, error_size, threads, target; /* target: index of CU_JIT_TARGET */
    unsigned chip;                                          /* what CU_JIT_TARGET says */
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

/* The chips that CU_JIT_TARGET may name. */
static bool is_target(unsigned target)
{
    static const unsigned targets[] = {
        CU_TARGET_COMPUTE_30,   CU_TARGET_COMPUTE_32,   CU_TARGET_COMPUTE_35,   CU_TARGET_COMPUTE_37,
        CU_TARGET_COMPUTE_50,   CU_TARGET_COMPUTE_52,   CU_TARGET_COMPUTE_53,   CU_TARGET_COMPUTE_60,
        CU_TARGET_COMPUTE_61,   CU_TARGET_COMPUTE_62,   CU_TARGET_COMPUTE_70,   CU_TARGET_COMPUTE_72,
        CU_TARGET_COMPUTE_75,   CU_TARGET_COMPUTE_80,   CU_TARGET_COMPUTE_86,   CU_TARGET_COMPUTE_87,
        CU_TARGET_COMPUTE_89,   CU_TARGET_COMPUTE_90,   CU_TARGET_COMPUTE_100,  CU_TARGET_COMPUTE_103,
        CU_TARGET_COMPUTE_110,  CU_TARGET_COMPUTE_120,  CU_TARGET_COMPUTE_121,  CU_TARGET_COMPUTE_90A,
        CU_TARGET_COMPUTE_100A, CU_TARGET_COMPUTE_103A, CU_TARGET_COMPUTE_110A, CU_TARGET_COMPUTE_120A,
        CU_TARGET_COMPUTE_121A, CU_TARGET_COMPUTE_100F, CU_TARGET_COMPUTE_103F, CU_TARGET_COMPUTE_110F,
        CU_TARGET_COMPUTE_120F, CU_TARGET_COMPUTE_121F,
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i] == target)
            return true;
    return false;
}

/* The capability that a target names, e.g. 90 for CU_TARGET_COMPUTE_90A. */
static unsigned capability_of(unsigned target)
{
    return target & ~(unsigned)(CU_COMPUTE_ACCELERATED_TARGET_BASE | CU_COMPUTE_FAMILY_TARGET_BASE);
}

/* Code for a chip runs on those of the same major capability that are not below it; code with accelerated features on
 * that chip alone. */
static bool runs_on(unsigned target, const struct mr_device *device)
{
    bool accelerated = (target & CU_COMPUTE_ACCELERATED_TARGET_BASE) != 0;
    unsigned major = capability_of(target) / 10, minor = capability_of(target) % 10;
    return major == (unsigned)device->capability_major &&
           (accelerated ? minor == (unsigned)device->capability_minor : minor <= (unsigned)device->capability_minor);
}

static CUresult refuse_option(int option)
{
    mr_call_log(MR_LOG_INFO, "the option %d of the just-in-time compiler is not supported", option);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Options that steer what this compiler does not have. */
static bool has_no_effect(int option)
{
    switch (option) {
    case CU_JIT_TARGET_FROM_CUCONTEXT:
    case CU_JIT_NEW_SM3X_OPT:
    case CU_JIT_FAST_COMPILE:
    case CU_JIT_POSITION_INDEPENDENT_CODE:
    case CU_JIT_SPLIT_COMPILE:
    case CU_JIT_LTO:
    case CU_JIT_FTZ: /* these four are for the link-time optimiser's input only; PTX states its own rounding */
    case CU_JIT_PREC_DIV:
    case CU_JIT_PREC_SQRT:
    case CU_JIT_FMA:
    case CU_JIT_REFERENCED_KERNEL_NAMES:
    case CU_JIT_REFERENCED_KERNEL_COUNT:
    case CU_JIT_REFERENCED_VARIABLE_NAMES:
    case CU_JIT_REFERENCED_VARIABLE_COUNT:
    case CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES:
        return true;
    default:
        return false;
    }
}

static CUresult read_option(struct request *request, int option, void *value, int index)
{
    struct mr_program_options *program = &request->program;
    switch (option) {
    case CU_JIT_WALL_TIME:
        request->wall_time = index;
        break;
    case CU_JIT_INFO_LOG_BUFFER:
        program->info_log = value;
        break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        request->info_size = index;
        program->info_room = number(value);
        break;
    case CU_JIT_ERROR_LOG_BUFFER:
        program->error_log = value;
        break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        request->error_size = index;
        program->error_room = number(value);
        break;
    case CU_JIT_OPTIMIZATION_LEVEL:
        program->optimisation = number(value) < 4 ? number(value) : 4;
        program->level_is_said = true;
        break;
    case CU_JIT_GENERATE_DEBUG_INFO:
        program->debug = number(value) != 0;
        break;
    case CU_JIT_GENERATE_LINE_INFO:
        program->line_info = number(value) != 0;
        break;
    case CU_JIT_LOG_VERBOSE:
        program->verbose = number(value) != 0;
        break;
    case CU_JIT_FALLBACK_STRATEGY:
        if (number(value) > CU_PREFER_BINARY)
            return mr_bad_value("there is no fallback strategy %u", number(value));
        break;
    case CU_JIT_CACHE_MODE:
        if (number(value) > CU_JIT_CACHE_OPTION_CA)
            return mr_bad_value("there is no cache mode %u", number(value));
        break;
    case CU_JIT_MAX_REGISTERS:
        if (number(value) == 0)
            return mr_bad_value("the limit on registers is 0");
        program->limits.registers = number(value) <= 255 ? number(value) : 0;
        break;
    case CU_JIT_THREADS_PER_BLOCK:
        request->threads = index;
        program->limits.block_threads = whole_warps(number(value));
        break;
    case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
        program->limits.override = number(value) != 0;
        break;
    case CU_JIT_TARGET:
        if (!is_target(number(value)))
            return mr_bad_value("there is no target %u for CU_JIT_TARGET", number(value));
        request->target = index;
        request->chip = number(value);
        break;
    case CU_JIT_MAX_THREADS_PER_BLOCK:
        program->limits.most_threads = number(value);
        break;
    case CU_JIT_MIN_CTA_PER_SM:
        program->limits.blocks = number(value);
        break;
    case CU_JIT_GLOBAL_SYMBOL_NAMES:
    case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
        return refuse_option(option);
    default:
        if (!has_no_effect(option))
            return mr_bad_value("there is no option %d of the just-in-time compiler", option);
    }
    return CUDA_SUCCESS;
}

static CUresult read_options(const struct mr_image_options *options, struct request *request)
{
    request->wall_time = request->info_size = request->error_size = request->threads = request->target = -1;
    if (options->count == 0)
        return CUDA_SUCCESS;
    if (!options->names || !options->values)
        return mr_bad_value("%u options, but no arrays of them", options->count);
    for (unsigned i = 0; i < options->count; i++) {
        CUresult status = read_option(request, (int)options->names[i], options->values[i], (int)i);
        if (status != CUDA_SUCCESS)
            return status;
    }
    if (request->threads >= 0 && request->target >= 0)
        return mr_bad_value("CU_JIT_TARGET and CU_JIT_THREADS_PER_BLOCK exclude each other");
    struct mr_program_options *program = &request->program;
    if (!program->info_log)
        program->info_room = 0;
    if (!program->error_log)
        program->error_room = 0;
    return CUDA_SUCCESS;
}

CUresult mr_image_options_check(const struct mr_image_options *options)
{
    struct request request = {.program = {.optimisation = 4}};
    return read_options(options, &request);
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
static CUresult begin_request(const struct mr_device *device, const struct mr_image_options *options,
                              struct request *request)
{
    *request = (struct request){.program = {.optimisation = 4}};
    struct mr_program_options *program = &request->program;
    CUresult status = read_options(options, request);
    if (status != CUDA_SUCCESS)
        return status;
    /* Logs are strings whatever happens, also where the load writes nothing. */
    if (program->info_room)
        program->info_log[0] = 0;
    if (program->error_room)
        program->error_log[0] = 0;
    program->capability = device->capability_major * 10 + device->capability_minor;
    program->takes_newer = device->capability_is_ours && request->target < 0;
    return CUDA_SUCCESS;
}

/* The reason, for the log and for the program's. */
static void refuse_target(struct request *request, const struct mr_device *device)
{
    struct mr_program_options *program = &request->program;
    char text[128];
    snprintf(text, sizeof text, "CU_JIT_TARGET asks for code for compute capability %u.%u, and the device is %d.%d",
             capability_of(request->chip) / 10, capability_of(request->chip) % 10, device->capability_major,
             device->capability_minor);
    mr_call_log(MR_LOG_INFO, "%s", text);
    if (program->error_room == 0)
        return;
    snprintf(program->error_log, program->error_room, "error: %s\n", text);
    program->error_used = strlen(program->error_log) + 1;
}

static CUresult load_image(const struct mr_device *device, const void *image, size_t size, bool partial,
                           const struct mr_image_options *options, bool runs, struct mr_program **out)
{
    struct request request;
    if (!image)
        return mr_bad_value("the image is NULL");
    CUresult status = begin_request(device, options, &request);
    if (status != CUDA_SUCCESS)
        return status;
    /* What is only linked may be for any chip; what is loaded runs here. */
    if (runs && request.target >= 0 && !runs_on(request.chip, device)) {
        refuse_target(&request, device);
        write_back(options, &request, 0);
        return CUDA_ERROR_INVALID_SOURCE;
    }
    request.program.partial = partial;
    uint64_t start = mr_clock_ns();
    mr_fault_launch_near();
    status = mr_program_load(image, size, &request.program, out);
    write_back(options, &request, mr_clock_ns() - start);
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_INFO, "the image was refused with status %d", (int)status);
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU && runs)
        mr_machine_code_tell(image, size);
    return status;
}

CUresult mr_image_load(const struct mr_device *device, const void *image, size_t size,
                       const struct mr_image_options *options, struct mr_program **out)
{
    return load_image(device, image, size, false, options, true, out);
}

CUresult mr_image_check(const struct mr_device *device, const void *image, size_t size, bool partial,
                        const struct mr_image_options *options)
{
    struct mr_program *program;
    CUresult status = load_image(device, image, size, partial, options, false, &program);
    if (status == CUDA_SUCCESS)
        mr_program_drop(program);
    return status;
}

CUresult mr_image_join(const struct mr_device *device, const struct mr_program_image *images, unsigned count,
                       const struct mr_image_options *options, char **text, unsigned *capability)
{
    struct request request;
    CUresult status = begin_request(device, options, &request);
    if (status != CUDA_SUCCESS)
        return status;
    uint64_t start = mr_clock_ns();
    status = mr_program_join(images, count, &request.program, text);
    *capability = (unsigned)request.program.capability;
    write_back(options, &request, mr_clock_ns() - start);
    return status;
}

/* The whole file with a zero byte after it (PTX text needs one), or NULL. */
static char *read_file(const char *path, size_t *size, CUresult *status)
{
    char *data = NULL;
    size_t used = 0, room = 0;
    struct stat about;
    *status = CUDA_ERROR_FILE_NOT_FOUND;
    /* A pipe is refused, as by hardware, but without waiting until something is written to it. */
    if (stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) {
        errno = ESPIPE;
        return NULL;
    }
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    for (;;) {
        if (!mr_array_reserve((void **)&data, &room, used + 65536, 1)) {
            *status = CUDA_ERROR_OUT_OF_MEMORY;
            goto failed;
        }
        size_t rest = room - used - 1, got = fread(data + used, 1, rest, file);
        used += got;
        if (got < rest) /* the end of the file, or an error: no reading after either */
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

CUresult mr_image_read_file(const char *path, char **data, size_t *size)
{
    CUresult status;
    if (!path || !*path)
        return mr_bad_value("there is no file name");
    *data = read_file(path, size, &status);
    if (*data)
        return CUDA_SUCCESS;
    mr_call_log(MR_LOG_INFO, "cannot read '%s': %s", path, strerror(errno));
    return status;
}

CUresult mr_image_load_file(const struct mr_device *device, const char *path, const struct mr_image_options *options,
                            struct mr_program **out)
{
    char *data;
    size_t size;
    CUresult status = mr_image_read_file(path, &data, &size);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_image_load(device, data, size, options, out);
    mr_free(data);
    return status;
}
