/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references (driver API manual, Texture Reference Management, Surface Reference Management; both
 * deprecated).
 *
 * Each change makes a texture object anew from all that was set, and puts it into the module's variable once the
 * context's work is done, so that a launch sees what was set when it was made. Settings that don't go together yet
 * (they come one by one) leave the variable empty; a kernel that reads it then ends with a fault. */
#define __CUDA_API_VERSION_INTERNAL
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "api/texture/texture.h"
#include "api_impl.h"
#include "base/call.h"
#include "module/reference.h"
#include "object/context.h"
#include "prepare/array_side.h"
#include "prepare/check.h"
#include "stream/stream.h"

/* The live reference behind a handle, with a reference taken and its lock held. */
static CUresult take(const void *handle, enum mr_kind kind, struct mr_reference **out)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    *out = mr_object_acquire(handle, kind);
    if (!*out)
        return mr_bad_value("%p is not a live %s reference", handle, kind == MR_KIND_TEXREF ? "texture" : "surface");
    mr_lock_take(&(*out)->lock);
    return CUDA_SUCCESS;
}

static void give(struct mr_reference *reference)
{
    mr_lock_drop(&reference->lock);
    mr_object_drop(reference);
}

/* Puts what was set into effect. Settings that don't go together are no mistake of this call. */
static CUresult apply(struct mr_reference *reference)
{
    struct mr_texture *texture = NULL;
    CUresult status = CUDA_SUCCESS;
    if (reference->bound)
        status = mr_texture_make(reference->context, &reference->resource, &reference->desc, NULL, &texture);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        return status;
    if (status != CUDA_SUCCESS)
        mr_call_log(MR_LOG_DEBUG, "the reference's settings don't go together yet");
    status = reference->texture ? mr_context_synchronize(reference->context) : CUDA_SUCCESS;
    if (status == CUDA_SUCCESS && (reference->texture || texture))
        mr_reference_set(reference, texture);
    else if (texture)
        (void)mr_texture_end(texture);
    return status;
}

/* Binds to another resource, or stays bound to what was there. */
static CUresult bind(struct mr_reference *reference, const CUDA_RESOURCE_DESC *resource)
{
    /* Whether the resource itself is good doesn't depend on how it is read: that may still be set. */
    struct mr_texture *trial = NULL;
    const CUDA_TEXTURE_DESC plain = {.flags = CU_TRSF_NORMALIZED_COORDINATES};
    CUresult status = mr_texture_make(reference->context, resource, &plain, NULL, &trial);
    if (status != CUDA_SUCCESS)
        return status;
    (void)mr_texture_end(trial);
    reference->resource = *resource;
    reference->bound = true;
    return apply(reference);
}

CUresult mr_cuTexRefCreate(CUtexref *pTexRef)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!pTexRef)
        return mr_bad_value("the result's place is NULL");
    struct mr_reference *reference = mr_reference_new(MR_KIND_TEXREF, context, 0);
    if (!reference)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *pTexRef = mr_object_handle(reference);
    return CUDA_SUCCESS;
}

CUresult mr_cuTexRefDestroy(CUtexref hTexRef)
{
    struct mr_reference *reference;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    bool of_module = reference->place;
    mr_lock_drop(&reference->lock);
    if (of_module)
        status = mr_bad_value("the reference belongs to its module");
    else if (!mr_reference_end(reference))
        status = mr_bad_value("%p is not a live texture reference", (void *)hTexRef);
    mr_object_drop(reference);
    return status;
}

/* ---- binding ---- */

CUresult mr_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)
{
    struct mr_reference *reference;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_array *array = mr_object_acquire(hArray, MR_KIND_ARRAY);
    if (Flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT)
        status = mr_bad_value("flags %#x are not CU_TRSA_OVERRIDE_FORMAT", Flags);
    else if (!array)
        status = mr_bad_value("%p is not a live array", (void *)hArray);
    if (status == CUDA_SUCCESS) {
        const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray};
        reference->format = array->desc.Format;
        reference->channels = array->desc.NumChannels;
        status = bind(reference, &resource);
    }
    if (array)
        mr_object_drop(array);
    give(reference);
    return status;
}

CUresult mr_cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray, unsigned int Flags)
{
    struct mr_reference *reference;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                         .res.mipmap.hMipmappedArray = hMipmappedArray};
    if (Flags & ~(unsigned)CU_TRSA_OVERRIDE_FORMAT)
        status = mr_bad_value("flags %#x are not CU_TRSA_OVERRIDE_FORMAT", Flags);
    else
        status = bind(reference, &resource);
    give(reference);
    return status;
}

/* Textures begin at multiples of an alignment; what is left over is for the kernel to add. */
CUresult mr_cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes)
{
    struct mr_reference *reference;
    int alignment = 1;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    (void)!mr_device_attribute(reference->context->device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &alignment);
    size_t over = (size_t)(dptr % (unsigned)alignment);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    resource.res.linear.devPtr = dptr - over;
    resource.res.linear.format = reference->format;
    resource.res.linear.numChannels = reference->channels;
    resource.res.linear.sizeInBytes = bytes + over;
    if (!dptr && !bytes) {
        reference->bound = false;
        status = apply(reference);
    } else if (over && !ByteOffset)
        status = mr_bad_value("%#llx is not a multiple of %d bytes, and ByteOffset is NULL", (unsigned long long)dptr,
                              alignment);
    else if (bytes > SIZE_MAX - over)
        status = mr_bad_value("%zu bytes", bytes);
    else
        status = bind(reference, &resource);
    give(reference);
    if (status == CUDA_SUCCESS && ByteOffset)
        *ByteOffset = over;
    return status;
}

CUresult mr_cuTexRefSetAddress(unsigned int *ByteOffset, CUtexref hTexRef, CUdeviceptr_v1 dptr, unsigned int bytes)
{
    size_t over = 0;
    CUresult status = mr_cuTexRefSetAddress_v2(ByteOffset ? &over : NULL, hTexRef, dptr, bytes);
    if (status == CUDA_SUCCESS && ByteOffset)
        *ByteOffset = (unsigned)over;
    return status;
}

CUresult mr_cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch)
{
    struct mr_reference *reference;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (!desc) {
        status = mr_bad_value("the descriptor is NULL");
    } else {
        CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};
        resource.res.pitch2D.devPtr = dptr;
        resource.res.pitch2D.format = desc->Format;
        resource.res.pitch2D.numChannels = desc->NumChannels;
        resource.res.pitch2D.width = desc->Width;
        resource.res.pitch2D.height = desc->Height;
        resource.res.pitch2D.pitchInBytes = Pitch;
        status = bind(reference, &resource);
    }
    give(reference);
    return status;
}

CUresult mr_cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *desc, CUdeviceptr_v1 dptr,
                                 unsigned int Pitch)
{
    if (!desc)
        return mr_cuTexRefSetAddress2D_v3(hTexRef, NULL, dptr, Pitch);
    const CUDA_ARRAY_DESCRIPTOR wide = {desc->Width, desc->Height, desc->Format, desc->NumChannels};
    return mr_cuTexRefSetAddress2D_v3(hTexRef, &wide, dptr, Pitch);
}

/* ---- settings ---- */

/* A field of a texture's description: where it is, and its size. */
#define FIELD(name) offsetof(CUDA_TEXTURE_DESC, name), sizeof((CUDA_TEXTURE_DESC *)0)->name

/* Changes a field of the description. `wrong` says what is wrong with the call's value `value`, or is NULL. The handle
 * is looked at first, as on hardware. */
static CUresult set(CUtexref handle, size_t at, size_t size, const void *from, const char *wrong, unsigned value)
{
    struct mr_reference *reference;
    CUresult status = take(handle, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (wrong) {
        status = mr_bad_value("%s: %#x", wrong, value);
    } else {
        memcpy((char *)&reference->desc + at, from, size);
        status = apply(reference);
    }
    give(reference);
    return status;
}

CUresult mr_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)
{
    bool has_dim = dim >= 0 && dim <= 2, has_mode = (unsigned)am <= CU_TR_ADDRESS_MODE_BORDER;
    const char *wrong = has_dim ? "there is no such address mode" : "there is no such dimension";
    return set(hTexRef, offsetof(CUDA_TEXTURE_DESC, addressMode) + (has_dim ? (size_t)dim : 0) * sizeof am, sizeof am,
               &am, has_dim && has_mode ? NULL : wrong, has_dim ? (unsigned)am : (unsigned)dim);
}

static const char *wrong_filter(CUfilter_mode mode)
{
    return (unsigned)mode > CU_TR_FILTER_MODE_LINEAR ? "there is no such filter mode" : NULL;
}

CUresult mr_cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    return set(hTexRef, FIELD(filterMode), &fm, wrong_filter(fm), fm);
}

CUresult mr_cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    return set(hTexRef, FIELD(mipmapFilterMode), &fm, wrong_filter(fm), fm);
}

CUresult mr_cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias)
{
    return set(hTexRef, FIELD(mipmapLevelBias), &bias, NULL, 0);
}

CUresult mr_cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp)
{
    const float both[2] = {minMipmapLevelClamp, maxMipmapLevelClamp};
    _Static_assert(offsetof(CUDA_TEXTURE_DESC, maxMipmapLevelClamp) ==
                       offsetof(CUDA_TEXTURE_DESC, minMipmapLevelClamp) + sizeof *both,
                   "both are set and asked for at once");
    return set(hTexRef, offsetof(CUDA_TEXTURE_DESC, minMipmapLevelClamp), sizeof both, both, NULL, 0);
}

CUresult mr_cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso)
{
    return set(hTexRef, FIELD(maxAnisotropy), &maxAniso, NULL, 0);
}

CUresult mr_cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor)
{
    return set(hTexRef, FIELD(borderColor), pBorderColor, pBorderColor ? NULL : "the colour is NULL", 0);
}

CUresult mr_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)
{
    const unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                           CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    return set(hTexRef, FIELD(flags), &Flags, Flags & ~known ? "there are flags other than CU_TRSF_*" : NULL, Flags);
}

CUresult mr_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    struct mr_reference *reference;
    struct mr_texel_format format;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (!mr_texel_format_of(fmt, (unsigned)NumPackedComponents, &format)) {
        status = mr_bad_value("there is no format %#x with %d channels", (unsigned)fmt, NumPackedComponents);
    } else {
        reference->format = fmt;
        reference->channels = (unsigned)NumPackedComponents;
        if (reference->bound && reference->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
            reference->resource.res.linear.format = fmt;
            reference->resource.res.linear.numChannels = reference->channels;
            status = apply(reference);
        }
    }
    give(reference);
    return status;
}

/* ---- questions ---- */

/* Copies a field to the call's result. */
static CUresult ask(CUtexref handle, void *out, size_t at, size_t size)
{
    struct mr_reference *reference;
    CUresult status = take(handle, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (out)
        memcpy(out, (const char *)&reference->desc + at, size);
    give(reference);
    return out ? CUDA_SUCCESS : mr_bad_value("the result's place is NULL");
}

/* What a reference is bound to, if it is bound to that. */
static CUresult ask_resource(CUtexref handle, const void *out, CUDA_RESOURCE_DESC *resource, bool *bound)
{
    struct mr_reference *reference;
    CUresult status = take(handle, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    *resource = reference->resource;
    *bound = reference->bound;
    give(reference);
    return out ? CUDA_SUCCESS : mr_bad_value("the result's place is NULL");
}

CUresult mr_cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef)
{
    CUDA_RESOURCE_DESC resource;
    bool bound;
    CUresult status = ask_resource(hTexRef, pdptr, &resource, &bound);
    if (status != CUDA_SUCCESS)
        return status;
    if (!bound || (resource.resType != CU_RESOURCE_TYPE_LINEAR && resource.resType != CU_RESOURCE_TYPE_PITCH2D))
        return mr_bad_value("the reference is not bound to memory");
    *pdptr = resource.resType == CU_RESOURCE_TYPE_LINEAR ? resource.res.linear.devPtr : resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

CUresult mr_cuTexRefGetAddress(CUdeviceptr_v1 *pdptr, CUtexref hTexRef)
{
    CUdeviceptr wide = 0;
    CUresult status = mr_cuTexRefGetAddress_v2(pdptr ? &wide : NULL, hTexRef);
    if (status != CUDA_SUCCESS)
        return status;
    if (wide > UINT_MAX) {
        mr_call_log(MR_LOG_INFO, "the memory lies above 4 GiB; use cuTexRefGetAddress_v2");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *pdptr = (CUdeviceptr_v1)wide;
    return CUDA_SUCCESS;
}

CUresult mr_cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef)
{
    CUDA_RESOURCE_DESC resource;
    bool bound;
    CUresult status = ask_resource(hTexRef, phArray, &resource, &bound);
    if (status != CUDA_SUCCESS)
        return status;
    if (!bound || resource.resType != CU_RESOURCE_TYPE_ARRAY)
        return mr_bad_value("the reference is not bound to an array");
    *phArray = resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CUresult mr_cuTexRefGetMipmappedArray(CUmipmappedArray *phMipmappedArray, CUtexref hTexRef)
{
    CUDA_RESOURCE_DESC resource;
    bool bound;
    CUresult status = ask_resource(hTexRef, phMipmappedArray, &resource, &bound);
    if (status != CUDA_SUCCESS)
        return status;
    if (!bound || resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return mr_bad_value("the reference is not bound to a mipmapped array");
    *phMipmappedArray = resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
}

CUresult mr_cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef)
{
    struct mr_reference *reference;
    CUresult status = take(hTexRef, MR_KIND_TEXREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (pFormat)
        *pFormat = reference->format;
    if (pNumChannels)
        *pNumChannels = (int)reference->channels;
    give(reference);
    return pFormat || pNumChannels ? CUDA_SUCCESS : mr_bad_value("the results' places are NULL");
}

CUresult mr_cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim)
{
    CUaddress_mode modes[3];
    CUresult status = ask(hTexRef, pam ? modes : NULL, FIELD(addressMode));
    if (status == CUDA_SUCCESS && (dim < 0 || dim > 2))
        status = mr_bad_value("the dimension %d", dim);
    if (status == CUDA_SUCCESS)
        *pam = modes[dim];
    return status;
}

CUresult mr_cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, CUtexref hTexRef)
{
    float clamp[2];
    bool any = pminMipmapLevelClamp || pmaxMipmapLevelClamp;
    CUresult status = ask(hTexRef, any ? clamp : NULL, offsetof(CUDA_TEXTURE_DESC, minMipmapLevelClamp), sizeof clamp);
    if (status == CUDA_SUCCESS && pminMipmapLevelClamp)
        *pminMipmapLevelClamp = clamp[0];
    if (status == CUDA_SUCCESS && pmaxMipmapLevelClamp)
        *pmaxMipmapLevelClamp = clamp[1];
    return status;
}

/* The calls that ask for one field of the description. */
#define ANSWER(call, type, field) \
    CUresult mr_##call(type *out, CUtexref hTexRef) \
    { \
        return ask(hTexRef, out, FIELD(field)); \
    }
ANSWER(cuTexRefGetFilterMode, CUfilter_mode, filterMode)
ANSWER(cuTexRefGetMipmapFilterMode, CUfilter_mode, mipmapFilterMode)
ANSWER(cuTexRefGetMipmapLevelBias, float, mipmapLevelBias)
ANSWER(cuTexRefGetMaxAnisotropy, int, maxAnisotropy)
ANSWER(cuTexRefGetBorderColor, float, borderColor)
ANSWER(cuTexRefGetFlags, unsigned, flags)
#undef ANSWER

/* ---- surface references ---- */

CUresult mr_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)
{
    struct mr_reference *reference;
    struct mr_texture *surface;
    CUresult status = take(hSurfRef, MR_KIND_SURFREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray};
    if (Flags)
        status = mr_bad_value("flags %#x; they have to be 0", Flags);
    else
        status = mr_surface_make(reference->context, &resource, &surface);
    if (status == CUDA_SUCCESS) {
        status = mr_context_synchronize(reference->context);
        if (status == CUDA_SUCCESS) {
            reference->resource = resource;
            reference->bound = true;
            mr_reference_set(reference, surface);
        } else {
            (void)mr_texture_end(surface);
        }
    }
    give(reference);
    return status;
}

CUresult mr_cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef)
{
    struct mr_reference *reference;
    CUresult status = take(hSurfRef, MR_KIND_SURFREF, &reference);
    if (status != CUDA_SUCCESS)
        return status;
    if (!phArray || !reference->bound)
        status = mr_bad_value("the result's place is NULL, or the reference is not bound to an array");
    else
        *phArray = reference->resource.res.array.hArray;
    give(reference);
    return status;
}
