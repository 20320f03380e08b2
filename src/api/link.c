/* SPDX-License-Identifier: Apache-2.0 */
/* Linking (driver API manual, Module Management: cuLink*).
 *
 * A link turns inputs into one image that cuModuleLoadData takes. Here images are PTX or containers of it, so the result of linking one input is
 * that input, once it has proved to compile. Joining several inputs, whose symbols refer to each other, is refused: no image would stand for
 * all of them. Options follow the rules of loading (image.h); those of cuLinkCreate stay in force, and the array of their values is the
 * program's until the link is destroyed. */
#include "api_impl.h"

#include <stdint.h>
#include <string.h>

#include "api/check.h"
#include "api/image.h"
#include "base/log.h"
#include "base/memory.h"
#include "object/context.h"
#include "object/module.h"

struct mr_link {
    struct mr_object object;
    const struct mr_device *device;
    struct mr_image_options options; /* names are a copy, values the program's array */
    mr_lock lock;                    /* guards what follows */
    unsigned inputs;
    char *image;                     /* the only input so far, with a zero byte after it */
    size_t size;                     /* without that byte */
};

static void link_finish(void *object)
{
    struct mr_link *link = object;
    mr_free(link->options.names);
    mr_free(link->image);
}

static CUresult find_link(const char *entry, CUlinkState handle, struct mr_link **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *out = mr_object_find(handle, MR_KIND_LINK);
    return *out ? CUDA_SUCCESS : mr_bad_handle(entry, "link", handle);
}

CUresult mr_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!stateOut || (numOptions > 0 && (!options || !optionValues)))
        return mr_bad_value("cuLinkCreate", "stateOut or the options are NULL");
    struct mr_image_options checked = { numOptions, options, optionValues };
    status = mr_image_options_check("cuLinkCreate", &checked);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_link *link = mr_object_new(MR_KIND_LINK, sizeof *link, link_finish);
    if (!link)
        return CUDA_ERROR_OUT_OF_MEMORY;
    link->device = context->device;
    if (numOptions > 0) {
        link->options = (struct mr_image_options){ numOptions, mr_memdup(options, numOptions * sizeof *options), optionValues };
        if (!link->options.names) {
            if (mr_object_retire(link))
                mr_object_drop(link);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *stateOut = mr_object_handle(link);
    return CUDA_SUCCESS;
}

static CUresult check_type(const char *entry, CUjitInputType type)
{
    switch ((int)type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
        return CUDA_SUCCESS;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        mr_log(MR_LOG_INFO, "%s: inputs of type %d are not supported; PTX and fat binaries with PTX are", entry, (int)type);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
        return mr_bad_value(entry, "there is no input type %d", (int)type);
    }
}

/* Takes over an input that has proved to compile; `data` is the link's from now on, or freed. */
static CUresult take_input(struct mr_link *link, const char *entry, char *data, size_t size)
{
    mr_lock_take(&link->lock);
    bool first = link->inputs++ == 0;
    if (first) {
        link->image = data;
        link->size = size;
    }
    mr_lock_drop(&link->lock);
    if (first)
        return CUDA_SUCCESS;
    mr_free(data);
    mr_log(MR_LOG_INFO, "%s: joining several inputs is not supported", entry);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult mr_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                             unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    static const char entry[] = "cuLinkAddData";
    struct mr_link *link;
    struct mr_program *program;
    (void)name;
    CUresult status = find_link(entry, state, &link);
    if (status == CUDA_SUCCESS)
        status = check_type(entry, type);
    if (status != CUDA_SUCCESS)
        return status;
    if (!data || size == 0)
        return mr_bad_value(entry, "%zu bytes of input at %p", size, data);
    char *copy = size < SIZE_MAX ? mr_alloc(size + 1) : NULL;
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, data, size);
    copy[size] = 0;
    struct mr_image_options own = { numOptions, options, optionValues };
    status = mr_image_load(entry, link->device, copy, size, numOptions > 0 ? &own : &link->options, &program);
    if (status != CUDA_SUCCESS) {
        mr_free(copy);
        return status;
    }
    mr_program_drop(program);
    return take_input(link, entry, copy, size);
}

CUresult mr_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                             CUjit_option *options, void **optionValues)
{
    static const char entry[] = "cuLinkAddFile";
    struct mr_link *link;
    char *data;
    size_t size;
    CUresult status = find_link(entry, state, &link);
    if (status == CUDA_SUCCESS)
        status = check_type(entry, type);
    if (status == CUDA_SUCCESS)
        status = mr_image_read_file(entry, path, &data, &size);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_cuLinkAddData_v2(state, type, data, size, path, numOptions, options, optionValues);
    mr_free(data);
    return status;
}

/* The result belongs to the link and goes with it. */
CUresult mr_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct mr_link *link;
    CUresult status = find_link("cuLinkComplete", state, &link);
    if (status != CUDA_SUCCESS)
        return status;
    if (!cubinOut)
        return mr_bad_value("cuLinkComplete", "cubinOut is NULL");
    mr_lock_take(&link->lock);
    if (link->inputs == 1) {
        *cubinOut = link->image;
        if (sizeOut)
            *sizeOut = link->size + 1;
    } else {
        status = link->inputs == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    }
    mr_lock_drop(&link->lock);
    if (status != CUDA_SUCCESS)
        mr_log(MR_LOG_INFO, "cuLinkComplete: the link has %u inputs, and one can be linked", link->inputs);
    return status;
}

CUresult mr_cuLinkDestroy(CUlinkState state)
{
    struct mr_link *link;
    CUresult status = find_link("cuLinkDestroy", state, &link);
    if (status != CUDA_SUCCESS)
        return status;
    if (!mr_object_retire(link))
        return mr_bad_handle("cuLinkDestroy", "link", state);
    mr_object_drop(link);
    return CUDA_SUCCESS;
}
