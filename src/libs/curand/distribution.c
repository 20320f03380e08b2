/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of Poisson distributions for kernels (curand_discrete of NVIDIA's curand_kernel.h), in device memory: one
 * block with the records, which point at each other, and then the columns of poisson.h. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "curand_impl.h"
#include "libs/curand/poisson.h"
#include "libs/math/driver.h"

/* What kernels read; the layout is that of the public headers. A count comes from column j = floor(length * u): shift +
 * j if u is below V[j], else shift + K[j]. Pointers for generators of the host are NULL. */
struct histogram {
    CUdeviceptr v, host_v, k, host_k;
    unsigned host_gen;
};

struct columns {
    CUdeviceptr histogram, host_histogram;
    unsigned shift, length, host_gen;
};

struct discrete {
    CUdeviceptr self_host_ptr, m2, host_m2;
    double stddev, mean;
    curandMethod_t method;
    unsigned host_gen;
};

struct block {
    struct discrete discrete;
    struct columns columns;
    struct histogram histogram;
    double v[];
};

/* Those that are live. */
static struct live {
    struct live *next;
    CUdeviceptr at;
} *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The block as it has to lie at `at`. One column more than there are stands behind the last, for a fraction of 1. */
static void fill(struct block *block, CUdeviceptr at, const struct mr_poisson *poisson)
{
    unsigned length = poisson->length, *k = (unsigned *)(void *)(block->v + length + 1);
    CUdeviceptr v = at + offsetof(struct block, v);
    *block = (struct block){
        .discrete = {.m2 = at + offsetof(struct block, columns),
                     .stddev = poisson->root,
                     .mean = poisson->mean,
                     .method = CURAND_M2},
        .columns = {.histogram = at + offsetof(struct block, histogram), .shift = poisson->first, .length = length},
        .histogram = {.v = v, .k = v + (length + 1) * sizeof(double)},
    };
    for (unsigned i = 0; i <= length; i++) {
        unsigned from = i < length ? i : length - 1;
        block->v[i] = poisson->border[from];
        k[i] = poisson->other[from];
    }
}

/* A copy in device memory; 0 if memory is short. */
static CUdeviceptr place(const struct mr_poisson *poisson)
{
    size_t size = sizeof(struct block) + (poisson->length + 1) * (sizeof(double) + sizeof(unsigned));
    struct block *block = malloc(size);
    CUdeviceptr at = 0;
    if (block && mr_math_driver.cuMemAlloc_v2(&at, size) == CUDA_SUCCESS) {
        fill(block, at, poisson);
        if (mr_math_driver.cuMemcpyHtoD_v2(at, block, size) != CUDA_SUCCESS) {
            (void)mr_math_driver.cuMemFree_v2(at);
            at = 0;
        }
    }
    free(block);
    return at;
}

curandStatus_t mr_curand_CreatePoissonDistribution(const struct mr_form *form, double lambda,
                                                   curandDiscreteDistribution_t *discrete_distribution)
{
    (void)form;
    mr_log_setup();
    if (!(lambda > 0 && lambda <= MR_POISSON_MOST) || !discrete_distribution)
        return CURAND_STATUS_OUT_OF_RANGE;
    if (!mr_math_driver_open() || !mr_math_context(NULL))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct live *live = malloc(sizeof *live);
    struct mr_poisson *poisson = mr_poisson_new_table(lambda);
    CUdeviceptr at = live && poisson ? place(poisson) : 0;
    free(poisson);
    if (!at) {
        free(live);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    live->at = at;
    pthread_mutex_lock(&lock);
    live->next = list;
    list = live;
    pthread_mutex_unlock(&lock);
    *discrete_distribution = (curandDiscreteDistribution_t)(uintptr_t)at;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_DestroyDistribution(const struct mr_form *form,
                                             curandDiscreteDistribution_t discrete_distribution)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)discrete_distribution;
    (void)form;
    pthread_mutex_lock(&lock);
    struct live **link = &list;
    while (*link && (*link)->at != at)
        link = &(*link)->next;
    struct live *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    if (!found)
        return CURAND_STATUS_NOT_INITIALIZED;
    free(found);
    return mr_math_driver.cuMemFree_v2(at) == CUDA_SUCCESS ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INTERNAL_ERROR;
}
