/* SPDX-License-Identifier: Apache-2.0 */
/* Making plans: what the program asks for is checked and becomes a problem, and that becomes programs. */
#include <string.h>

#include "libs/cufft/fft.h"
#include "libs/math/convert.h"

/* What is asked for, in the widest form. */
struct wanted {
    int64_t rank, batch;
    int64_t n[MR_FFT_RANK];
    bool has_in, has_out; /* the layouts are given */
    int64_t in_embed[MR_FFT_RANK], in_stride, in_distance;
    int64_t out_embed[MR_FFT_RANK], out_stride, out_distance;
    cudaDataType in_type, out_type;
    int type; /* the cufftType; -1 for data types that have none */
};

/* ---- types ---- */

static const struct {
    cufftType type;
    cudaDataType in, out;
} all[] = {{CUFFT_C2C, CUDA_C_32F, CUDA_C_32F}, {CUFFT_R2C, CUDA_R_32F, CUDA_C_32F},
           {CUFFT_C2R, CUDA_C_32F, CUDA_R_32F}, {CUFFT_Z2Z, CUDA_C_64F, CUDA_C_64F},
           {CUFFT_D2Z, CUDA_R_64F, CUDA_C_64F}, {CUFFT_Z2D, CUDA_C_64F, CUDA_R_64F}};

static bool types_of(int64_t type, struct wanted *wanted)
{
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if ((int64_t)all[i].type == type) {
            wanted->in_type = all[i].in;
            wanted->out_type = all[i].out;
            wanted->type = (int)type;
            return true;
        }
    return false;
}

/* The real type of a complex one. */
static cudaDataType real_of(cudaDataType type)
{
    return type == CUDA_C_32F    ? CUDA_R_32F
           : type == CUDA_C_64F  ? CUDA_R_64F
           : type == CUDA_C_16F  ? CUDA_R_16F
           : type == CUDA_C_16BF ? CUDA_R_16BF
                                 : type;
}

/* One precision, at least one side complex, and computed in the same. */
static bool are_types(cudaDataType in, cudaDataType out, cudaDataType execution)
{
    cudaDataType real = real_of(execution);
    bool known = real == CUDA_R_32F || real == CUDA_R_64F || real == CUDA_R_16F || real == CUDA_R_16BF;
    bool complex_in = mr_element_is_complex(in), complex_out = mr_element_is_complex(out);
    return known && real_of(in) == real && real_of(out) == real && (complex_in || complex_out);
}

/* ---- checks ---- */

static bool is_power_of_2(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static cufftResult check_lengths(const struct mr_form *form, const struct wanted *wanted)
{
    for (int i = 0; i < wanted->rank; i++)
        if (wanted->n[i] < 1)
            return mr_fft_bad(form, CUFFT_INVALID_SIZE, "the length %lld is less than 1", (long long)wanted->n[i]);
    if (wanted->batch < 1)
        return mr_fft_bad(form, CUFFT_INVALID_SIZE, "the batch of %lld is less than 1", (long long)wanted->batch);
    bool small = mr_element_size(real_of(wanted->in_type)) == 2;
    for (int i = 0; i < wanted->rank && small; i++)
        if (!is_power_of_2(wanted->n[i]))
            return mr_fft_bad(form, CUFFT_NOT_SUPPORTED,
                              "with elements of 16 bits, lengths are powers of 2: %lld is not",
                              (long long)wanted->n[i]);
    return CUFFT_SUCCESS;
}

static cufftResult check_layouts(const struct mr_form *form, const struct wanted *wanted)
{
    if (!wanted->has_in && !wanted->has_out)
        return CUFFT_SUCCESS;
    if (!wanted->has_in || !wanted->has_out)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "a layout is given for one side alone");
    for (int i = 1; i < wanted->rank; i++)
        if (wanted->in_embed[i] < 0 || wanted->out_embed[i] < 0)
            return mr_fft_bad(form, CUFFT_INVALID_SIZE, "a length of an embedding array is less than 0");
    if (wanted->in_stride < 1 || wanted->out_stride < 1 || wanted->in_distance < 1 || wanted->out_distance < 1)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "a stride or a distance is less than 1");
    return CUFFT_SUCCESS;
}

/* ---- problems ---- */

/* The side as it is without a layout: elements follow each other; real ones in place have the room of the complex. */
static struct mr_fft_side default_side(const struct mr_fft_problem *problem, cudaDataType type, bool is_half,
                                       bool is_padded)
{
    struct mr_fft_side side = {.type = type, .stride = 1, .distance = 1};
    for (int i = 0; i < problem->rank; i++) {
        side.embed[i] = problem->n[i];
        if (i == problem->rank - 1 && is_half)
            side.embed[i] = problem->n[i] / 2 + 1;
        else if (i == problem->rank - 1 && is_padded)
            side.embed[i] = (problem->n[i] / 2 + 1) * 2;
        if (__builtin_mul_overflow(side.distance, side.embed[i], &side.distance))
            side.distance = INT64_MAX;
    }
    return side;
}

static void set_layout(struct mr_fft_side *side, const int64_t embed[MR_FFT_RANK], int64_t stride, int64_t distance)
{
    memcpy(side->embed, embed, sizeof side->embed);
    side->embed[0] = 1; /* of no account */
    side->stride = stride;
    side->distance = distance;
}

static struct mr_fft_problem problem_of(const struct wanted *wanted, bool in_place)
{
    bool complex_in = mr_element_is_complex(wanted->in_type), complex_out = mr_element_is_complex(wanted->out_type);
    struct mr_fft_problem problem = {.rank = (int)wanted->rank, .batch = wanted->batch, .in_place = in_place};
    memcpy(problem.n, wanted->n, sizeof problem.n);
    problem.sort = !complex_in ? MR_FFT_REAL_IN : complex_out ? MR_FFT_COMPLEX : MR_FFT_REAL_OUT;
    problem.in = default_side(&problem, wanted->in_type, problem.sort == MR_FFT_REAL_OUT, in_place && !complex_in);
    problem.out = default_side(&problem, wanted->out_type, problem.sort == MR_FFT_REAL_IN, in_place && !complex_out);
    if (wanted->has_in)
        set_layout(&problem.in, wanted->in_embed, wanted->in_stride, wanted->in_distance);
    if (wanted->has_out)
        set_layout(&problem.out, wanted->out_embed, wanted->out_stride, wanted->out_distance);
    return problem;
}

static cufftResult status_of(const struct mr_form *form, enum mr_fft_made made)
{
    switch (made) {
    case MR_FFT_MADE:
    case MR_FFT_OVERLAPS: /* the plan can be executed in memory of its own */
        return CUFFT_SUCCESS;
    case MR_FFT_TOO_LARGE:
        return mr_fft_bad(form, CUFFT_INVALID_SIZE, "the transform is too large");
    default:
        return mr_fft_bad(form, CUFFT_ALLOC_FAILED, "memory is short");
    }
}

/* BART, a program of cuFFT 10's time, allocates the work area that it is told of, and can't do with one of no bytes. */
static const size_t least_work = MR_LIBRARY_VERSION < 11000 ? 16 : 0;

/* The size of the work area for both ways. */
static cufftResult size_of(const struct mr_form *form, const struct wanted *wanted, size_t *size)
{
    cufftResult status = check_lengths(form, wanted);
    size_t largest = least_work;
    if (status == CUFFT_SUCCESS)
        status = check_layouts(form, wanted);
    for (int in_place = 0; in_place < 2 && status == CUFFT_SUCCESS; in_place++) {
        struct mr_fft_problem problem = problem_of(wanted, in_place);
        size_t one = 0;
        status = status_of(form, mr_fft_work_size(&problem, &one));
        largest = one > largest ? one : largest;
    }
    if (status == CUFFT_SUCCESS)
        *size = largest;
    return status;
}

static void unmake(struct mr_fft_program *programs[2])
{
    for (int i = 0; i < 2; i++) {
        mr_fft_program_drop(programs[i]);
        programs[i] = NULL;
    }
}

/* Makes the bare plan. */
static cufftResult make(const struct mr_form *form, struct mr_fft *fft, const struct wanted *wanted, size_t *size)
{
    struct mr_fft_program *programs[2] = {NULL, NULL};
    size_t work = 0;
    cufftResult status = size_of(form, wanted, &work);
    if (status != CUFFT_SUCCESS)
        return status;
    if (!mr_fftw_open(mr_element_size(real_of(wanted->in_type)) == 8))
        return mr_fft_bad(form, CUFFT_SETUP_FAILED, "FFTW is missing");
    for (int in_place = 0; in_place < 2 && status == CUFFT_SUCCESS; in_place++) {
        struct mr_fft_problem problem = problem_of(wanted, in_place);
        status = status_of(form, mr_fft_program_new(&problem, &programs[in_place]));
    }
    if (status == CUFFT_SUCCESS) {
        fft->work_size = work;
        status = mr_fft_allocate(form, fft);
    }
    if (status != CUFFT_SUCCESS) {
        unmake(programs);
        fft->work_size = 0;
        return status;
    }
    fft->problem = problem_of(wanted, false);
    memcpy(fft->programs, programs, sizeof programs);
    fft->type = wanted->type;
    fft->made = true;
    if (size)
        *size = work;
    return CUFFT_SUCCESS;
}

/* What all functions that make a plan or ask for a size check of it; `fft` NULL: an estimate without a plan. */
enum aim { MAKE, ASK };

static cufftResult enter(const struct mr_form *form, enum aim aim, cufftHandle plan, const size_t *size,
                         struct mr_fft **fft)
{
    cufftResult status = mr_fft_enter(form, plan, fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (aim == MAKE && (*fft)->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is made already");
    if (!size)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer to the size is NULL");
    return CUFFT_SUCCESS;
}

/* With a plan that there is. */
static cufftResult with_plan(const struct mr_form *form, enum aim aim, cufftHandle plan, cufftResult valid,
                             const struct wanted *wanted, size_t *size)
{
    struct mr_fft *fft;
    cufftResult status = enter(form, aim, plan, size, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (valid != CUFFT_SUCCESS)
        return valid;
    return aim == MAKE ? make(form, fft, wanted, size) : size_of(form, wanted, size);
}

/* With a new one. */
static cufftResult new_plan(const struct mr_form *form, cufftHandle *plan, cufftResult valid,
                            const struct wanted *wanted)
{
    cufftHandle handle;
    struct mr_fft *fft;
    if (!plan)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer to the plan is NULL");
    if (valid != CUFFT_SUCCESS)
        return valid;
    cufftResult status = mr_fft_create(form, &handle);
    if (status != CUFFT_SUCCESS)
        return status;
    status = mr_fft_enter(form, handle, &fft);
    if (status == CUFFT_SUCCESS)
        status = make(form, fft, wanted, NULL);
    if (status != CUFFT_SETUP_FAILED)
        *plan = handle; /* as on hardware, also if the plan could not be made */
    if (status != CUFFT_SUCCESS)
        (void)mr_cufft_Destroy(form, handle);
    return status;
}

static cufftResult estimate(const struct mr_form *form, cufftResult valid, const struct wanted *wanted, size_t *size)
{
    if (valid != CUFFT_SUCCESS)
        return valid;
    if (!size)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer to the size is NULL");
    return size_of(form, wanted, size);
}

/* ---- what is asked for ---- */

/* Lengths nx, ny, nz of a transform with the default layout. */
static cufftResult simple(const struct mr_form *form, int64_t rank, int64_t nx, int64_t ny, int64_t nz, int64_t type,
                          int64_t batch, struct wanted *wanted)
{
    *wanted = (struct wanted){.rank = rank, .batch = batch, .n = {nx, ny, nz}};
    if (!types_of(type, wanted))
        return mr_fft_bad(form, CUFFT_INVALID_TYPE, "%d is not a type of transforms", (int)type);
    return CUFFT_SUCCESS;
}

static cufftResult check_many(const struct mr_form *form, int64_t rank, const void *n)
{
    if (rank < 1 || rank > MR_FFT_RANK)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the rank %d is not 1, 2 or 3", (int)rank);
    if (!n)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer to the lengths is NULL");
    return CUFFT_SUCCESS;
}

static cufftResult many(const struct mr_form *form, int64_t rank, const long long *n, const long long *in_embed,
                        int64_t in_stride, int64_t in_distance, const long long *out_embed, int64_t out_stride,
                        int64_t out_distance, int64_t batch, struct wanted *wanted)
{
    cufftResult status = check_many(form, rank, n);
    if (status != CUFFT_SUCCESS)
        return status;
    *wanted = (struct wanted){.rank = rank,
                              .batch = batch,
                              .has_in = in_embed != NULL,
                              .has_out = out_embed != NULL,
                              .in_stride = in_stride,
                              .in_distance = in_distance,
                              .out_stride = out_stride,
                              .out_distance = out_distance};
    for (int i = 0; i < rank; i++) {
        wanted->n[i] = n[i];
        wanted->in_embed[i] = in_embed ? in_embed[i] : 0;
        wanted->out_embed[i] = out_embed ? out_embed[i] : 0;
    }
    return CUFFT_SUCCESS;
}

static cufftResult many_of_type(const struct mr_form *form, int64_t rank, const long long *n, const long long *in_embed,
                                int64_t in_stride, int64_t in_distance, const long long *out_embed, int64_t out_stride,
                                int64_t out_distance, int64_t type, int64_t batch, struct wanted *wanted)
{
    cufftResult status =
        many(form, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, batch, wanted);
    if (status == CUFFT_SUCCESS && !types_of(type, wanted))
        return mr_fft_bad(form, CUFFT_INVALID_TYPE, "%d is not a type of transforms", (int)type);
    return status;
}

/* Lengths and layouts as 32-bit numbers. */
static cufftResult many_short(const struct mr_form *form, int64_t rank, const int *n, const int *in_embed,
                              int64_t in_stride, int64_t in_distance, const int *out_embed, int64_t out_stride,
                              int64_t out_distance, int64_t type, int64_t batch, struct wanted *wanted)
{
    long long lengths[MR_FFT_RANK] = {0}, in[MR_FFT_RANK] = {0}, out[MR_FFT_RANK] = {0};
    cufftResult status = check_many(form, rank, n);
    if (status != CUFFT_SUCCESS)
        return status;
    for (int i = 0; i < rank; i++) {
        lengths[i] = n[i];
        in[i] = in_embed ? in_embed[i] : 0;
        out[i] = out_embed ? out_embed[i] : 0;
    }
    return many_of_type(form, rank, lengths, in_embed ? in : NULL, in_stride, in_distance, out_embed ? out : NULL,
                        out_stride, out_distance, type, batch, wanted);
}

/* ---- the functions ---- */

#define LAYOUT_SHORT \
    int *in_embed, int64_t in_stride, int64_t in_distance, int *out_embed, int64_t out_stride, int64_t out_distance
#define LAYOUT_LONG \
    long long *in_embed, int64_t in_stride, int64_t in_distance, long long *out_embed, int64_t out_stride, \
        int64_t out_distance
#define LAYOUT in_embed, in_stride, in_distance, out_embed, out_stride, out_distance

cufftResult mr_cufft_Plan1d(const struct mr_form *form, cufftHandle *plan, int64_t nx, cufftType type, int64_t batch)
{
    struct wanted wanted;
    return new_plan(form, plan, simple(form, 1, nx, 1, 1, type, batch, &wanted), &wanted);
}

cufftResult mr_cufft_Plan2d(const struct mr_form *form, cufftHandle *plan, int64_t nx, int64_t ny, cufftType type)
{
    struct wanted wanted;
    return new_plan(form, plan, simple(form, 2, nx, ny, 1, type, 1, &wanted), &wanted);
}

cufftResult mr_cufft_Plan3d(const struct mr_form *form, cufftHandle *plan, int64_t nx, int64_t ny, int64_t nz,
                            cufftType type)
{
    struct wanted wanted;
    return new_plan(form, plan, simple(form, 3, nx, ny, nz, type, 1, &wanted), &wanted);
}

cufftResult mr_cufft_PlanMany(const struct mr_form *form, cufftHandle *plan, int64_t rank, int *n, LAYOUT_SHORT,
                              cufftType type, int64_t batch)
{
    struct wanted wanted;
    return new_plan(form, plan, many_short(form, rank, n, LAYOUT, type, batch, &wanted), &wanted);
}

/* Making, and asking for the size. */
#define BOTH(make_name, ask_name, params, describe) \
    cufftResult mr_cufft_##make_name params \
    { \
        struct wanted wanted; \
        return with_plan(form, MAKE, plan, describe, &wanted, size); \
    } \
    cufftResult mr_cufft_##ask_name params \
    { \
        struct wanted wanted; \
        return with_plan(form, ASK, plan, describe, &wanted, size); \
    }

BOTH(MakePlan1d, GetSize1d,
     (const struct mr_form *form, cufftHandle plan, int64_t nx, cufftType type, int64_t batch, size_t *size),
     simple(form, 1, nx, 1, 1, type, batch, &wanted))
BOTH(MakePlan2d, GetSize2d,
     (const struct mr_form *form, cufftHandle plan, int64_t nx, int64_t ny, cufftType type, size_t *size),
     simple(form, 2, nx, ny, 1, type, 1, &wanted))
BOTH(MakePlan3d, GetSize3d,
     (const struct mr_form *form, cufftHandle plan, int64_t nx, int64_t ny, int64_t nz, cufftType type, size_t *size),
     simple(form, 3, nx, ny, nz, type, 1, &wanted))
BOTH(MakePlanMany, GetSizeMany,
     (const struct mr_form *form, cufftHandle plan, int64_t rank, int *n, LAYOUT_SHORT, cufftType type, int64_t batch,
      size_t *size),
     many_short(form, rank, n, LAYOUT, type, batch, &wanted))
BOTH(MakePlanMany64, GetSizeMany64,
     (const struct mr_form *form, cufftHandle plan, int64_t rank, long long *n, LAYOUT_LONG, cufftType type,
      int64_t batch, size_t *size),
     many_of_type(form, rank, n, LAYOUT, type, batch, &wanted))

/* Of data types. */
static cufftResult many_of_types(const struct mr_form *form, int64_t rank, const long long *n, LAYOUT_LONG,
                                 cudaDataType in_type, cudaDataType out_type, cudaDataType execution, int64_t batch,
                                 struct wanted *wanted)
{
    cufftResult status = many(form, rank, n, LAYOUT, batch, wanted);
    if (status != CUFFT_SUCCESS)
        return status;
    if (!are_types(in_type, out_type, execution))
        return mr_fft_bad(form, CUFFT_INVALID_TYPE, "the data types %d, %d and %d don't go together", (int)in_type,
                          (int)out_type, (int)execution);
    wanted->in_type = in_type;
    wanted->out_type = out_type;
    wanted->type = -1;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].in == in_type && all[i].out == out_type)
            wanted->type = (int)all[i].type;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_XtMakePlanMany(const struct mr_form *form, cufftHandle plan, int64_t rank, long long *n,
                                    long long *in_embed, int64_t in_stride, int64_t in_distance, cudaDataType in_type,
                                    long long *out_embed, int64_t out_stride, int64_t out_distance,
                                    cudaDataType out_type, int64_t batch, size_t *size, cudaDataType execution)
{
    struct wanted wanted;
    return with_plan(form, MAKE, plan,
                     many_of_types(form, rank, n, LAYOUT, in_type, out_type, execution, batch, &wanted), &wanted, size);
}

cufftResult mr_cufft_XtGetSizeMany(const struct mr_form *form, cufftHandle plan, int64_t rank, long long *n,
                                   long long *in_embed, int64_t in_stride, int64_t in_distance, cudaDataType in_type,
                                   long long *out_embed, int64_t out_stride, int64_t out_distance,
                                   cudaDataType out_type, int64_t batch, size_t *size, cudaDataType execution)
{
    struct wanted wanted;
    return with_plan(form, ASK, plan,
                     many_of_types(form, rank, n, LAYOUT, in_type, out_type, execution, batch, &wanted), &wanted, size);
}

cufftResult mr_cufft_Estimate1d(const struct mr_form *form, int64_t nx, cufftType type, int64_t batch, size_t *size)
{
    struct wanted wanted;
    return estimate(form, simple(form, 1, nx, 1, 1, type, batch, &wanted), &wanted, size);
}

cufftResult mr_cufft_Estimate2d(const struct mr_form *form, int64_t nx, int64_t ny, cufftType type, size_t *size)
{
    struct wanted wanted;
    return estimate(form, simple(form, 2, nx, ny, 1, type, 1, &wanted), &wanted, size);
}

cufftResult mr_cufft_Estimate3d(const struct mr_form *form, int64_t nx, int64_t ny, int64_t nz, cufftType type,
                                size_t *size)
{
    struct wanted wanted;
    return estimate(form, simple(form, 3, nx, ny, nz, type, 1, &wanted), &wanted, size);
}

cufftResult mr_cufft_EstimateMany(const struct mr_form *form, int64_t rank, int *n, LAYOUT_SHORT, cufftType type,
                                  int64_t batch, size_t *size)
{
    struct wanted wanted;
    return estimate(form, many_short(form, rank, n, LAYOUT, type, batch, &wanted), &wanted, size);
}
