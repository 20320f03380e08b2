/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC's entry points: arguments are checked, results are copied out. Statuses are those that NVIDIA's library gives
 * to the same calls.
 *
 * The library is built twice, as version 12 and 13, which differ in the number that nvrtcVersion tells and in two old
 * names of version 12. */
#include <nvrtc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/log.h"
#include "libs/nvrtc/program.h"
#include "ptx/arch.h"
#include "ptx/spelling.h"

#define EXPORT __attribute__((visibility("default")))

static _Atomic size_t pch_heap_size = (size_t)256 << 20;

static const char *const error_names[] = {
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    "NVRTC_ERROR_PCH_CREATE",
    "NVRTC_ERROR_CANCELLED",
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
};

static nvrtcResult bad_input(const char *call, const char *what)
{
    mr_log(MR_LOG_INFO, "%s: %s", call, what);
    return NVRTC_ERROR_INVALID_INPUT;
}

static nvrtcResult no_program(const char *call)
{
    mr_log(MR_LOG_INFO, "%s: there is no program", call);
    return NVRTC_ERROR_INVALID_PROGRAM;
}

EXPORT const char *nvrtcGetErrorString(nvrtcResult result)
{
    unsigned number = (unsigned)result;
    return number < sizeof error_names / sizeof *error_names ? error_names[number] : "NVRTC_ERROR unknown";
}

EXPORT nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return bad_input("nvrtcVersion", "a pointer is NULL");
    *major = MR_NVRTC_MAJOR;
    *minor = MR_NVRTC_MINOR;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)
{
    if (!numArchs)
        return bad_input("nvrtcGetNumSupportedArchs", "numArchs is NULL");
    size_t count;
    mr_ptx_arch_all(&count);
    *numArchs = (int)count;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)
{
    size_t count;
    const int *known = mr_ptx_arch_all(&count);
    if (!supportedArchs)
        return bad_input("nvrtcGetSupportedArchs", "supportedArchs is NULL");
    memcpy(supportedArchs, known, count * sizeof *known);
    return NVRTC_SUCCESS;
}

/* Programs. */

static char *copy(const char *text)
{
    return mr_memdup(text, strlen(text) + 1);
}

/* A source or header, in a spelling that clang takes. */
static char *copy_spelt(const char *text)
{
    struct mr_text copied = {.data = NULL};
    mr_text_add(&copied, text, strlen(text));
    (void)mr_spelling_mend(&copied);
    if (copied.failed)
        mr_text_clear(&copied);
    return copied.data;
}

static void free_program(struct _nvrtcProgram *program)
{
    mr_program_reset(program);
    for (size_t i = 0; i < program->header_count; i++) {
        mr_free(program->headers[i].name);
        mr_free(program->headers[i].text);
    }
    for (size_t i = 0; i < program->name_count; i++)
        mr_free(program->names[i].expression);
    mr_free(program->headers);
    mr_free(program->names);
    mr_free(program->source);
    mr_free(program->name);
    mr_free(program);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int numHeaders,
                                      const char *const *headers, const char *const *includeNames)
{
    static const char call[] = "nvrtcCreateProgram";
    pthread_once(&once, mr_log_setup);
    if (!prog)
        return no_program(call);
    if (!src)
        return bad_input(call, "src is NULL");
    if (numHeaders < 0 || (numHeaders && (!headers || !includeNames)))
        return bad_input(call, "numHeaders is negative, or headers or includeNames is NULL");
    for (int i = 0; i < numHeaders; i++) {
        if (!headers[i] || !includeNames[i])
            return bad_input(call, "a header or its name is NULL");
        if (!mr_folder_name_good(includeNames[i])) {
            mr_log(MR_LOG_INFO, "%s: the header name \"%s\" is absolute, empty or too far up", call, includeNames[i]);
            return NVRTC_ERROR_INVALID_INPUT;
        }
    }
    struct _nvrtcProgram *program = mr_calloc(1, sizeof *program);
    if (!program)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    program->source = copy_spelt(src);
    program->name = copy(name && *name ? name : "default_program");
    program->headers = mr_calloc((size_t)numHeaders, sizeof *program->headers);
    bool good = program->source && program->name && program->headers;
    for (int i = 0; good && i < numHeaders; i++) {
        struct mr_header *header = &program->headers[program->header_count++];
        header->name = copy(includeNames[i]);
        header->text = copy_spelt(headers[i]);
        good = header->name && header->text;
    }
    if (!good) {
        free_program(program);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    *prog = program;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
{
    if (!prog || !*prog)
        return no_program("nvrtcDestroyProgram");
    free_program(*prog);
    *prog = NULL;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options)
{
    static const nvrtcResult results[] = {
        [MR_MADE] = NVRTC_SUCCESS,
        [MR_MADE_NO_MEMORY] = NVRTC_ERROR_OUT_OF_MEMORY,
        [MR_MADE_BAD_OPTION] = NVRTC_ERROR_INVALID_OPTION,
        [MR_MADE_BAD_SOURCE] = NVRTC_ERROR_COMPILATION,
        [MR_MADE_NO_COMPILER] = NVRTC_ERROR_BUILTIN_OPERATION_FAILURE,
        [MR_MADE_CANCELLED] = NVRTC_ERROR_CANCELLED,
    };
    if (!prog)
        return no_program("nvrtcCompileProgram");
    if (numOptions < 0)
        return bad_input("nvrtcCompileProgram", "numOptions is negative");
    if (numOptions && !options) {
        mr_log(MR_LOG_INFO, "nvrtcCompileProgram: options is NULL");
        return NVRTC_ERROR_INVALID_OPTION;
    }
    return results[mr_program_compile(prog, numOptions, options)];
}

/* Results. */

static nvrtcResult give_size(const char *call, nvrtcProgram prog, size_t *size, size_t value)
{
    if (!prog)
        return no_program(call);
    if (!size)
        return bad_input(call, "the size's pointer is NULL");
    *size = value;
    return NVRTC_SUCCESS;
}

static nvrtcResult give(const char *call, nvrtcProgram prog, char *to, const struct mr_text *text, bool ended)
{
    if (!prog)
        return no_program(call);
    if (!to)
        return bad_input(call, "the buffer is NULL");
    memcpy(to, mr_text_chars(text), text->length + (ended ? 1 : 0));
    return NVRTC_SUCCESS;
}

static const struct mr_text nothing;

EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
{
    return give_size(__func__, prog, ptxSizeRet, prog ? prog->ptx.length + 1 : 0);
}

EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
{
    return give(__func__, prog, ptx, prog ? &prog->ptx : NULL, true);
}

EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
{
    return give_size(__func__, prog, cubinSizeRet, prog ? prog->cubin.length : 0);
}

EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
{
    return give(__func__, prog, cubin, prog ? &prog->cubin : NULL, false);
}

EXPORT nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t *LTOIRSizeRet)
{
    return give_size(__func__, prog, LTOIRSizeRet, prog ? prog->link_time.length : 0);
}

EXPORT nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char *LTOIR)
{
    return give(__func__, prog, LTOIR, prog ? &prog->link_time : NULL, false);
}

EXPORT nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram prog, size_t *optixirSizeRet)
{
    return give_size(__func__, prog, optixirSizeRet, 0);
}

EXPORT nvrtcResult nvrtcGetOptiXIR(nvrtcProgram prog, char *optixir)
{
    return give(__func__, prog, optixir, &nothing, false);
}

#if MR_NVRTC_MAJOR < 13
/* Old names of version 12, for programs that were linked with them. */
EXPORT nvrtcResult nvrtcGetNVVMSize(nvrtcProgram prog, size_t *nvvmSizeRet);
EXPORT nvrtcResult nvrtcGetNVVM(nvrtcProgram prog, char *nvvm);

nvrtcResult nvrtcGetNVVMSize(nvrtcProgram prog, size_t *nvvmSizeRet)
{
    return give_size(__func__, prog, nvvmSizeRet, 0);
}

nvrtcResult nvrtcGetNVVM(nvrtcProgram prog, char *nvvm)
{
    return give(__func__, prog, nvvm, &nothing, false);
}
#endif

EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)
{
    return give_size(__func__, prog, logSizeRet, prog ? prog->log.length + 1 : 0);
}

EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
{
    return give(__func__, prog, log, prog ? &prog->log : NULL, true);
}

/* Names. */

EXPORT nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression)
{
    if (!prog)
        return no_program(__func__);
    if (!name_expression)
        return bad_input(__func__, "name_expression is NULL");
    if (prog->compiled) {
        mr_log(MR_LOG_INFO, "%s: the program has been compiled", __func__);
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    }
    for (size_t i = 0; i < prog->name_count; i++)
        if (strcmp(prog->names[i].expression, name_expression) == 0)
            return NVRTC_SUCCESS;
    if (!mr_array_reserve((void **)&prog->names, &prog->name_room, prog->name_count + 1, sizeof *prog->names))
        return NVRTC_ERROR_OUT_OF_MEMORY;
    struct mr_name *name = &prog->names[prog->name_count];
    *name = (struct mr_name){.expression = copy(name_expression)};
    if (!name->expression)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    prog->name_count++;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression, const char **lowered_name)
{
    if (!prog)
        return no_program(__func__);
    if (!name_expression || !lowered_name)
        return bad_input(__func__, "a pointer is NULL");
    if (!prog->good) {
        mr_log(MR_LOG_INFO, "%s: the program has not been compiled with success", __func__);
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    }
    for (size_t i = 0; i < prog->name_count; i++)
        if (strcmp(prog->names[i].expression, name_expression) == 0 && prog->names[i].lowered) {
            *lowered_name = prog->names[i].lowered;
            return NVRTC_SUCCESS;
        }
    mr_log(MR_LOG_INFO, "%s: \"%s\" was not added before the compilation", __func__, name_expression);
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* Precompiled headers, of which none are made: the size is kept, and a program says that none was attempted. */

EXPORT nvrtcResult nvrtcGetPCHHeapSize(size_t *ret)
{
    if (!ret)
        return bad_input(__func__, "ret is NULL");
    *ret = atomic_load(&pch_heap_size);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcSetPCHHeapSize(size_t size)
{
    atomic_store(&pch_heap_size, size);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram prog)
{
    return prog ? NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED : no_program(__func__);
}

EXPORT nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram prog, size_t *size)
{
    return give_size(__func__, prog, size, 0);
}

EXPORT nvrtcResult nvrtcSetFlowCallback(nvrtcProgram prog, int (*callback)(void *, void *), void *payload)
{
    if (!prog)
        return no_program(__func__);
    if (!callback)
        return bad_input(__func__, "callback is NULL");
    prog->cancel = callback;
    prog->cancel_data = payload;
    return NVRTC_SUCCESS;
}
