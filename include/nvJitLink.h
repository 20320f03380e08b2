/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of libnvJitLink, linking of device code at run time: what programs include.
 *
 * Versions 12 and 13 of the library share it. docs/linking.md tells which inputs and options Millrace's takes. A handle may be used by one thread at a
 * time; different handles link at once. */
#ifndef nvJitLink_INCLUDED
#define nvJitLink_INCLUDED

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_MISSING_ARCH = 2,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_PTX_COMPILE = 4,
    NVJITLINK_ERROR_NVVM_COMPILE = 5,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_THREADPOOL = 7,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_FINALIZE = 9,
    NVJITLINK_ERROR_NULL_INPUT = 10,
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_ERROR_ARCH_MISMATCH = 13,
    NVJITLINK_ERROR_OUTDATED_LIBRARY = 14,
    NVJITLINK_ERROR_MISSING_FATBIN = 15,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18
} nvJitLinkResult;

typedef enum {
    NVJITLINK_INPUT_NONE = 0,
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,  /* a host object with relocatable device code in it */
    NVJITLINK_INPUT_LIBRARY = 6, /* an archive of such objects */
    NVJITLINK_INPUT_INDEX = 7,
    NVJITLINK_INPUT_ANY = 10     /* whichever it is */
} nvJitLinkInputType;

typedef struct nvJitLink *nvJitLinkHandle;

/* Makes a link from `numOptions` strings, each an option with its value behind '='; -arch=sm_N must be among them. After an error the handle is good for
 * reading the log, and to be destroyed; it is left alone when an argument is NULL (NVJITLINK_ERROR_NULL_INPUT). */
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions, const char **options);

/* Frees the link and sets *handle to NULL. */
nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle);

/* Adds an input, which is copied and checked by itself. `name` (may be NULL) stands in messages. */
nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, const void *data, size_t size, const char *name);
nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType, const char *fileName);

/* Links what was added, once. NVJITLINK_ERROR_INTERNAL, with lines in the error log, for names that are defined twice or not at all. */
nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle);

/* The result: bytes for cuModuleLoadData. With the options -lto and -ptx it is PTX text, NUL-terminated, and there is no cubin. */
nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin);
nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx);

/* What was written so far. A size counts the closing NUL, and is 0 for a log with nothing in it. */
nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log);
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size);
nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log);

nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor);

#ifdef __cplusplus
}
#endif

#endif
