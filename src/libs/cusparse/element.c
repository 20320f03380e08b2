/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of elements. */
#include "libs/cusparse/element.h"

#include "libs/math/convert.h"

enum mr_type mr_type_for(cudaDataType_t stored)
{
    switch ((int)stored) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_R_32F:
        return MR_S;
    case CUDA_R_8I:
    case CUDA_R_32I:
    case CUDA_R_64F:
        return MR_D;
    case CUDA_C_16F:
    case CUDA_C_16BF:
    case CUDA_C_32F:
        return MR_C;
    case CUDA_C_64F:
        return MR_Z;
    default:
        return MR_TYPES;
    }
}

static bool is_wide(enum mr_type type)
{
    return type == MR_D || type == MR_Z;
}

/* Real elements, each of which is followed by a zero in the result. */
static void take_real(cudaDataType_t stored, const void *from, int64_t stride, int64_t count, bool wide, void *to)
{
    unsigned size = mr_element_size(stored);
    for (int64_t i = 0; i < count; i++) {
        void *place = (char *)to + i * (wide ? 16 : 8);
        memset(place, 0, wide ? 16 : 8);
        mr_load(stored, (const char *)from + i * stride * size, 1, 1, 1, wide, place);
    }
}

void mr_take(cudaDataType_t stored, const void *from, int64_t stride, int64_t count, enum mr_type type, void *to)
{
    if (stored == mr_stored(type) && stride == 1)
        memcpy(to, from, (size_t)count * mr_type_size(type));
    else if (mr_type_is_complex(type) && !mr_element_is_complex(stored))
        take_real(stored, from, stride, count, is_wide(type), to);
    else if (stride == 1)
        mr_load(stored, from, count, count, 1, is_wide(type), to);
    else
        mr_load(stored, from, stride, 1, count, is_wide(type), to);
}

void mr_give(cudaDataType_t stored, void *to, int64_t stride, int64_t count, enum mr_type type, const void *from)
{
    if (stored == mr_stored(type) && stride == 1)
        memcpy(to, from, (size_t)count * mr_type_size(type));
    else if (stride == 1)
        mr_store(stored, to, count, count, 1, is_wide(type), from);
    else
        mr_store(stored, to, stride, 1, count, is_wide(type), from);
}
