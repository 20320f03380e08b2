/* SPDX-License-Identifier: Apache-2.0 */
/* libnvToolsExt.so.1: NVTX for programs that link with the library instead of having it all from the headers. It is
 * the headers' functions, exported. */
#define NVTX_DECLSPEC __attribute__((visibility("default")))
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

/* Names for objects of OpenCL, which is not here. */
#define OPENCL(object) \
    NVTX_DECLSPEC void nvtxNameCl##object##A(void *handle, const char *name); \
    NVTX_DECLSPEC void nvtxNameCl##object##W(void *handle, const wchar_t *name); \
    void nvtxNameCl##object##A(void *handle, const char *name) \
    { \
        (void)handle, (void)name; \
    } \
    void nvtxNameCl##object##W(void *handle, const wchar_t *name) \
    { \
        (void)handle, (void)name; \
    }
OPENCL(Device)
OPENCL(Context)
OPENCL(CommandQueue)
OPENCL(MemObject)
OPENCL(Sampler)
OPENCL(Program)
OPENCL(Event)

/* What a tool is given, for tools that ask the library. */
NVTX_DECLSPEC const void *nvtxGetExportTable(uint32_t number);
const void *nvtxGetExportTable(uint32_t number)
{
    return millrace_nvtx_export(number);
}
