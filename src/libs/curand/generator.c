/* SPDX-License-Identifier: Apache-2.0 */
/* Generators' handles and settings. */
#include "libs/curand/generator.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "curand_impl.h"
#include "libs/curand/refuse.h"
#include "libs/curand/tables.h"
#include "libs/math/driver.h"
#include "libs/math/handles.h"
#include "libs/math/refusal.h"

curandStatus_t mr_curand_refuse(const char *function)
{
    mr_math_refuse_function(function);
    return CURAND_STATUS_INTERNAL_ERROR;
}

struct mr_rand_source *mr_rand_source_take(struct mr_rand_source *source)
{
    atomic_fetch_add_explicit(&source->references, 1, memory_order_relaxed);
    return source;
}

void mr_rand_source_drop(struct mr_rand_source *source)
{
    if (source && atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) == 1)
        source->ops->release(source);
}

struct mr_generator *mr_generator_enter(curandGenerator_t handle)
{
    struct mr_generator *generator = mr_math_handle_find(handle);
    if (generator && !generator->on_host && !mr_math_context(generator->context))
        return NULL;
    return generator;
}

static bool is_quasi(const struct mr_generator *generator)
{
    return generator->type >= CURAND_RNG_QUASI_DEFAULT;
}

/* The numbers go on from a place, by the settings as they are now. */
static void renew(struct mr_generator *generator, uint64_t place)
{
    mr_rand_source_drop(generator->source);
    generator->source = NULL;
    generator->place = place;
}

/* As renew, for a generator that has made numbers: Philox then goes back to a quarter of the place and MT19937 to the
 * beginning, as NVIDIA's do. */
static void restart(struct mr_generator *generator)
{
    if (generator->type == CURAND_RNG_PSEUDO_MT19937) {
        renew(generator, 0);
        return;
    }
    bool is_back = generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10 && generator->source;
    renew(generator, is_back ? generator->place / 4 : generator->place);
}

curandStatus_t mr_generator_source(struct mr_generator *generator)
{
    if (generator->source)
        return CURAND_STATUS_SUCCESS;
    struct mr_rand_source *source;
    switch (generator->type) {
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
        source = mr_rand_lanes_new(generator);
        break;
    case CURAND_RNG_PSEUDO_MTGP32:
        source = mr_rand_mtgp32_new(generator);
        break;
    case CURAND_RNG_PSEUDO_MT19937:
        source = mr_rand_mt19937_new(generator);
        break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        source = mr_rand_philox_new(generator);
        break;
    default:
        source = mr_rand_sobol_new(generator);
    }
    if (!source)
        return CURAND_STATUS_ALLOCATION_FAILED;
    source->type = generator->type;
    atomic_init(&source->references, 1);
    generator->source = source;
    return CURAND_STATUS_SUCCESS;
}

/* The kind behind a name, or 0 if there is none. */
static curandRngType_t kind_of(curandRngType_t type)
{
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
        return CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_RNG_QUASI_DEFAULT:
        return CURAND_RNG_QUASI_SOBOL32;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        return type;
    default:
        return 0;
    }
}

static curandStatus_t create(const struct mr_form *form, curandGenerator_t *handle, curandRngType_t name, bool on_host)
{
    curandRngType_t type = kind_of(name);
    CUcontext context = NULL;
    mr_log_setup();
    if (!handle)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!type)
        return CURAND_STATUS_TYPE_ERROR;
    if (!on_host && (!mr_math_driver_open() || !(context = mr_math_context(NULL))))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct mr_generator *generator = calloc(1, sizeof *generator);
    if (!generator)
        return CURAND_STATUS_ALLOCATION_FAILED;
    generator->type = type;
    generator->on_host = on_host;
    generator->context = context;
    generator->dimensions = 1;
    generator->ordering = is_quasi(generator) ? CURAND_ORDERING_QUASI_DEFAULT : CURAND_ORDERING_PSEUDO_DEFAULT;
    curandGenerator_t made = mr_math_handle_new(generator);
    if (!made) {
        mr_log(MR_LOG_WARN, "%s: there are %u generators already", form->name, MR_MATH_HANDLES);
        free(generator);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    *handle = made;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_CreateGenerator(const struct mr_form *form, curandGenerator_t *generator,
                                         curandRngType_t rng_type)
{
    return create(form, generator, rng_type, false);
}

curandStatus_t mr_curand_CreateGeneratorHost(const struct mr_form *form, curandGenerator_t *generator,
                                             curandRngType_t rng_type)
{
    return create(form, generator, rng_type, true);
}

curandStatus_t mr_curand_DestroyGenerator(const struct mr_form *form, curandGenerator_t generator)
{
    (void)form;
    struct mr_generator *record = mr_math_handle_end(generator);
    if (!record)
        return CURAND_STATUS_NOT_INITIALIZED;
    mr_rand_source_drop(record->source);
    free(record);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetVersion(const struct mr_form *form, int *version)
{
    (void)form;
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GetProperty(const struct mr_form *form, libraryPropertyType type, int *value)
{
    static const int values[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    (void)form;
    if ((unsigned)type > PATCH_LEVEL || !value)
        return CURAND_STATUS_OUT_OF_RANGE;
    *value = values[type];
    return CURAND_STATUS_SUCCESS;
}

/* Returns NOT_INITIALIZED from the function unless the handle is live; `record` is its record. */
#define ENTER() \
    struct mr_generator *record = mr_generator_enter(generator); \
    (void)form; \
    if (!record) \
    return CURAND_STATUS_NOT_INITIALIZED

curandStatus_t mr_curand_SetStream(const struct mr_form *form, curandGenerator_t generator, cudaStream_t stream)
{
    ENTER();
    record->stream = (CUstream)stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_SetPseudoRandomGeneratorSeed(const struct mr_form *form, curandGenerator_t generator,
                                                      unsigned long long seed)
{
    ENTER();
    if (is_quasi(record))
        return CURAND_STATUS_TYPE_ERROR;
    if (record->seed != seed) {
        record->seed = seed;
        restart(record);
    } else {
        renew(record, record->place);
    }
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_SetGeneratorOffset(const struct mr_form *form, curandGenerator_t generator,
                                            unsigned long long offset)
{
    ENTER();
    if (record->type == CURAND_RNG_PSEUDO_MTGP32 || record->type == CURAND_RNG_PSEUDO_MT19937)
        return CURAND_STATUS_TYPE_ERROR;
    renew(record, offset);
    return CURAND_STATUS_SUCCESS;
}

static bool has_ordering(const struct mr_generator *generator, curandOrdering_t order)
{
    if (is_quasi(generator))
        return order == CURAND_ORDERING_QUASI_DEFAULT;
    switch (order) {
    case CURAND_ORDERING_PSEUDO_BEST:
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
        return true;
    case CURAND_ORDERING_PSEUDO_SEEDED:
        return generator->type == CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_ORDERING_PSEUDO_DYNAMIC: /* what suits the device: here it is the default order */
        return !generator->on_host && generator->type != CURAND_RNG_PSEUDO_MT19937;
    default:
        return false;
    }
}

curandStatus_t mr_curand_SetGeneratorOrdering(const struct mr_form *form, curandGenerator_t generator,
                                              curandOrdering_t order)
{
    ENTER();
    if (!has_ordering(record, order))
        return CURAND_STATUS_OUT_OF_RANGE;
    if (record->ordering != order) {
        record->ordering = order;
        restart(record);
    }
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_SetQuasiRandomGeneratorDimensions(const struct mr_form *form, curandGenerator_t generator,
                                                           unsigned int num_dimensions)
{
    ENTER();
    if (!is_quasi(record))
        return CURAND_STATUS_TYPE_ERROR;
    if (num_dimensions < 1 || num_dimensions > MR_SOBOL_DIMENSIONS)
        return CURAND_STATUS_OUT_OF_RANGE;
    record->dimensions = num_dimensions;
    renew(record, record->place);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t mr_curand_GenerateSeeds(const struct mr_form *form, curandGenerator_t generator)
{
    ENTER();
    restart(record);
    return mr_generator_source(record);
}
