/* SPDX-License-Identifier: Apache-2.0 */
/* Linking (driver API manual, Module Management: cuLink*).
 *
 * A link turns inputs into one image that cuModuleLoadData takes. Here images are PTX or containers of it, also inside
 * host objects and archives. Each input is checked by itself when it is added, except for what it leaves to others;
 * cuLinkComplete joins them into one text (ptx/join.h), and checks that. One input stays as it is. Options follow the
 * rules of loading (image.h); those of cuLinkCreate stay in force, and the array of their values is the program's until
 * the link is destroyed. */
#include "api_impl.h"

#include <stdint.h>
#include <string.h>

#include "api/module/image.h"
#include "base/alloc.h"
#include "base/call.h"
#include "compile/compile.h"
#include "module/module.h"
#include "object/context.h"
#include "prepare/check.h"

struct mr_link {
    struct mr_object object;
    const struct mr_device *device;
    struct mr_image_options options; /* copies of what the program passed */
    void **answers;                  /* the program's array of values: sizes and times are written there */
    mr_lock lock;                    /* guards what follows */
    struct mr_program_image *inputs; /* data are ours, with a zero byte behind them */
    size_t count, capacity;
    char *image;                     /* the result; NULL before cuLinkComplete */
    size_t size;                     /* of the result, with the zero byte at the end of a text */
};

static void link_finish(void *object)
{
    struct mr_link *link = object;
    mr_free(link->options.names);
    mr_free(link->options.values);
    for (size_t i = 0; i < link->count; i++)
        mr_free((void *)link->inputs[i].data);
    mr_free(link->inputs);
    mr_free(link->image);
}

static CUresult find_link(CUlinkState handle, struct mr_link **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *out = mr_object_borrow(handle, MR_KIND_LINK);
    return *out ? CUDA_SUCCESS : mr_bad_handle("link", handle);
}

CUresult mr_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!stateOut || (numOptions > 0 && (!options || !optionValues)))
        return mr_bad_value("stateOut or the options are NULL");
    struct mr_image_options checked = {numOptions, options, optionValues};
    status = mr_image_options_check(&checked);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_link *link = mr_object_new(MR_KIND_LINK, sizeof *link, link_finish);
    if (!link)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_init(&link->lock, MR_LOCK_LINK);
    link->device = context->device;
    if (numOptions > 0) {
        link->answers = optionValues;
        link->options = (struct mr_image_options){numOptions, mr_memdup(options, numOptions * sizeof *options),
                                                  mr_memdup(optionValues, numOptions * sizeof *optionValues)};
        if (!link->options.names || !link->options.values) {
            if (mr_object_retire(link))
                mr_object_drop(link);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    *stateOut = mr_object_handle(link);
    return CUDA_SUCCESS;
}

static CUresult check_type(CUjitInputType type)
{
    switch ((int)type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
        return CUDA_SUCCESS;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_NVVM:
        mr_call_log(
            MR_LOG_INFO,
            "inputs of type %d are not supported; PTX, fat binaries with PTX, and objects and archives with those are",
            (int)type);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
        return mr_bad_value("there is no input type %d", (int)type);
    }
}

/* The link's options for one call: a room's size stays what it was at first, and the call writes its own answers. */
static CUresult begin_options(const struct mr_link *link, struct mr_image_options *options)
{
    size_t bytes = link->options.count * sizeof *link->options.values;
    *options = link->options;
    if (bytes > 0)
        options->values = mr_memdup(link->options.values, bytes);
    return bytes == 0 || options->values ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void end_options(const struct mr_link *link, struct mr_image_options *options)
{
    if (options->count > 0)
        memcpy(link->answers, options->values, options->count * sizeof *options->values);
    if (options->count > 0)
        mr_free(options->values);
}

static CUresult check_input(const struct mr_link *link, const char *data, size_t size, bool partial,
                            const struct mr_image_options *own)
{
    struct mr_image_options options;
    if (own->count > 0)
        return mr_image_check(link->device, data, size, partial, own);
    CUresult status = begin_options(link, &options);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_image_check(link->device, data, size, partial, &options);
    end_options(link, &options);
    return status;
}

/* What linking finds wrong has a status of its own on hardware. */
static CUresult link_status(CUresult status)
{
    return status == CUDA_ERROR_INVALID_PTX ? CUDA_ERROR_UNKNOWN : status;
}

/* Does the input go with those before it? A name defined twice is told now, as on hardware. The lock is held. */
static CUresult try_join(struct mr_link *link)
{
    MR_HELD(&link->lock);
    struct mr_image_options options;
    char *text = NULL;
    unsigned capability;
    if (link->count < 2)
        return CUDA_SUCCESS;
    CUresult status = begin_options(link, &options);
    if (status != CUDA_SUCCESS)
        return status;
    status = mr_image_join(link->device, link->inputs, (unsigned)link->count, &options, &text, &capability);
    end_options(link, &options);
    mr_free(text);
    return link_status(status);
}

/* The images that one call adds. */
struct adding {
    const struct mr_link *link;
    const struct mr_image_options *own;  /* of the call */
    struct mr_program_image *images;     /* data are ours until the link takes them */
    size_t count, capacity;
    CUresult status;
};

/* Takes over inputs that have proved to be good by themselves: all of them, or none. What is taken is no longer in
 * `adding`. */
static CUresult take_inputs(struct mr_link *link, struct adding *adding)
{
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    mr_lock_take(&link->lock);
    if (mr_array_reserve((void **)&link->inputs, &link->capacity, link->count + adding->count, sizeof *link->inputs)) {
        memcpy(link->inputs + link->count, adding->images, adding->count * sizeof *adding->images);
        link->count += adding->count;
        /* What was linked before lacks these inputs. A program may still have the old image: it stays until the next
         * cuLinkComplete. */
        status = try_join(link);
        if (status == CUDA_SUCCESS)
            link->size = 0;
        else
            link->count -= adding->count;
    }
    mr_lock_drop(&link->lock);
    if (status == CUDA_SUCCESS)
        adding->count = 0;
    return status;
}

/* One image for the link: PTX or a fat binary. */
static CUresult add_image(struct adding *adding, const void *data, size_t size)
{
    char *copy = size < SIZE_MAX ? mr_alloc(size + 1) : NULL;
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, data, size);
    copy[size] = 0;
    CUresult status = check_input(adding->link, copy, size, true, adding->own);
    if (status == CUDA_SUCCESS &&
        !mr_array_reserve((void **)&adding->images, &adding->capacity, adding->count + 1, sizeof *adding->images))
        status = CUDA_ERROR_OUT_OF_MEMORY;
    if (status == CUDA_SUCCESS)
        adding->images[adding->count++] = (struct mr_program_image){copy, size};
    else
        mr_free(copy);
    return status;
}

static bool add_container(void *user, const void *data, size_t size)
{
    struct adding *adding = user;
    adding->status = add_image(adding, data, size);
    return adding->status == CUDA_SUCCESS;
}

/* A host object, or an archive of them: the relocatable device code inside. Without any they add nothing, as with other
 * linkers. */
static CUresult add_objects(struct adding *adding, const void *data, size_t size)
{
    CUresult status = mr_program_images_in(data, size, add_container, adding);
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_INFO, "the input is neither a host object nor an archive of them, or it is damaged");
    return status != CUDA_SUCCESS ? status : adding->status;
}

CUresult mr_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                             unsigned int numOptions, CUjit_option *options, void **optionValues)
{
    struct mr_link *link;
    (void)name;
    CUresult status = find_link(state, &link);
    if (status == CUDA_SUCCESS)
        status = check_type(type);
    if (status != CUDA_SUCCESS)
        return status;
    if (!data || size == 0)
        return mr_bad_value("%zu bytes of input at %p", size, data);
    struct mr_image_options own = {numOptions, options, optionValues};
    struct adding adding = {.link = link, .own = &own};
    bool objects = type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY;
    status = objects ? add_objects(&adding, data, size) : add_image(&adding, data, size);
    if (status == CUDA_SUCCESS && adding.count > 0)
        status = take_inputs(link, &adding);
    for (size_t i = 0; i < adding.count; i++)
        mr_free((void *)adding.images[i].data);
    mr_free(adding.images);
    return status;
}

CUresult mr_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                             CUjit_option *options, void **optionValues)
{
    struct mr_link *link;
    char *data;
    size_t size;
    CUresult status = find_link(state, &link);
    if (status == CUDA_SUCCESS)
        status = check_type(type);
    if (status == CUDA_SUCCESS)
        status = mr_image_read_file(path, &data, &size);
    if (status != CUDA_SUCCESS)
        return status;
    if (size == 0) {
        mr_free(data);
        mr_call_log(MR_LOG_INFO, "'%s' is empty", path);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    status = mr_cuLinkAddData_v2(state, type, data, size, path, numOptions, options, optionValues);
    mr_free(data);
    return status;
}

/* Whether the text is to say how many registers its kernels may have. */
static bool has_limit(const struct mr_link *link)
{
    for (unsigned i = 0; i < link->options.count; i++)
        if (link->options.names[i] == CU_JIT_MAX_REGISTERS)
            return true;
    return false;
}

/* Joins the inputs into link->image. The lock is held. */
static CUresult complete(struct mr_link *link)
{
    MR_HELD(&link->lock);
    char *text = NULL;
    size_t size = 0, end = 1; /* a zero byte behind the text, of which `size` does not know */
    CUresult status = CUDA_SUCCESS;
    const unsigned device = (unsigned)(link->device->capability_major * 10 + link->device->capability_minor);
    unsigned capability = device;
    if (link->count == 1 && !has_limit(link)) {
        size = link->inputs[0].size;
        text = mr_memdup(link->inputs[0].data, size + 1);
        if (!text)
            return CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        struct mr_image_options options;
        status = begin_options(link, &options);
        if (status != CUDA_SUCCESS)
            return status;
        status = mr_image_join(link->device, link->inputs, (unsigned)link->count, &options, &text, &capability);
        end_options(link, &options);
        size = status == CUDA_SUCCESS ? strlen(text) : 0;
    }
    if (status == CUDA_SUCCESS && capability > device) {
        /* As text it would be refused when it is loaded; in a container it is taken, as the inputs were. */
        char *packed = mr_program_pack(text, size, capability, &size);
        mr_free(text);
        if (!packed)
            return CUDA_ERROR_OUT_OF_MEMORY;
        text = packed;
        end = 0;
    }
    if (status == CUDA_SUCCESS)
        status = check_input(link, text, size, false, &(struct mr_image_options){.count = 0});
    if (status != CUDA_SUCCESS) {
        mr_free(text);
        return link_status(status);
    }
    mr_free(link->image);
    link->image = text;
    link->size = size + end;
    return CUDA_SUCCESS;
}

/* The result belongs to the link and goes with it. */
CUresult mr_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    struct mr_link *link;
    CUresult status = find_link(state, &link);
    if (status != CUDA_SUCCESS)
        return status;
    if (!cubinOut)
        return mr_bad_value("cubinOut is NULL");
    mr_lock_take(&link->lock);
    if (link->count == 0)
        status = mr_bad_value("the link has no input");
    else if (link->size == 0)
        status = complete(link);
    if (status == CUDA_SUCCESS) {
        *cubinOut = link->image;
        if (sizeOut)
            *sizeOut = link->size;
    }
    mr_lock_drop(&link->lock);
    return status;
}

CUresult mr_cuLinkDestroy(CUlinkState state)
{
    struct mr_link *link;
    CUresult status = find_link(state, &link);
    if (status != CUDA_SUCCESS)
        return status;
    if (!mr_object_retire(link))
        return mr_bad_handle("link", state);
    mr_object_drop(link);
    return CUDA_SUCCESS;
}
