/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of the PTX Compiler API ("PTX Compiler APIs", sections 4 and 5): what programs include.
 *
 * NVIDIA's library makes machine code of PTX, in the program and without a driver. Millrace's checks the PTX as its
 * driver does and hands it on in a container that the driver loads. A handle is used by one thread at a time;
 * different handles compile at once. Link with -lnvptxcompiler_static.
 *
 * Every call that gets a handle that is NULL answers NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE, and one that gets
 * another null pointer NVPTXCOMPILE_ERROR_INVALID_INPUT. */
#ifndef nvPTXCompiler_INCLUDED
#define nvPTXCompiler_INCLUDED

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvPTXCompiler *nvPTXCompilerHandle;

typedef enum {
    NVPTXCOMPILE_SUCCESS = 0,
    NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE = 1,
    NVPTXCOMPILE_ERROR_INVALID_INPUT = 2,
    NVPTXCOMPILE_ERROR_COMPILATION_FAILURE = 3,
    NVPTXCOMPILE_ERROR_INTERNAL = 4,
    NVPTXCOMPILE_ERROR_OUT_OF_MEMORY = 5,
    NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE = 6, /* nothing has been compiled */
    NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION = 7,
    NVPTXCOMPILE_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 8, /* never given here */
    NVPTXCOMPILE_ERROR_CANCELLED = 9,                /* by the callback */
    NVPTXCOMPILE_PARSE_ONLY_SUCCESS = 10             /* a virtual architecture was named: the PTX is right, and there is no program */
} nvPTXCompileResult;

/* The version of the interface, that of the toolkit. */
nvPTXCompileResult nvPTXCompilerGetVersion(unsigned int *major, unsigned int *minor);

/* How many versions of PTX are known, and which: pairs of major and minor, oldest first. `versions` has room for all. */
nvPTXCompileResult nvPTXCompilerGetNumSupportedVersions(int *numVersions);
nvPTXCompileResult nvPTXCompilerGetSupportedVersions(int (*versions)[2]);

/* How many architectures are known, and which: 80 for sm_80, oldest first. `supportedArchs` has room for all. */
nvPTXCompileResult nvPTXCompilerGetNumSupportedArchs(int *numArchs);
nvPTXCompileResult nvPTXCompilerGetSupportedArchs(int *supportedArchs);

/* Makes a compiler with a copy of the PTX, which has `ptxCodeLen` characters and may end in NUL before.
 * NVPTXCOMPILE_ERROR_INVALID_INPUT, and *compiler as it was, if there are none. */
nvPTXCompileResult nvPTXCompilerCreate(nvPTXCompilerHandle *compiler, size_t ptxCodeLen, const char *ptxCode);

/* Frees the compiler with all that it made, and sets *compiler to NULL. */
nvPTXCompileResult nvPTXCompilerDestroy(nvPTXCompilerHandle *compiler);

/* Compiles with the options of ptxas, a word each (docs/compilers.md lists them). It may be called again: what was made
 * before is dropped. NVPTXCOMPILE_ERROR_COMPILATION_FAILURE for an option or PTX that is wrong, and the error log says
 * which. */
nvPTXCompileResult nvPTXCompilerCompile(nvPTXCompilerHandle compiler, int numCompileOptions, const char *const *compileOptions);

/* The program, which cuModuleLoadData takes, and its size in bytes.
 * NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE if the last compilation has made none, or there was none. */
nvPTXCompileResult nvPTXCompilerGetCompiledProgramSize(nvPTXCompilerHandle compiler, size_t *binaryImageSize);
nvPTXCompileResult nvPTXCompilerGetCompiledProgram(nvPTXCompilerHandle compiler, void *binaryImage);

/* The logs of the last compilation: errors, and what -v asks for. A size counts the NUL, and is 0 for an empty log, of
 * which nothing is written. */
nvPTXCompileResult nvPTXCompilerGetErrorLogSize(nvPTXCompilerHandle compiler, size_t *errorLogSize);
nvPTXCompileResult nvPTXCompilerGetErrorLog(nvPTXCompilerHandle compiler, char *errorLog);
nvPTXCompileResult nvPTXCompilerGetInfoLogSize(nvPTXCompilerHandle compiler, size_t *infoLogSize);
nvPTXCompileResult nvPTXCompilerGetInfoLog(nvPTXCompilerHandle compiler, char *infoLog);

/* `callback` is called during a compilation, with `payload` and NULL; if it returns 1, the compilation ends with
 * NVPTXCOMPILE_ERROR_CANCELLED. It must not call this library. */
nvPTXCompileResult nvPTXCompilerSetFlowCallback(nvPTXCompilerHandle compiler, int (*callback)(void *, void *), void *payload);

#ifdef __cplusplus
}
#endif

#endif
