/* SPDX-License-Identifier: Apache-2.0 */
/* libnvJitLink's entry points: handles and pointers are checked, results are copied out.
 *
 * The library is built twice, as version 12 and 13. NVIDIA's header calls each function by a name with a version in it,
 * one for each toolkit; programs that look functions up use the names without. Both are exported. */
#include <nvJitLink.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "libs/nvjitlink/link.h"

#define EXPORT __attribute__((visibility("default")))

static pthread_once_t once = PTHREAD_ONCE_INIT;

static nvJitLinkResult is_null(const char *call)
{
    mr_log(MR_LOG_INFO, "%s: the handle or a pointer is NULL", call);
    return NVJITLINK_ERROR_NULL_INPUT;
}

static void free_link(struct nvJitLink *link)
{
    for (size_t i = 0; i < link->count; i++) {
        mr_free(link->inputs[i].text);
        mr_free(link->inputs[i].name);
    }
    mr_free(link->inputs);
    mr_free(link->cubin);
    mr_text_clear(&link->result);
    mr_text_clear(&link->errors);
    mr_text_clear(&link->infos);
    mr_free(link);
}

EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions, const char **options)
{
    pthread_once(&once, mr_log_setup);
    if (!handle || (numOptions && !options))
        return is_null(__func__);
    for (uint32_t i = 0; i < numOptions; i++)
        if (!options[i])
            return is_null(__func__);
    struct nvJitLink *link = mr_calloc(1, sizeof *link);
    if (!link)
        return NVJITLINK_ERROR_INTERNAL;
    link->created = mr_link_options(link, numOptions, options);
    *handle = link;
    return link->created;
}

EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle)
{
    if (!handle || !*handle)
        return is_null(__func__);
    free_link(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType, const void *data,
                                        size_t size, const char *name)
{
    if (!handle || !data)
        return is_null(__func__);
    if (handle->created != NVJITLINK_SUCCESS)
        return handle->created;
    if (handle->complete)
        return mr_link_refuse(handle, NVJITLINK_ERROR_INTERNAL, "the link is complete: nothing can be added to it",
                              NULL);
    name = name ? name : "<unnamed>";
    if (size == 0)
        return mr_link_refuse(handle, NVJITLINK_ERROR_INVALID_INPUT, "there are no bytes in", name);
    return mr_link_add(handle, inputType, data, size, name);
}

EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType, const char *fileName)
{
    if (!handle || !fileName)
        return is_null(__func__);
    if (handle->created != NVJITLINK_SUCCESS)
        return handle->created;
    if (handle->complete)
        return mr_link_refuse(handle, NVJITLINK_ERROR_INTERNAL, "the link is complete: nothing can be added to it",
                              NULL);
    return mr_link_add_file(handle, inputType, fileName);
}

EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle)
{
    if (!handle)
        return is_null(__func__);
    return handle->created == NVJITLINK_SUCCESS ? mr_link_complete(handle) : handle->created;
}

/* Results. */

static nvJitLinkResult find_result(const char *call, nvJitLinkHandle handle, const void *out, bool ptx)
{
    if (!handle || !out)
        return is_null(call);
    if (!handle->complete)
        return mr_link_refuse(handle, NVJITLINK_ERROR_INTERNAL, "the link is not complete:", call);
    if (ptx != handle->ptx)
        return mr_link_refuse(
            handle, NVJITLINK_ERROR_INVALID_INPUT,
            ptx ? "linked PTX takes the options -lto and -ptx:" : "there is no cubin with the option -ptx:", call);
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size)
{
    nvJitLinkResult status = find_result(__func__, handle, size, false);
    if (status == NVJITLINK_SUCCESS)
        *size = handle->cubin_size;
    return status;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin)
{
    nvJitLinkResult status = find_result(__func__, handle, cubin, false);
    if (status == NVJITLINK_SUCCESS)
        memcpy(cubin, handle->cubin, handle->cubin_size);
    return status;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size)
{
    nvJitLinkResult status = find_result(__func__, handle, size, true);
    if (status == NVJITLINK_SUCCESS)
        *size = handle->result.length + 1;
    return status;
}

EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx)
{
    nvJitLinkResult status = find_result(__func__, handle, ptx, true);
    if (status == NVJITLINK_SUCCESS)
        memcpy(ptx, handle->result.data, handle->result.length + 1);
    return status;
}

/* Logs. */

static nvJitLinkResult give_size(const struct mr_text *log, size_t *size)
{
    *size = log->length ? log->length + 1 : 0;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult give(const struct mr_text *log, char *to)
{
    if (log->length)
        memcpy(to, log->data, log->length + 1);
    return NVJITLINK_SUCCESS;
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size)
{
    return handle && size ? give_size(&handle->errors, size) : is_null(__func__);
}

EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log)
{
    return handle && log ? give(&handle->errors, log) : is_null(__func__);
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size)
{
    return handle && size ? give_size(&handle->infos, size) : is_null(__func__);
}

EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log)
{
    return handle && log ? give(&handle->infos, log) : is_null(__func__);
}

/* 12.2 in both builds: Numba hands LTO code, which is not linked here, to each library that says 12.3 or more, and PTX
 * to an older one. */
EXPORT nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor)
{
    if (!major || !minor)
        return is_null(__func__);
    *major = 12;
    *minor = 2;
    return NVJITLINK_SUCCESS;
}

/* The names with versions. */

#define SAME(name, version) \
    extern __typeof__(nvJitLink##name) __nvJitLink##name##_##version \
        __attribute__((visibility("default"), alias("nvJitLink" #name)));
#define EACH(version) \
    SAME(Create, version) \
    SAME(Destroy, version) \
    SAME(AddData, version) \
    SAME(AddFile, version) \
    SAME(Complete, version) \
    SAME(GetLinkedCubinSize, version) \
    SAME(GetLinkedCubin, version) \
    SAME(GetLinkedPtxSize, version) \
    SAME(GetLinkedPtx, version) \
    SAME(GetErrorLogSize, version) \
    SAME(GetErrorLog, version) \
    SAME(GetInfoLogSize, version) \
    SAME(GetInfoLog, version)
#if MR_NVJITLINK_MAJOR == 12
EACH(12_0) EACH(12_1) EACH(12_2) EACH(12_3) EACH(12_4) EACH(12_5) EACH(12_6) EACH(12_7) EACH(12_8) EACH(12_9)
#else
EACH(13_0) EACH(13_1) EACH(13_2) EACH(13_3) EACH(13_4) EACH(13_5)
#endif
