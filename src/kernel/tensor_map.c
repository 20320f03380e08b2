/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps that kernels change, or make: 128 bytes of zeros become a map with their first change, as compilers make
 * maps in kernels (Triton's make_tensor_descriptor). Other memory that holds no map stays as it is. If a change leaves
 * no valid map, the next copy that uses it says so. */
#include "kernel/executor.h"

#include <string.h>

#include "kernel/tensor.h"

/* The instruction's numbers of types, as those of the host. */
static uint8_t type_of(uint64_t value)
{
    static const uint8_t types[] = {
        CU_TENSOR_MAP_DATA_TYPE_UINT8,       CU_TENSOR_MAP_DATA_TYPE_UINT16,   CU_TENSOR_MAP_DATA_TYPE_UINT32,
        CU_TENSOR_MAP_DATA_TYPE_INT32,       CU_TENSOR_MAP_DATA_TYPE_UINT64,   CU_TENSOR_MAP_DATA_TYPE_INT64,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16,     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT64,     CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};
    return types[value];
}

static void change(struct mr_tensor_map *map, uint32_t field, uint32_t dimension, uint64_t value)
{
    switch (field) {
    case MR_MAP_ADDRESS:
        map->address = value;
        break;
    case MR_MAP_RANK:
        map->rank = (uint8_t)(value + 1);
        break;
    case MR_MAP_BOX:
        map->box[dimension] = (uint16_t)value;
        break;
    case MR_MAP_SIZE:
        map->last[dimension] = (uint32_t)value - 1;
        break;
    case MR_MAP_STRIDE:
        if (dimension < MR_TENSOR_RANK - 1)
            map->stride[dimension] = value;
        break;
    case MR_MAP_STEP:
        map->step[dimension] = (uint8_t)value;
        break;
    case MR_MAP_TYPE:
        map->type = type_of(value);
        break;
    case MR_MAP_INTERLEAVE:
        map->interleave = (uint8_t)value;
        break;
    case MR_MAP_SWIZZLE:
        map->swizzle = (uint8_t)value;
        break;
    default:
        map->nans = value != 0;
        break;
    }
}

/* Whether a map is there, or can begin there. Zeros are what a map of one element has on hardware, which stores sizes,
 * boxes, steps and the rank less one. */
static bool begin(struct mr_tensor_map *map, const unsigned char *place)
{
    static const unsigned char zeros[sizeof(CUtensorMap)];
    memcpy(map, place, sizeof *map);
    if (map->mark == MR_TENSOR_MAP_MARK)
        return true;
    if (memcmp(place, zeros, sizeof zeros) != 0)
        return false;
    *map =
        (struct mr_tensor_map){.mark = MR_TENSOR_MAP_MARK, .rank = 1, .box = {1, 1, 1, 1, 1}, .step = {1, 1, 1, 1, 1}};
    return true;
}

void mr_change_map(struct mr_block *block, uint32_t mask, uint32_t field, uint32_t dimension, uint32_t line,
                   const uint64_t *map, const uint64_t *value)
{
    (void)block, (void)line;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        unsigned char *place = (unsigned char *)(uintptr_t)map[lane];
        struct mr_tensor_map changed;
        if (!begin(&changed, place))
            continue;
        change(&changed, field, dimension, value[lane]);
        memcpy(place, &changed, sizeof changed);
    }
}
