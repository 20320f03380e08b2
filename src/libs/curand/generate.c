/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that make numbers: a device generator's in the order of its stream, a host generator's at once. */
#include <stdatomic.h>
#include <stdlib.h>

#include "curand_impl.h"
#include "libs/curand/generator.h"
#include "libs/curand/poisson.h"
#include "libs/math/driver.h"
#include "libs/math/work.h"

static void run(void *data, uint64_t first, uint64_t end)
{
    struct mr_rand_work *work = data;
    struct mr_rand_work now = {.source = work->source,
                               .poisson = work->poisson,
                               .kind = work->kind,
                               .on_host = work->on_host,
                               .out = work->out,
                               .count = work->count,
                               .place = work->place,
                               .mean = work->mean,
                               .deviation = work->deviation,
                               .parts = work->parts};
    now.times = atomic_fetch_add_explicit(&work->parts_run, end - first, memory_order_relaxed) / work->parts;
    work->source->ops->run(&now, first, end);
}

static void release(void *data)
{
    struct mr_rand_work *work = data;
    mr_rand_source_drop(work->source);
    free(work->poisson);
    free(work);
}

/* Submits the work, and takes it over; `generator` moves on. */
static curandStatus_t submit(const struct mr_form *form, struct mr_generator *generator, struct mr_rand_work *work)
{
    uint64_t parts = work->source->ops->parts(work), items = work->source->ops->items(work);
    work->parts = parts;
    if (generator->on_host) {
        run(work, 0, parts);
        release(work);
    } else if (parts) {
        (void)mr_tell_rows(form->name, work->out, (size_t)work->count * mr_rand_size(work->kind), 1, 0, MR_WRITES);
        mr_tell_work();
        CUresult status = mr_math_driver.submit_parts(generator->stream, parts, run, release, work);
        if (status != CUDA_SUCCESS) {
            release(work);
            return CURAND_STATUS_LAUNCH_FAILURE;
        }
    } else {
        release(work);
    }
    generator->place += items;
    return CURAND_STATUS_SUCCESS;
}

static bool is_sobol(const struct mr_generator *generator)
{
    return generator->type >= CURAND_RNG_QUASI_SOBOL32;
}

/* Which table NVIDIA's library uses for Poisson numbers: that of cumulated probabilities, or the columns. */
static bool is_inverse(const struct mr_generator *generator, double mean)
{
    switch (generator->type) {
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        return mean < MR_POISSON_NORMAL;
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_PSEUDO_MTGP32:
        return mean >= 32;
    default:
        return false;
    }
}

/* Whether the generator can make so many at once. */
static bool has_length(const struct mr_generator *generator, enum mr_rand_kind kind, size_t count)
{
    if (is_sobol(generator))
        return count % generator->dimensions == 0;
    bool in_pairs = generator->type == CURAND_RNG_PSEUDO_XORWOW || generator->type == CURAND_RNG_PSEUDO_MRG32K3A;
    return !in_pairs || !mr_rand_is_normal(kind) || count % 2 == 0;
}

static curandStatus_t generate(const struct mr_form *form, curandGenerator_t handle, enum mr_rand_kind kind, void *out,
                               size_t count, double mean, double deviation)
{
    struct mr_generator *generator = mr_generator_enter(handle);
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    bool is_wide = mr_rand_is_wide(generator->type);
    if (count == 0)
        return CURAND_STATUS_SUCCESS;
    if ((kind == MR_RAND_LONG && !is_wide) || (kind == MR_RAND_WORD && is_wide))
        return CURAND_STATUS_TYPE_ERROR;
    if (kind == MR_RAND_POISSON && (mean <= 0 || mean > MR_POISSON_MOST))
        return CURAND_STATUS_OUT_OF_RANGE;
    if (!has_length(generator, kind, count))
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    curandStatus_t status = mr_generator_source(generator);
    if (status != CURAND_STATUS_SUCCESS)
        return status;
    struct mr_rand_work *work = malloc(sizeof *work);
    struct mr_poisson *poisson =
        kind == MR_RAND_POISSON && work ? mr_poisson_new(mean, is_inverse(generator, mean)) : NULL;
    if (!work || (kind == MR_RAND_POISSON && !poisson)) {
        free(work);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    *work = (struct mr_rand_work){.source = mr_rand_source_take(generator->source),
                                  .poisson = poisson,
                                  .kind = kind,
                                  .on_host = generator->on_host,
                                  .out = out,
                                  .count = count,
                                  .place = generator->place,
                                  .mean = mean,
                                  .deviation = deviation};
    return submit(form, generator, work);
}

curandStatus_t mr_curand_Generate(const struct mr_form *form, curandGenerator_t generator, unsigned int *outputPtr,
                                  size_t num)
{
    return generate(form, generator, MR_RAND_WORD, outputPtr, num, 0, 0);
}

curandStatus_t mr_curand_GenerateLongLong(const struct mr_form *form, curandGenerator_t generator,
                                          unsigned long long *outputPtr, size_t num)
{
    return generate(form, generator, MR_RAND_LONG, outputPtr, num, 0, 0);
}

curandStatus_t mr_curand_GenerateUniform(const struct mr_form *form, curandGenerator_t generator, void *outputPtr,
                                         size_t num)
{
    return generate(form, generator, MR_RAND_UNIFORM, outputPtr, num, 0, 0);
}

curandStatus_t mr_curand_GenerateUniformDouble(const struct mr_form *form, curandGenerator_t generator, void *outputPtr,
                                               size_t num)
{
    return generate(form, generator, MR_RAND_UNIFORM_DOUBLE, outputPtr, num, 0, 0);
}

curandStatus_t mr_curand_GenerateNormal(const struct mr_form *form, curandGenerator_t generator, void *outputPtr,
                                        size_t n, float mean, float stddev)
{
    return generate(form, generator, MR_RAND_NORMAL, outputPtr, n, mean, stddev);
}

curandStatus_t mr_curand_GenerateNormalDouble(const struct mr_form *form, curandGenerator_t generator, void *outputPtr,
                                              size_t n, double mean, double stddev)
{
    return generate(form, generator, MR_RAND_NORMAL_DOUBLE, outputPtr, n, mean, stddev);
}

curandStatus_t mr_curand_GenerateLogNormal(const struct mr_form *form, curandGenerator_t generator, void *outputPtr,
                                           size_t n, float mean, float stddev)
{
    return generate(form, generator, MR_RAND_LOG_NORMAL, outputPtr, n, mean, stddev);
}

curandStatus_t mr_curand_GenerateLogNormalDouble(const struct mr_form *form, curandGenerator_t generator,
                                                 void *outputPtr, size_t n, double mean, double stddev)
{
    return generate(form, generator, MR_RAND_LOG_NORMAL_DOUBLE, outputPtr, n, mean, stddev);
}

curandStatus_t mr_curand_GeneratePoisson(const struct mr_form *form, curandGenerator_t generator,
                                         unsigned int *outputPtr, size_t n, double lambda)
{
    return generate(form, generator, MR_RAND_POISSON, outputPtr, n, lambda, 0);
}
