/* SPDX-License-Identifier: Apache-2.0 */
/* Which types of elements may be mixed in a product, and scalars of a compute type. */
#ifndef MR_CUSPARSE_MIX_H
#define MR_CUSPARSE_MIX_H

#include "libs/cusparse/element.h"
#include "libs/cusparse/sparse.h"

/* Whether a product of `a` and `x` into `y`, computed in `compute`, is in the manual's tables. */
bool mr_mix_is_known(cudaDataType_t compute, cudaDataType_t a, cudaDataType_t x, cudaDataType_t y);

/* The scalar behind a pointer of the handle's pointer mode, of the compute type. */
struct mr_scalar mr_cusparse_scalar(const struct mr_cusparse *sparse, const void *pointer, cudaDataType_t compute);

#endif
