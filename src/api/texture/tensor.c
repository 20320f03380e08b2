/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps (driver API manual, Tensor Map Object Management). A map is 128 bytes of the program's own, so nothing is
 * kept here. */
#include <string.h>

#include "api/stub.h"
#include "api_impl.h"
#include "kernel/tensor.h"
#include "object/context.h"
#include "prepare/check.h"

_Static_assert(sizeof(CUtensorMap) == 128, "tensor maps");

enum { BOX_MAX = 256, STEP_MAX = 8, PIXELS_MAX = 1024, ADDRESS_BITS = 57, SHARED_MAX = 228 << 10 };

struct description {
    CUtensorMapDataType type;
    unsigned rank;
    const void *address;
    const cuuint64_t *dim, *stride;
    const cuuint32_t *step;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

static bool is_float(CUtensorMapDataType type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static CUresult check_words(const struct description *d)
{
    if ((unsigned)d->type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ)
        return mr_bad_value("devices of compute capability 9.0 have no data type %d", (int)d->type);
    if ((unsigned)d->interleave > CU_TENSOR_MAP_INTERLEAVE_32B || (unsigned)d->swizzle > CU_TENSOR_MAP_SWIZZLE_128B ||
        (unsigned)d->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)d->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return mr_bad_value("interleave %d, swizzle %d, promotion %d, fill %d: CUDA has no such value of one of them",
                            (int)d->interleave, (int)d->swizzle, (int)d->promotion, (int)d->fill);
    if (d->fill && !is_float(d->type))
        return mr_bad_value("NaNs outside are for floats");
    return CUDA_SUCCESS;
}

static CUresult check_sizes(const struct description *d)
{
    unsigned align = d->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    if (d->rank < 1 || d->rank > MR_TENSOR_RANK || (d->interleave && d->rank < 3))
        return mr_bad_value("%u dimensions", d->rank);
    if ((uintptr_t)d->address % align || (uintptr_t)d->address >> ADDRESS_BITS)
        return mr_bad_value("the tensor's address %p is no multiple of %u, or too large", d->address, align);
    if (!d->dim || !d->stride || !d->step)
        return mr_bad_value("sizes, strides or steps are NULL");
    for (unsigned i = 0; i < d->rank; i++) {
        if (d->dim[i] == 0 || d->dim[i] > UINT64_C(1) << 32)
            return mr_bad_value("dimension %u has %llu elements", i, (unsigned long long)d->dim[i]);
        if (d->step[i] == 0 || d->step[i] > STEP_MAX)
            return mr_bad_value("the step of dimension %u is %u, not from 1 to %d", i, d->step[i], STEP_MAX);
        if (i > 0 && (d->stride[i - 1] % align || d->stride[i - 1] >= UINT64_C(1) << 40))
            return mr_bad_value("stride %u is %llu: no multiple of %u, or too long", i - 1,
                                (unsigned long long)d->stride[i - 1], align);
    }
    return CUDA_SUCCESS;
}

/* Bytes of a row in shared memory: whole pieces of 16, and within the span of the swizzle. */
static CUresult check_row(const struct description *d, unsigned elements)
{
    unsigned bytes = elements * mr_tensor_element_bytes(d->type);
    if (bytes % 16)
        return mr_bad_value("rows of %u bytes are no multiple of 16", bytes);
    if (!d->interleave && d->swizzle && bytes > 16u << (unsigned)d->swizzle)
        return mr_bad_value("rows of %u bytes are longer than the swizzle's span", bytes);
    return CUDA_SUCCESS;
}

/* What a box takes in shared memory, of which a multiprocessor has 228 KiB. */
static CUresult check_total(const struct description *d, const cuuint32_t *box)
{
    uint64_t bytes = !d->interleave                                  ? mr_tensor_element_bytes(d->type)
                     : d->interleave == CU_TENSOR_MAP_INTERLEAVE_16B ? 16
                                                                     : 32;
    for (unsigned i = 0; i < d->rank; i++) {
        unsigned step = i == 0 && !d->interleave ? 1 : d->step[i];
        if (!d->interleave || i != d->rank - 2)
            bytes *= (box[i] + step - 1) / step;
    }
    return bytes <= SHARED_MAX
               ? CUDA_SUCCESS
               : mr_bad_value("a box of %llu bytes is larger than shared memory", (unsigned long long)bytes);
}

static CUresult check(const struct description *d, const CUtensorMap *map)
{
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status == CUDA_SUCCESS && !map)
        status = mr_bad_value("the map's place is NULL");
    if (status == CUDA_SUCCESS)
        status = check_words(d);
    return status == CUDA_SUCCESS ? check_sizes(d) : status;
}

static struct mr_tensor_map begun(const struct description *d)
{
    struct mr_tensor_map map = {
        .mark = MR_TENSOR_MAP_MARK,
        .address = (uint64_t)(uintptr_t)d->address,
        .type = (uint8_t)d->type,
        .rank = (uint8_t)d->rank,
        .interleave = (uint8_t)d->interleave,
        .swizzle = (uint8_t)d->swizzle,
        .nans = d->fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    };
    for (unsigned i = 0; i < d->rank; i++) {
        map.last[i] = (uint32_t)(d->dim[i] - 1);
        map.step[i] = (uint8_t)d->step[i];
        if (i > 0)
            map.stride[i - 1] = d->stride[i - 1];
    }
    /* A kernel may raise the rank (tensormap.replace). */
    for (unsigned i = d->rank; i < MR_TENSOR_RANK; i++)
        map.step[i] = map.box[i] = 1;
    return map;
}

/* The place of a map may be aligned to less than its type, as on hardware. */
static void put(void *to, const struct mr_tensor_map *map)
{
    memset(to, 0, sizeof(CUtensorMap));
    memcpy(to, map, sizeof *map);
}

CUresult mr_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                   void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                   const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                   CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                   CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    struct description d = {tensorDataType, tensorRank, globalAddress, globalDim,   globalStrides,
                            elementStrides, interleave, swizzle,       l2Promotion, oobFill};
    CUresult status = check(&d, tensorMap);
    if (status != CUDA_SUCCESS)
        return status;
    if (!boxDim)
        return mr_bad_value("the box's sizes are NULL");
    for (unsigned i = 0; i < d.rank; i++)
        if (boxDim[i] == 0 || boxDim[i] > BOX_MAX)
            return mr_bad_value("the box has %u elements in dimension %u, not from 1 to %d", boxDim[i], i, BOX_MAX);
    status = check_row(&d, boxDim[0]);
    if (status != CUDA_SUCCESS)
        return status;
    status = check_total(&d, boxDim);
    if (status != CUDA_SUCCESS)
        return status;
    struct mr_tensor_map map = begun(&d);
    for (unsigned i = 0; i < d.rank; i++)
        map.box[i] = (uint16_t)boxDim[i];
    put(tensorMap, &map);
    return CUDA_SUCCESS;
}

CUresult mr_cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
                                    cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                    const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                    CUtensorMapFloatOOBfill oobFill)
{
    struct description d = {tensorDataType, tensorRank, globalAddress, globalDim,   globalStrides,
                            elementStrides, interleave, swizzle,       l2Promotion, oobFill};
    CUresult status = check(&d, tensorMap);
    if (status != CUDA_SUCCESS)
        return status;
    if (d.rank < 3 || !pixelBoxLowerCorner || !pixelBoxUpperCorner)
        return mr_bad_value("%u dimensions, or no corners", d.rank);
    if (channelsPerPixel == 0 || channelsPerPixel > BOX_MAX || pixelsPerColumn == 0 || pixelsPerColumn > PIXELS_MAX)
        return mr_bad_value("%u channels and %u pixels are not from 1 to %d and %d", channelsPerPixel, pixelsPerColumn,
                            BOX_MAX, PIXELS_MAX);
    int limit = d.rank == 3 ? 32768 : d.rank == 4 ? 128 : 16; /* 16, 8, 5 bits */
    struct mr_tensor_map map = begun(&d);
    for (unsigned i = 0; i + 2 < d.rank; i++) {
        int lower = pixelBoxLowerCorner[i], upper = pixelBoxUpperCorner[i];
        if (lower < -limit || lower >= limit || upper < -limit || upper >= limit)
            return mr_bad_value("corner %d, %d of dimension %u is not from %d to %d", lower, upper, i + 1, -limit,
                                limit - 1);
        if (lower > (int64_t)d.dim[i + 1] - 1 + upper)
            return mr_bad_value("between the corners %d, %d of dimension %u is no pixel", lower, upper, i + 1);
        map.lower[i] = (int16_t)lower;
        map.upper[i] = (int16_t)upper;
    }
    status = check_row(&d, channelsPerPixel);
    if (status != CUDA_SUCCESS)
        return status;
    if (channelsPerPixel * pixelsPerColumn * mr_tensor_element_bytes(map.type) > SHARED_MAX)
        return mr_bad_value("%u pixels of %u channels are more than shared memory holds", pixelsPerColumn,
                            channelsPerPixel);
    if (d.interleave)
        return mr_stub_refuse("cuTensorMapEncodeIm2col with interleaved layouts");
    map.columns = true;
    map.box[0] = (uint16_t)channelsPerPixel;
    map.box[1] = (uint16_t)pixelsPerColumn;
    put(tensorMap, &map);
    return CUDA_SUCCESS;
}

CUresult mr_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct mr_tensor_map map;
    struct mr_context *context;
    CUresult status = mr_context_require(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!tensorMap)
        return mr_bad_value("the map's place is NULL");
    memcpy(&map, tensorMap, sizeof map);
    unsigned align = map.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    if (map.mark != MR_TENSOR_MAP_MARK || !globalAddress || (uintptr_t)globalAddress % align ||
        (uintptr_t)globalAddress >> ADDRESS_BITS)
        return mr_bad_value("this is no tensor map, or the address %p is 0, no multiple of %u or too large",
                            globalAddress, align);
    map.address = (uint64_t)(uintptr_t)globalAddress;
    memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
}
