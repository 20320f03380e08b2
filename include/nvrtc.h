/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of libnvrtc, run-time compilation of CUDA C++: what programs include.
 *
 * Versions 12 and 13 of the library share it. docs/nvrtc.md tells what Millrace's does with each option. A program handle may be used by one thread
 * at a time; different programs compile at once. */
#ifndef __NVRTC_H__
#define __NVRTC_H__

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7, /* here: the compiler is not installed */
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
    NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12,
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
    NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14,
    NVRTC_ERROR_PCH_CREATE = 15,
    NVRTC_ERROR_CANCELLED = 16,
    NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

/* The status's name; a text of its own for numbers that are no status. */
const char *nvrtcGetErrorString(nvrtcResult result);

nvrtcResult nvrtcVersion(int *major, int *minor);

/* The architectures for -arch, as numbers (80 for sm_80), oldest first. */
nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs);
nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs);

/* Copies everything. `name` (may be NULL) is what messages call the source; headers[i] is the text of what #include finds as includeNames[i]. */
nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int numHeaders, const char *const *headers,
    const char *const *includeNames);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog);

/* Compiles, anew if it was compiled before. The program's log has the messages of either outcome. */
nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char *const *options);

/* Results: sizes in bytes, with the closing NUL for PTX and log. A cubin's size is 0 unless -arch=sm_… was given; LTO and OptiX code are not
 * made, and their sizes are 0. */
nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet);
nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin);
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram prog, size_t *LTOIRSizeRet);
nvrtcResult nvrtcGetLTOIR(nvrtcProgram prog, char *LTOIR);
nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram prog, size_t *optixirSizeRet);
nvrtcResult nvrtcGetOptiXIR(nvrtcProgram prog, char *optixir);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log);

/* Names of kernels and variables as C++ writes them, and, after the compilation, as the PTX does. The lowered name belongs to the program. */
nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression, const char **lowered_name);

/* Precompiled headers. */
nvrtcResult nvrtcGetPCHHeapSize(size_t *ret);
nvrtcResult nvrtcSetPCHHeapSize(size_t size);
nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram prog);
nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram prog, size_t *size);

/* `callback(payload, NULL)` is called while a compilation goes on; anything but 0 ends it with NVRTC_ERROR_CANCELLED. */
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram prog, int (*callback)(void *, void *), void *payload);

#ifdef __cplusplus
}
#endif

/* nvrtcGetTypeName, for C++ programs that ask for it. */
#if defined(__cplusplus) && defined(NVRTC_GET_TYPE_NAME) && NVRTC_GET_TYPE_NAME
#include <cxxabi.h>
#include <string>
#include <typeinfo>

inline nvrtcResult nvrtcGetTypeName(const std::type_info &info, std::string *result)
{
    int status = 0;
    char *name = abi::__cxa_demangle(info.name(), nullptr, nullptr, &status);
    if (status != 0)
        return NVRTC_ERROR_INTERNAL_ERROR;
    *result = name;
    free(name);
    return NVRTC_SUCCESS;
}

/* In a wrapper, so that const and references are kept. */
template <class T> struct millrace_type_name {};

template <class T> nvrtcResult nvrtcGetTypeName(std::string *result)
{
    nvrtcResult status = nvrtcGetTypeName(typeid(millrace_type_name<T>), result);
    if (status == NVRTC_SUCCESS) {
        std::string::size_type begin = result->find('<'), end = result->rfind('>');
        *result = result->substr(begin + 1, end - begin - 1);
    }
    return status;
}
#endif

#endif
