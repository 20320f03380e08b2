/* SPDX-License-Identifier: Apache-2.0 */
/* libcufftw: FFTW's interface, for programs that were moved from FFTW to NVIDIA's library by linking alone. FFTW itself
 * does the work, at once and on the calling thread; the program gets FFTW's plans as they are.
 *
 * Flags are taken and not used, as by NVIDIA's library: their numbers are not FFTW's. Arrays may be the host's or
 * device memory: before a transform, work in the legacy default stream has ended. */
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "cufftw_impl.h"
#include "libs/math/driver.h"
#include "libs/math/open.h"

#include <dlfcn.h>

/* FFTW's flags: a plan that is made without trying, for arrays on any boundary. */
#define FLAGS (1u << 6 | 1u << 1)

#define FUNCTIONS(F) \
    F(plan_dft_1d) \
    F(plan_dft_2d) \
    F(plan_dft_3d) \
    F(plan_dft) \
    F(plan_dft_r2c_1d) \
    F(plan_dft_r2c_2d) \
    F(plan_dft_r2c_3d) \
    F(plan_dft_r2c) \
    F(plan_dft_c2r_1d) \
    F(plan_dft_c2r_2d) \
    F(plan_dft_c2r_3d) \
    F(plan_dft_c2r) \
    F(plan_many_dft) \
    F(plan_many_dft_r2c) \
    F(plan_many_dft_c2r) \
    F(plan_guru_dft) \
    F(plan_guru_dft_r2c) \
    F(plan_guru_dft_c2r) \
    F(plan_guru64_dft) \
    F(plan_guru64_dft_r2c) \
    F(plan_guru64_dft_c2r) \
    F(execute) \
    F(execute_dft) \
    F(execute_dft_r2c) \
    F(execute_dft_c2r) \
    F(export_wisdom_to_file) \
    F(import_wisdom_from_file) \
    F(print_plan) \
    F(set_timelimit) \
    F(cost) \
    F(flops) \
    F(destroy_plan)

/* The functions of one precision, under any type; who calls one casts it. */
struct fftw {
#define MEMBER(name) void (*name)(void);
    FUNCTIONS(MEMBER)
#undef MEMBER
    bool is_open;
};

static struct fftw fftws[2]; /* float, double */
/* Opening, and FFTW's planner. FFTW's functions call each other by name, and so the ones here, with the lock held. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static const struct mr_cpu_library libraries[2] = {
    {.names = (const char *const[]){"libfftw3f.so.3", NULL},
     .what = "FFTW 3 for float",
     .without = "Fourier transform",
     .package = "libfftw3-single3"},
    {.names = (const char *const[]){"libfftw3.so.3", NULL},
     .what = "FFTW 3 for double",
     .without = "Fourier transform of double",
     .package = "libfftw3-double3"},
};

/* FFTW locks its planner itself from here on: libcufft and the program may use it, too. */
static void lock_planner(bool is_double)
{
    void *threads = mr_cpu_library_load(is_double ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3", false);
    const char *name = is_double ? "fftw_make_planner_thread_safe" : "fftwf_make_planner_thread_safe";
    void (*make_safe)(void) = threads ? (void (*)(void))dlsym(threads, name) : NULL;
    if (make_safe)
        make_safe();
}

static void open_one(bool is_double)
{
    struct fftw found = {.is_open = true};
    void *library = mr_cpu_library_open(&libraries[is_double]);
    if (!library)
        return;
#define FIND(name) \
    if (!mr_cpu_library_find(&libraries[is_double], library, (void **)&found.name, \
                             is_double ? "fftw_" #name : "fftwf_" #name)) \
        return;
    FUNCTIONS(FIND)
#undef FIND
    lock_planner(is_double);
    fftws[is_double] = found;
}

/* The functions for the form, or NULL, with a line in the log, if FFTW is missing. */
static const struct fftw *functions(const struct mr_form *form)
{
    bool is_double = form->type == 'D';
    mr_log_setup();
    pthread_mutex_lock(&lock);
    if (!fftws[is_double].is_open)
        open_one(is_double);
    bool is_open = fftws[is_double].is_open;
    pthread_mutex_unlock(&lock);
    return is_open ? &fftws[is_double] : NULL;
}

/* ---- plans ---- */

/* A function that plans: the types of FFTW's, its parameters here, and what goes on to FFTW. */
#define PLAN(name, types, parameters, arguments) \
    fftw_plan mr_cufftw_##name parameters \
    { \
        const struct fftw *fftw = functions(form); \
        if (!fftw) \
            return NULL; \
        (void)flags; \
        pthread_mutex_lock(&lock); \
        void *plan = ((void *(*)types)fftw->name)arguments; \
        pthread_mutex_unlock(&lock); \
        return plan; \
    }
#define FORM const struct mr_form *form
#define ARRAYS void *in, void *out
#define SIGN int64_t sign, unsigned flags

PLAN(plan_dft_1d, (int, void *, void *, int, unsigned), (FORM, int64_t n, ARRAYS, SIGN),
     ((int)n, in, out, (int)sign, FLAGS))
PLAN(plan_dft_2d, (int, int, void *, void *, int, unsigned), (FORM, int64_t n0, int64_t n1, ARRAYS, SIGN),
     ((int)n0, (int)n1, in, out, (int)sign, FLAGS))
PLAN(plan_dft_3d, (int, int, int, void *, void *, int, unsigned),
     (FORM, int64_t n0, int64_t n1, int64_t n2, ARRAYS, SIGN), ((int)n0, (int)n1, (int)n2, in, out, (int)sign, FLAGS))
PLAN(plan_dft, (int, const int *, void *, void *, int, unsigned), (FORM, int64_t rank, const int *n, ARRAYS, SIGN),
     ((int)rank, n, in, out, (int)sign, FLAGS))

#define REAL(kind) \
    PLAN(plan_dft_##kind##_1d, (int, void *, void *, unsigned), (FORM, int64_t n, ARRAYS, unsigned flags), \
         ((int)n, in, out, FLAGS)) \
    PLAN(plan_dft_##kind##_2d, (int, int, void *, void *, unsigned), \
         (FORM, int64_t n0, int64_t n1, ARRAYS, unsigned flags), ((int)n0, (int)n1, in, out, FLAGS)) \
    PLAN(plan_dft_##kind##_3d, (int, int, int, void *, void *, unsigned), \
         (FORM, int64_t n0, int64_t n1, int64_t n2, ARRAYS, unsigned flags), \
         ((int)n0, (int)n1, (int)n2, in, out, FLAGS)) \
    PLAN(plan_dft_##kind, (int, const int *, void *, void *, unsigned), \
         (FORM, int64_t rank, const int *n, ARRAYS, unsigned flags), ((int)rank, n, in, out, FLAGS)) \
    PLAN(plan_many_dft_##kind, \
         (int, const int *, int, void *, const int *, int, int, void *, const int *, int, int, unsigned), \
         (FORM, int64_t rank, const int *n, int64_t batch, void *in, const int *inembed, int64_t istride, \
          int64_t idist, void *out, const int *onembed, int64_t ostride, int64_t odist, unsigned flags), \
         ((int)rank, n, (int)batch, in, inembed, (int)istride, (int)idist, out, onembed, (int)ostride, (int)odist, \
          FLAGS)) \
    PLAN(plan_guru_dft_##kind, (int, const fftw_iodim *, int, const fftw_iodim *, void *, void *, unsigned), \
         (FORM, int64_t rank, const fftw_iodim *dims, int64_t batch_rank, const fftw_iodim *batch_dims, ARRAYS, \
          unsigned flags), \
         ((int)rank, dims, (int)batch_rank, batch_dims, in, out, FLAGS)) \
    PLAN(plan_guru64_dft_##kind, (int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *, unsigned), \
         (FORM, int64_t rank, const fftw_iodim64 *dims, int64_t batch_rank, const fftw_iodim64 *batch_dims, ARRAYS, \
          unsigned flags), \
         ((int)rank, dims, (int)batch_rank, batch_dims, in, out, FLAGS))
REAL(r2c)
REAL(c2r)

PLAN(plan_many_dft,
     (int, const int *, int, void *, const int *, int, int, void *, const int *, int, int, int, unsigned),
     (FORM, int64_t rank, const int *n, int64_t batch, void *in, const int *inembed, int64_t istride, int64_t idist,
      void *out, const int *onembed, int64_t ostride, int64_t odist, SIGN),
     ((int)rank, n, (int)batch, in, inembed, (int)istride, (int)idist, out, onembed, (int)ostride, (int)odist,
      (int)sign, FLAGS))
PLAN(plan_guru_dft, (int, const fftw_iodim *, int, const fftw_iodim *, void *, void *, int, unsigned),
     (FORM, int64_t rank, const fftw_iodim *dims, int64_t batch_rank, const fftw_iodim *batch_dims, ARRAYS, SIGN),
     ((int)rank, dims, (int)batch_rank, batch_dims, in, out, (int)sign, FLAGS))
PLAN(plan_guru64_dft, (int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *, int, unsigned),
     (FORM, int64_t rank, const fftw_iodim64 *dims, int64_t batch_rank, const fftw_iodim64 *batch_dims, ARRAYS, SIGN),
     ((int)rank, dims, (int)batch_rank, batch_dims, in, out, (int)sign, FLAGS))

void mr_cufftw_destroy_plan(FORM, fftw_plan plan)
{
    const struct fftw *fftw = functions(form);
    if (!fftw || !plan)
        return;
    pthread_mutex_lock(&lock);
    ((void (*)(void *))fftw->destroy_plan)(plan);
    pthread_mutex_unlock(&lock);
}

/* ---- transforms ---- */

/* The functions, after work of the device that may write the arrays; NULL if there is nothing to do. */
static const struct fftw *ready(FORM, const void *plan)
{
    const struct fftw *fftw = plan ? functions(form) : NULL;
    CUcontext context = NULL;
    if (fftw && mr_math_driver_open() && mr_math_driver.cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
        (void)mr_math_driver.cuStreamSynchronize(NULL);
    return fftw;
}

void mr_cufftw_execute(FORM, const fftw_plan plan)
{
    const struct fftw *fftw = ready(form, plan);
    if (fftw)
        ((void (*)(const void *))fftw->execute)(plan);
}

#define EXECUTE(name) \
    void mr_cufftw_##name(FORM, const fftw_plan plan, void *idata, void *odata) \
    { \
        const struct fftw *fftw = ready(form, plan); \
        if (fftw) \
            ((void (*)(const void *, void *, void *))fftw->name)(plan, idata, odata); \
    }
EXECUTE(execute_dft)
EXECUTE(execute_dft_r2c)
EXECUTE(execute_dft_c2r)

/* ---- memory, and what is asked of plans ---- */

void *mr_cufftw_malloc(FORM, size_t n)
{
    (void)form;
    return aligned_alloc(64, (n + 63) & ~(size_t)63);
}

void mr_cufftw_free(FORM, void *pointer)
{
    (void)form;
    free(pointer);
}

void mr_cufftw_export_wisdom_to_file(FORM, FILE *output_file)
{
    const struct fftw *fftw = functions(form);
    if (fftw)
        ((void (*)(FILE *))fftw->export_wisdom_to_file)(output_file);
}

int mr_cufftw_import_wisdom_from_file(FORM, FILE *input_file)
{
    const struct fftw *fftw = functions(form);
    return fftw ? ((int (*)(FILE *))fftw->import_wisdom_from_file)(input_file) : 0;
}

void mr_cufftw_print_plan(FORM, const fftw_plan plan)
{
    const struct fftw *fftw = functions(form);
    if (fftw && plan)
        ((void (*)(const void *))fftw->print_plan)(plan);
}

void mr_cufftw_set_timelimit(FORM, double seconds)
{
    const struct fftw *fftw = functions(form);
    if (fftw)
        ((void (*)(double))fftw->set_timelimit)(seconds);
}

double mr_cufftw_cost(FORM, const fftw_plan plan)
{
    const struct fftw *fftw = functions(form);
    return fftw && plan ? ((double (*)(const void *))fftw->cost)(plan) : 0;
}

void mr_cufftw_flops(FORM, const fftw_plan plan, void *add, void *mul, void *fma)
{
    const struct fftw *fftw = functions(form);
    if (fftw && plan)
        ((void (*)(const void *, double *, double *, double *))fftw->flops)(plan, add, mul, fma);
}

/* FFTW's own would end the plans that libcufft has. */
void mr_cufftw_cleanup(FORM)
{
    (void)form;
}
