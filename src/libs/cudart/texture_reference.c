/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references of programs that CUDA 11 built (runtime API manual of 11.8, Texture Reference
 * Management, Surface Reference Management). A reference is a variable of the program's, whose members say how the
 * texture is read, and a variable of the image's with the same name. Binding hands the members on to the driver's
 * reference (cuModuleGetTexRef), and then the memory or array. */
#include <pthread.h>
#include <string.h>

#include "libs/cudart/array.h"
#include "libs/cudart/lock.h"
#include "libs/cudart/register.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

/* As CUDA 11.8's texture_types.h has it. */
struct textureReference {
    int normalized;
    int filterMode;
    int addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int reserved[14];
};
_Static_assert(sizeof(struct textureReference) == 124, "as programs of CUDA 11 have it");

/* Guards what is noted of a reference, and keeps its settings together. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The reference that the program's variable stands for. */
static cudaError_t registered(const void *variable, bool is_surface, struct mr_rt_reference **out)
{
    *out = mr_rt_reference(variable, is_surface);
    if (*out)
        return cudaSuccess;
    return mr_rt_bad(is_surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture,
                     "%p is no %s that this program has registered", variable, is_surface ? "surface" : "texture");
}

/* The variable itself is what a program binds. */
static cudaError_t find(const void **place, const void *variable, bool is_surface)
{
    struct mr_rt_reference *reference;
    if (!place)
        return mr_rt_bad(cudaErrorInvalidValue, "the result's place is NULL");
    cudaError_t status = registered(variable, is_surface, &reference);
    if (status == cudaSuccess)
        *place = variable;
    return status;
}

/* The driver's reference, in the current context. */
static cudaError_t texture(const struct textureReference *texref, struct mr_rt_reference **out, CUtexref *handle)
{
    CUmodule module;
    cudaError_t status = registered(texref, false, out);
    if (status == cudaSuccess)
        status = mr_rt_reference_module(texref, &module);
    if (status != cudaSuccess)
        return status;
    CUresult got = mr_driver.cuModuleGetTexRef(handle, module, (*out)->name);
    if (got == CUDA_ERROR_NOT_FOUND)
        return mr_rt_bad(cudaErrorInvalidTexture, "there is no texture '%s' in its image", (*out)->name);
    return (cudaError_t)got;
}

/* The members' way to the driver. The reference is unbound meanwhile, so that no texture is made of some of them. */
static CUresult set(CUtexref to, const struct textureReference *from, const struct mr_rt_reference *reference)
{
    unsigned flags = (reference->reads_normalized ? 0 : CU_TRSF_READ_AS_INTEGER) |
                     (from->normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (from->sRGB ? CU_TRSF_SRGB : 0) |
                     (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0);
    CUresult status = mr_driver.cuTexRefSetAddress(NULL, to, 0, 0);
    for (int i = 0; status == CUDA_SUCCESS && i < 3; i++)
        status = mr_driver.cuTexRefSetAddressMode(to, i, (CUaddress_mode)from->addressMode[i]);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetFilterMode(to, (CUfilter_mode)from->filterMode);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetMaxAnisotropy(to, from->maxAnisotropy);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetMipmapFilterMode(to, (CUfilter_mode)from->mipmapFilterMode);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetMipmapLevelBias(to, from->mipmapLevelBias);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetMipmapLevelClamp(to, from->minMipmapLevelClamp, from->maxMipmapLevelClamp);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuTexRefSetFlags(to, flags);
    return status;
}

/* What a texture is bound to. */
struct target {
    CUresult (*bind)(CUtexref handle, struct target *target);
    CUdeviceptr memory;
    size_t bytes, pitch;
    CUDA_ARRAY_DESCRIPTOR plane;
    CUarray array;
    CUmipmappedArray levels;
    size_t offset; /* out: see mr_rt_reference */
    bool may_have_offset;
};

static cudaError_t bind(const struct textureReference *texref, struct target *target)
{
    struct mr_rt_reference *reference;
    CUtexref handle;
    cudaError_t status = texture(texref, &reference, &handle);
    if (status != cudaSuccess)
        return status;
    mr_rt_lock(&lock);
    CUresult got = set(handle, texref, reference);
    if (got == CUDA_SUCCESS)
        got = target->bind(handle, target);
    reference->is_bound = got == CUDA_SUCCESS;
    reference->offset = target->offset;
    mr_rt_unlock(&lock);
    return (cudaError_t)got;
}

/* A program may leave the size out, which is then UINT_MAX: the texture ends where the memory does. */
static CUresult bind_memory(CUtexref handle, struct target *target)
{
    CUdeviceptr start;
    size_t whole;
    CUresult status = mr_driver.cuMemGetAddressRange(&start, &whole, target->memory);
    if (status != CUDA_SUCCESS)
        return mr_rt_bad(CUDA_ERROR_INVALID_VALUE, "%#llx is no address of memory", target->memory);
    if (target->bytes > start + whole - target->memory)
        target->bytes = start + whole - target->memory;
    status = mr_driver.cuTexRefSetFormat(handle, target->plane.Format, (int)target->plane.NumChannels);
    return status == CUDA_SUCCESS ? mr_driver.cuTexRefSetAddress(target->may_have_offset ? &target->offset : NULL,
                                                                 handle, target->memory, target->bytes)
                                  : status;
}

cudaError_t mr_cudaBindTexture(size_t *offset, const struct textureReference *texref, const void *devPtr,
                               const struct cudaChannelFormatDesc *desc, size_t size)
{
    struct target target = {
        .bind = bind_memory, .memory = MR_PTR(devPtr), .bytes = size, .may_have_offset = offset != NULL};
    cudaError_t status = desc ? mr_rt_format(desc, &target.plane.Format, &target.plane.NumChannels)
                              : mr_rt_bad(cudaErrorInvalidValue, "the format of a texture is NULL");
    if (status == cudaSuccess)
        status = bind(texref, &target);
    if (status == cudaSuccess && offset)
        *offset = target.offset;
    return status;
}

/* A plane's rows begin at multiples of an alignment; what is left over is for the kernel to add to x. */
static CUresult bind_plane(CUtexref handle, struct target *target)
{
    CUdevice device;
    int alignment = 1;
    CUresult status = mr_driver.cuCtxGetDevice(&device);
    if (status == CUDA_SUCCESS)
        status = mr_driver.cuDeviceGetAttribute(&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device);
    if (status != CUDA_SUCCESS)
        return status;
    size_t over = target->memory % (unsigned)alignment;
    if (over && !target->may_have_offset)
        return mr_rt_bad(CUDA_ERROR_INVALID_VALUE, "%#llx is not a multiple of %d bytes, and offset is NULL",
                         target->memory, alignment);
    size_t texel = target->bytes;
    if (over % texel)
        return mr_rt_bad(CUDA_ERROR_INVALID_VALUE, "%#llx is no multiple of a texel's %zu bytes", target->memory,
                         texel);
    target->offset = over;
    target->plane.Width += over / texel;
    return mr_driver.cuTexRefSetAddress2D(handle, &target->plane, target->memory - over, target->pitch);
}

cudaError_t mr_cudaBindTexture2D(size_t *offset, const struct textureReference *texref, const void *devPtr,
                                 const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch)
{
    struct target target = {.bind = bind_plane,
                            .memory = MR_PTR(devPtr),
                            .pitch = pitch,
                            .plane = {.Width = width, .Height = height},
                            .may_have_offset = offset != NULL};
    cudaError_t status = desc ? mr_rt_format(desc, &target.plane.Format, &target.plane.NumChannels)
                              : mr_rt_bad(cudaErrorInvalidValue, "the format of a texture is NULL");
    if (status == cudaSuccess) {
        target.bytes = (size_t)(desc->x + desc->y + desc->z + desc->w) / 8;
        status = bind(texref, &target);
    }
    if (status == cudaSuccess && offset)
        *offset = target.offset;
    return status;
}

/* Whether an array has the format that a program says it has. */
static cudaError_t compare(CUarray array, const struct cudaChannelFormatDesc *desc)
{
    CUDA_ARRAY3D_DESCRIPTOR found;
    struct cudaChannelFormatDesc own;
    if (!desc)
        return mr_rt_bad(cudaErrorInvalidValue, "the format of an array is NULL");
    cudaError_t status = (cudaError_t)mr_driver.cuArray3DGetDescriptor(&found, array);
    if (status == cudaSuccess)
        status = mr_rt_channels(found.Format, found.NumChannels, &own);
    if (status == cudaSuccess && memcmp(&own, desc, sizeof own) != 0)
        return mr_rt_bad(cudaErrorInvalidValue, "the array's channels have %d, %d, %d and %d bits of kind %d", own.x,
                         own.y, own.z, own.w, (int)own.f);
    return status;
}

static CUresult bind_array(CUtexref handle, struct target *target)
{
    return mr_driver.cuTexRefSetArray(handle, target->array, CU_TRSA_OVERRIDE_FORMAT);
}

cudaError_t mr_cudaBindTextureToArray(const struct textureReference *texref, cudaArray_const_t array,
                                      const struct cudaChannelFormatDesc *desc)
{
    struct target target = {.bind = bind_array, .array = (CUarray)(uintptr_t)array};
    cudaError_t status = compare(target.array, desc);
    return status == cudaSuccess ? bind(texref, &target) : status;
}

static CUresult bind_levels(CUtexref handle, struct target *target)
{
    return mr_driver.cuTexRefSetMipmappedArray(handle, target->levels, CU_TRSA_OVERRIDE_FORMAT);
}

cudaError_t mr_cudaBindTextureToMipmappedArray(const struct textureReference *texref,
                                               cudaMipmappedArray_const_t mipmappedArray,
                                               const struct cudaChannelFormatDesc *desc)
{
    struct target target = {.bind = bind_levels, .levels = (CUmipmappedArray)(uintptr_t)mipmappedArray};
    CUarray first;
    cudaError_t status = (cudaError_t)mr_driver.cuMipmappedArrayGetLevel(&first, target.levels, 0);
    if (status == cudaSuccess)
        status = compare(first, desc);
    return status == cudaSuccess ? bind(texref, &target) : status;
}

cudaError_t mr_cudaUnbindTexture(const struct textureReference *texref)
{
    struct mr_rt_reference *reference;
    CUtexref handle;
    cudaError_t status = texture(texref, &reference, &handle);
    if (status != cudaSuccess)
        return status;
    mr_rt_lock(&lock);
    reference->is_bound = false;
    CUresult got = mr_driver.cuTexRefSetAddress(NULL, handle, 0, 0);
    mr_rt_unlock(&lock);
    return (cudaError_t)got;
}

cudaError_t mr_cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texref)
{
    struct mr_rt_reference *reference;
    cudaError_t status = registered(texref, false, &reference);
    if (status != cudaSuccess)
        return status;
    if (!offset)
        return mr_rt_bad(cudaErrorInvalidValue, "the result's place is NULL");
    mr_rt_lock(&lock);
    bool is_bound = reference->is_bound;
    size_t found = reference->offset;
    mr_rt_unlock(&lock);
    if (!is_bound)
        return mr_rt_bad(cudaErrorInvalidTextureBinding, "the texture '%s' is not bound", reference->name);
    *offset = found;
    return cudaSuccess;
}

cudaError_t mr_cudaGetTextureReference(const struct textureReference **texref, const void *symbol)
{
    return find((const void **)texref, symbol, false);
}

cudaError_t mr_cudaBindSurfaceToArray(const struct surfaceReference *surfref, cudaArray_const_t array,
                                      const struct cudaChannelFormatDesc *desc)
{
    CUmodule module;
    CUsurfref handle;
    struct mr_rt_reference *reference;
    cudaError_t status = registered(surfref, true, &reference);
    if (status == cudaSuccess)
        status = compare((CUarray)(uintptr_t)array, desc);
    if (status == cudaSuccess)
        status = mr_rt_reference_module(surfref, &module);
    if (status != cudaSuccess)
        return status;
    CUresult got = mr_driver.cuModuleGetSurfRef(&handle, module, reference->name);
    if (got == CUDA_ERROR_NOT_FOUND)
        return mr_rt_bad(cudaErrorInvalidSurface, "there is no surface '%s' in its image", reference->name);
    return (cudaError_t)(got == CUDA_SUCCESS ? mr_driver.cuSurfRefSetArray(handle, (CUarray)(uintptr_t)array, 0) : got);
}

cudaError_t mr_cudaGetSurfaceReference(const struct surfaceReference **surfref, const void *symbol)
{
    return find((const void **)surfref, symbol, true);
}
