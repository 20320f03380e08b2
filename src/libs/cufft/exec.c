/* SPDX-License-Identifier: Apache-2.0 */
/* Executing plans, and their work areas. */
#include <stdlib.h>

#include "base/log.h"
#include "libs/cufft/fft.h"
#include "libs/math/convert.h"
#include "libs/math/driver.h"
#include "libs/math/work.h"

/* What is submitted: one step of a program; or all steps, in parts of some members of the batch. */
struct record {
    struct mr_fft_program *program;
    int step;
    struct mr_fft_bases bases;
    struct mr_fft_area *area;
};

static void release(void *data)
{
    struct record *record = data;
    mr_fft_program_drop(record->program);
    mr_fft_area_drop(record->area);
    free(record);
}

static void run_step(void *data, uint64_t first, uint64_t end)
{
    struct record *record = data;
    const struct mr_fft_step *step = &record->program->steps[record->step];
    for (uint64_t part = first; part < end; part++) {
        int64_t line = (int64_t)part * step->part, last = line + step->part;
        if (!mr_fft_step_run(record->program, step, &record->bases, line, last < step->lines ? last : step->lines)) {
            mr_math_short_of_memory(record->bases.function);
            return;
        }
    }
}

static void run_members(void *data, uint64_t first, uint64_t end)
{
    struct record *record = data;
    const struct mr_fft_program *program = record->program;
    for (uint64_t part = first; part < end; part++) {
        int64_t from = (int64_t)part * program->members, to = from + program->members;
        to = to < program->batch ? to : program->batch;
        for (int i = 0; i < program->count; i++) {
            const struct mr_fft_step *step = &program->steps[i];
            int64_t each = step->lines / program->batch;
            if (!mr_fft_step_run(program, step, &record->bases, from * each, to * each)) {
                mr_math_short_of_memory(record->bases.function);
                return;
            }
        }
    }
}

/* So many boxes of a step are told of, at most. */
#define TOLD_MOST 65536

/* For observers: one end of a step's lines, of `n` elements each. False: it is not told. */
static bool tell_end(const struct mr_fft_step *step, const struct mr_fft_end *end, int64_t n, const char *function,
                     const char *base, unsigned how)
{
    int64_t size = (int64_t)mr_element_size(end->type), last = step->loops ? step->count[step->loops - 1] : 1;
    int64_t pitch = step->loops ? end->loop[step->loops - 1] : 0, outer = step->lines / (last ? last : 1);
    bool is_run = end->stride == size || n == 1, is_comb = pitch == size && last * size <= end->stride;
    if ((mr_element_is_complex(end->type) && end->gap != size / 2) ||
        outer * (is_run || is_comb ? 1 : last) > TOLD_MOST)
        return false;
    for (int64_t line = 0; line < outer; line++) {
        const char *at = base + end->offset;
        int64_t rest = line;
        for (int loop = step->loops - 2; loop >= 0; rest /= step->count[loop--])
            at += rest % step->count[loop] * end->loop[loop];
        if (is_run)
            (void)mr_tell_rows(function, at, (size_t)(n * size), (size_t)last, (size_t)pitch, how);
        else if (is_comb)
            (void)mr_tell_rows(function, at, (size_t)(last * size), (size_t)n, (size_t)end->stride, how);
        for (int64_t i = 0; i < last && !is_run && !is_comb; i++)
            (void)mr_tell_rows(function, at + i * pitch, (size_t)size, (size_t)n, (size_t)end->stride, how);
    }
    return true;
}

/* What a step reads of the input, and writes of the output. */
static bool tell_step(const struct mr_fft_step *step, const struct mr_fft_bases *bases)
{
    bool is_lines = step->action == MR_FFT_LINES, told = step->rank <= 1 && (is_lines || step->action == MR_FFT_COPY);
    int64_t half = step->n / 2 + 1;
    if (told && step->from.where == MR_FFT_IN)
        told = tell_end(step, &step->from, is_lines && step->sort == MR_FFT_REAL_OUT ? half : step->n, bases->function,
                        bases->at[MR_FFT_IN], MR_READS);
    if (told && step->to.where == MR_FFT_OUT)
        told = tell_end(step, &step->to, is_lines && step->sort == MR_FFT_REAL_IN ? half : step->n, bases->function,
                        bases->at[MR_FFT_OUT], MR_WRITES);
    return told;
}

/* A work tells all or nothing. */
static void tell(const struct mr_fft_program *program, int step, const struct mr_fft_bases *bases)
{
    if (!mr_math_driver.touch_part(bases->function, bases->at[MR_FFT_IN], 0, 0, 0, 0))
        return;
    bool told = true;
    for (int i = step; i < (program->by_member ? program->count : step + 1) && told; i++)
        told = tell_step(&program->steps[i], bases);
    if (!told)
        (void)mr_math_driver.touch_part(NULL, NULL, 0, 0, 0, 0);
}

static CUresult submit(const struct mr_fft *fft, struct mr_fft_program *program, int step, uint64_t parts,
                       const struct mr_fft_bases *bases)
{
    struct record *record = malloc(sizeof *record);
    if (!record)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *record = (struct record){program, step, *bases, fft->given ? NULL : fft->area};
    mr_fft_program_hold(program);
    if (record->area)
        atomic_fetch_add_explicit(&record->area->references, 1, memory_order_relaxed);
    tell(program, step, bases);
    CUresult status =
        mr_math_submit_own(fft->stream, parts, program->by_member ? run_members : run_step, release, record);
    if (status != CUDA_SUCCESS)
        release(record);
    return status;
}

cufftResult mr_fft_execute(const struct mr_form *form, struct mr_fft *fft, void *in, void *out, bool inverse)
{
    struct mr_fft_program *program = fft->programs[in == out];
    struct mr_fft_bases bases = {.at = {in, out, fft->given}, .inverse = inverse, .function = form->name};
    CUresult status = CUDA_SUCCESS;
    if (!program)
        return mr_fft_bad(
            form, CUFFT_NOT_SUPPORTED,
            "in place, lines of the output would be written over lines of the input that are still needed");
    if (!fft->given && program->work_size) {
        if (!fft->area)
            return mr_fft_bad(form, CUFFT_NO_WORKSPACE, "the plan has no work area (cufftSetWorkArea)");
        bases.at[MR_FFT_WORK] = fft->area->memory;
    }
    if (program->by_member)
        status = submit(fft, program, 0, mr_parts_of((uint64_t)program->batch, (uint64_t)program->members), &bases);
    for (int i = 0; i < program->count && !program->by_member && status == CUDA_SUCCESS; i++) {
        const struct mr_fft_step *step = &program->steps[i];
        status = submit(fft, program, i, mr_parts_of((uint64_t)step->lines, (uint64_t)step->part), &bases);
    }
    return status == CUDA_SUCCESS ? CUFFT_SUCCESS
                                  : mr_fft_bad(form, CUFFT_EXEC_FAILED, "the driver answers %d", (int)status);
}

/* ---- the functions ---- */

static bool is_aligned(const void *pointer, cudaDataType type)
{
    return !mr_element_is_complex(type) || ((uintptr_t)pointer & (mr_element_size(type) - 1)) == 0;
}

/* As on hardware, the plan says what is computed, whatever function executes it; `type` is the function's, -1 of
 * cufftXtExec. */
static cufftResult execute(const struct mr_form *form, cufftHandle plan, void *in, void *out, int type,
                           int64_t direction)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (!fft->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is not made");
    if (!in || !out)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "a pointer is NULL");
    if (!is_aligned(in, fft->problem.in.type) || !is_aligned(out, fft->problem.out.type))
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "%p or %p is on no boundary of a complex element", in, out);
    if (type >= 0 && type != fft->type)
        mr_log(MR_LOG_INFO, "%s: the plan is for other types, and is executed as it was made", form->name);
    bool forward = direction == CUFFT_FORWARD, inverse = direction == CUFFT_INVERSE;
    if (fft->problem.sort == MR_FFT_REAL_OUT  ? !inverse
        : fft->problem.sort == MR_FFT_REAL_IN ? !forward
                                              : !forward && !inverse)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "%d is no direction for this plan", (int)direction);
    return mr_fft_execute(form, fft, in, out, inverse);
}

cufftResult mr_cufft_ExecC2C(const struct mr_form *form, cufftHandle plan, void *in, void *out, int64_t direction)
{
    return execute(form, plan, in, out, CUFFT_C2C, direction);
}

cufftResult mr_cufft_ExecR2C(const struct mr_form *form, cufftHandle plan, void *in, void *out)
{
    return execute(form, plan, in, out, CUFFT_R2C, CUFFT_FORWARD);
}

cufftResult mr_cufft_ExecC2R(const struct mr_form *form, cufftHandle plan, void *in, void *out)
{
    return execute(form, plan, in, out, CUFFT_C2R, CUFFT_INVERSE);
}

cufftResult mr_cufft_ExecZ2Z(const struct mr_form *form, cufftHandle plan, void *in, void *out, int64_t direction)
{
    return execute(form, plan, in, out, CUFFT_Z2Z, direction);
}

cufftResult mr_cufft_ExecD2Z(const struct mr_form *form, cufftHandle plan, void *in, void *out)
{
    return execute(form, plan, in, out, CUFFT_D2Z, CUFFT_FORWARD);
}

cufftResult mr_cufft_ExecZ2D(const struct mr_form *form, cufftHandle plan, void *in, void *out)
{
    return execute(form, plan, in, out, CUFFT_Z2D, CUFFT_INVERSE);
}

cufftResult mr_cufft_XtExec(const struct mr_form *form, cufftHandle plan, void *in, void *out, int64_t direction)
{
    return execute(form, plan, in, out, -1, direction);
}

/* ---- work areas ---- */

/* An area of the plan's own, where that is wanted. */
cufftResult mr_fft_allocate(const struct mr_form *form, struct mr_fft *fft)
{
    if (fft->manual || fft->work_size == 0 || fft->area)
        return CUFFT_SUCCESS;
    fft->area = mr_fft_area_new(fft->work_size);
    return fft->area ? CUFFT_SUCCESS
                     : mr_fft_bad(form, CUFFT_ALLOC_FAILED, "there is no memory for a work area of %zu bytes",
                                  fft->work_size);
}

cufftResult mr_cufft_GetSize(const struct mr_form *form, cufftHandle plan, size_t *size)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    if (!size)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    if (!fft->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is not made");
    *size = fft->work_size;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_SetWorkArea(const struct mr_form *form, cufftHandle plan, void *area)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    fft->given = area;
    if (area) {
        mr_fft_area_drop(fft->area);
        fft->area = NULL;
    }
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_SetAutoAllocation(const struct mr_form *form, cufftHandle plan, int64_t automatic)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    if (status != CUFFT_SUCCESS)
        return status;
    fft->manual = !automatic;
    return CUFFT_SUCCESS;
}

cufftResult mr_cufft_XtSetWorkArea(const struct mr_form *form, cufftHandle plan, void **areas)
{
    if (!areas)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "the pointer is NULL");
    return mr_cufft_SetWorkArea(form, plan, areas[0]);
}

/* There is one way to compute, and its work area is as small as it can be. As on hardware, once a plan is made only the
 * smallest work area can be asked for. */
cufftResult mr_cufft_XtSetWorkAreaPolicy(const struct mr_form *form, cufftHandle plan, cufftXtWorkAreaPolicy policy,
                                         size_t *size)
{
    struct mr_fft *fft;
    cufftResult status = mr_fft_enter(form, plan, &fft);
    (void)size;
    if (status != CUFFT_SUCCESS)
        return status;
    if (!fft->made)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is not made");
    if ((unsigned)policy > CUFFT_WORKAREA_PERFORMANCE)
        return mr_fft_bad(form, CUFFT_INVALID_VALUE, "%d is not a policy", (int)policy);
    if (policy != CUFFT_WORKAREA_MINIMAL)
        return mr_fft_bad(form, CUFFT_INVALID_PLAN, "the plan is made already");
    return CUFFT_SUCCESS;
}
