/* SPDX-License-Identifier: Apache-2.0 */
#include "libs/cusparse/mix.h"

#include "libs/math/convert.h"

static const struct {
    cudaDataType_t compute, a, x, y;
} mixes[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_32I, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I},      {CUDA_R_32F, CUDA_R_8I, CUDA_R_8I, CUDA_R_32F},
    {CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F},    {CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
    {CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF}, {CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
    {CUDA_C_32F, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F},    {CUDA_C_32F, CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF},
    {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F},    {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F},
    {CUDA_R_64F, CUDA_R_32F, CUDA_R_64F, CUDA_R_64F},
};

bool mr_mix_is_known(cudaDataType_t compute, cudaDataType_t a, cudaDataType_t x, cudaDataType_t y)
{
    for (unsigned i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (mixes[i].compute == compute && mixes[i].a == a && mixes[i].x == x && mixes[i].y == y)
            return true;
    return false;
}

struct mr_scalar mr_cusparse_scalar(const struct mr_cusparse *sparse, const void *pointer, cudaDataType_t compute)
{
    return mr_scalar_take(pointer, mr_element_size(compute), mr_on_device(sparse));
}
