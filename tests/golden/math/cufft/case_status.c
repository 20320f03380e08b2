/* SPDX-License-Identifier: Apache-2.0 */
/* What cuFFT answers to arguments that are wrong, or ask for nothing; what plans are at first. */
#include "ft.h"

/* What a case finds: a plan that is made (64 elements, C2C), one that is not, and memory. */
struct fixture {
    cufftHandle made, bare;
    void *a, *b;
    size_t size;
    int n[3], e[3];
    long long ln[3];
};

static struct fixture *begin(void)
{
    static struct fixture f;
    if (!f.a) {
        f.a = rt_alloc(1 << 20);
        f.b = rt_alloc(1 << 20);
    }
    FT_NEED(cufftPlan1d(&f.made, 64, CUFFT_C2C, 1));
    FT_NEED(cufftCreate(&f.bare));
    f.size = 12345;
    f.n[0] = f.n[1] = f.n[2] = 8;
    f.e[0] = f.e[1] = f.e[2] = 8;
    f.ln[0] = f.ln[1] = f.ln[2] = 8;
    return &f;
}

static void end(struct fixture *f)
{
    cufftDestroy(f->made);
    cufftDestroy(f->bare);
}

/* A case of one call. */
#define ONE(title, call, ...) \
    CASE(ft_status, title, __VA_ARGS__) \
    { \
        struct fixture *f = begin(); \
        (void)f; \
        ft(call); \
        end(f); \
    }

/* Hardware takes what the manual refuses. */
#define MANUAL(answer) .allow = answer, .why = "the manual's status: hardware takes the argument"
/* What there is memory for, and what for, differs. */
#define MEMORY(answer) .alone = true, .allow = answer, .why = "it depends on memory"
/* Plans for several GPUs are refused. */
#define SEVERAL(answer) .alone = true, .allow = answer, .why = "there are no transforms on several GPUs here"

static cufftHandle dead(void)
{
    cufftHandle plan;
    FT_NEED(cufftCreate(&plan));
    FT_NEED(cufftDestroy(plan));
    return plan;
}

/* ---- handles ---- */
ONE(create_null, cufftCreate(NULL), .alone = true)
ONE(destroy_null_plan, cufftDestroy(CUFFT_PLAN_NULL))
ONE(destroy_never, cufftDestroy(12345))
ONE(destroy_twice, cufftDestroy(dead()))
ONE(destroy_0, cufftDestroy(0), .alone = true)
ONE(destroy_large, cufftDestroy(0x7fffffff))
ONE(stream_dead, cufftSetStream(dead(), NULL))
ONE(exec_dead, cufftExecC2C(dead(), f->a, f->b, CUFFT_FORWARD))
ONE(exec_bare, cufftExecC2C(f->bare, f->a, f->b, CUFFT_FORWARD))
ONE(exec_bare_wrong_type, cufftExecR2C(f->bare, f->a, f->b))
ONE(xt_exec_bare, cufftXtExec(f->bare, f->a, f->b, CUFFT_FORWARD))
ONE(stream_bare, cufftSetStream(f->bare, NULL))
ONE(size_bare, cufftGetSize(f->bare, &f->size))
ONE(size_dead, cufftGetSize(dead(), &f->size))
ONE(size_null, cufftGetSize(f->made, NULL), .alone = true)
ONE(area_bare, cufftSetWorkArea(f->bare, f->a))
ONE(area_dead, cufftSetWorkArea(dead(), f->a))
ONE(area_null, cufftSetWorkArea(f->made, NULL))
ONE(area_odd, cufftSetWorkArea(f->made, (char *)f->a + 4))
ONE(area, cufftSetWorkArea(f->made, f->a))
ONE(auto_dead, cufftSetAutoAllocation(dead(), 0))
ONE(auto_made, cufftSetAutoAllocation(f->made, 0))
ONE(auto_two, cufftSetAutoAllocation(f->bare, 2))
ONE(version_null, cufftGetVersion(NULL), MANUAL("INVALID_VALUE"), .alone = true)
ONE(property_null, cufftGetProperty(MAJOR_VERSION, NULL), .alone = true)
ONE(property_wrong, cufftGetProperty((libraryPropertyType)7, &f->n[0]))

CASE(ft_status, handles)
{
    cufftHandle plans[3];
    for (int i = 0; i < 3; i++)
        FT_NEED(cufftCreate(&plans[i]));
    say_if("different", plans[0] != plans[1] && plans[1] != plans[2]);
    say_if("positive", plans[0] >= 0);
    for (int i = 0; i < 3; i++)
        ft(cufftDestroy(plans[i]));
}

CASE(ft_status, version)
{
    int version = 0, major = 0, minor = 0, patch = -1;
    ft(cufftGetVersion(&version));
    ft(cufftGetProperty(MAJOR_VERSION, &major));
    ft(cufftGetProperty(MINOR_VERSION, &minor));
    ft(cufftGetProperty(PATCH_LEVEL, &patch));
    say_int(version);
    say_int(major);
    say_int(minor);
    say_int(patch);
}

/* ---- executing ---- */
ONE(exec_null_in, cufftExecC2C(f->made, NULL, f->b, CUFFT_FORWARD), .alone = true, .allow = "INVALID_VALUE",
    .why = "hardware's kernel faults, where it notices")
ONE(exec_null_out, cufftExecC2C(f->made, f->a, NULL, CUFFT_FORWARD), .alone = true, .allow = "INVALID_VALUE",
    .why = "hardware's kernel faults, where it notices")
ONE(exec_direction_0, cufftExecC2C(f->made, f->a, f->b, 0))
ONE(exec_direction_5, cufftExecC2C(f->made, f->a, f->b, 5))
ONE(exec_r2c_of_c2c, cufftExecR2C(f->made, f->a, f->b))
ONE(exec_c2r_of_c2c, cufftExecC2R(f->made, f->a, f->b))
ONE(exec_z2z_of_c2c, cufftExecZ2Z(f->made, f->a, f->b, CUFFT_FORWARD))
ONE(exec_d2z_of_c2c, cufftExecD2Z(f->made, f->a, f->b))
ONE(exec_unaligned, cufftExecC2C(f->made, (void *)((char *)f->a + 4), f->b, CUFFT_FORWARD), .alone = true)
ONE(exec_aligned_8, cufftExecC2C(f->made, (void *)((char *)f->a + 8), f->b, CUFFT_FORWARD))
ONE(xt_exec, cufftXtExec(f->made, f->a, f->b, CUFFT_FORWARD))
ONE(xt_exec_null, cufftXtExec(f->made, NULL, f->b, CUFFT_FORWARD), .alone = true, .allow = "INVALID_VALUE",
    .why = "hardware's kernel faults, where it notices")
ONE(xt_exec_direction, cufftXtExec(f->made, f->a, f->b, 3))
ONE(exec_host_memory, cufftExecC2C(f->made, (void *)f, f->b, CUFFT_FORWARD), .alone = true)

/* ---- making plans ---- */
ONE(plan_null, cufftPlan1d(NULL, 8, CUFFT_C2C, 1), .alone = true)
ONE(plan_n_0, cufftPlan1d(&f->bare, 0, CUFFT_C2C, 1))
ONE(plan_n_negative, cufftPlan1d(&f->bare, -8, CUFFT_C2C, 1))
ONE(plan_batch_0, cufftPlan1d(&f->bare, 8, CUFFT_C2C, 0))
ONE(plan_batch_negative, cufftPlan1d(&f->bare, 8, CUFFT_C2C, -1))
ONE(plan_type_0, cufftPlan1d(&f->bare, 8, (cufftType)0, 1))
ONE(plan_type_wrong, cufftPlan1d(&f->bare, 8, (cufftType)0x77, 1))
ONE(plan_type_and_n, cufftPlan1d(&f->bare, -8, (cufftType)0x77, 1))
ONE(plan_2d_0, cufftPlan2d(&f->bare, 8, 0, CUFFT_C2C), MANUAL("INVALID_SIZE"))
ONE(plan_3d_0, cufftPlan3d(&f->bare, 0, 8, 8, CUFFT_C2C))
ONE(plan_3d_negative, cufftPlan3d(&f->bare, 8, 8, -8, CUFFT_C2C), MANUAL("INVALID_SIZE"))
ONE(many_rank_0, cufftPlanMany(&f->bare, 0, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1))
ONE(many_rank_4, cufftPlanMany(&f->bare, 4, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1))
ONE(many_rank_negative, cufftPlanMany(&f->bare, -1, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1))
ONE(many_n_null, cufftPlanMany(&f->bare, 1, NULL, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1), .alone = true)
ONE(many_stride_0, cufftPlanMany(&f->bare, 1, f->n, f->e, 0, 8, f->e, 1, 8, CUFFT_C2C, 2))
ONE(many_stride_negative, cufftPlanMany(&f->bare, 1, f->n, f->e, -1, 8, f->e, 1, 8, CUFFT_C2C, 2))
ONE(many_ostride_0, cufftPlanMany(&f->bare, 1, f->n, f->e, 1, 8, f->e, 0, 8, CUFFT_C2C, 2))
ONE(many_dist_negative, cufftPlanMany(&f->bare, 1, f->n, f->e, 1, -8, f->e, 1, 8, CUFFT_C2C, 2))
ONE(many_odist_0, cufftPlanMany(&f->bare, 1, f->n, f->e, 1, 8, f->e, 1, 0, CUFFT_C2C, 2))
ONE(many_odist_0_one, cufftPlanMany(&f->bare, 1, f->n, f->e, 1, 8, f->e, 1, 0, CUFFT_C2C, 1))
ONE(many_null_stride_0, cufftPlanMany(&f->bare, 1, f->n, NULL, 0, 0, NULL, 0, 0, CUFFT_C2C, 2))
ONE(many_batch_0, cufftPlanMany(&f->bare, 1, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 0))
ONE(many_one_embed, cufftPlanMany(&f->bare, 1, f->n, f->e, 1, 8, NULL, 1, 8, CUFFT_C2C, 2))
ONE(many_embed_small, cufftPlanMany(&f->bare, 2, f->n, (int[]){8, 4}, 1, 64, (int[]){8, 4}, 1, 64, CUFFT_C2C, 1))
ONE(many_embed_0, cufftPlanMany(&f->bare, 2, f->n, (int[]){0, 8}, 1, 64, (int[]){0, 8}, 1, 64, CUFFT_C2C, 1))
ONE(many_embed_last_0, cufftPlanMany(&f->bare, 2, f->n, (int[]){8, 0}, 1, 64, (int[]){8, 0}, 1, 64, CUFFT_C2C, 1))
ONE(many_embed_negative, cufftPlanMany(&f->bare, 2, f->n, (int[]){8, -8}, 1, 64, f->e, 1, 64, CUFFT_C2C, 1))
ONE(make_dead, cufftMakePlan1d(dead(), 8, CUFFT_C2C, 1, &f->size))
ONE(make_size_null, cufftMakePlan1d(f->bare, 8, CUFFT_C2C, 1, NULL), .alone = true)
ONE(make_again, cufftMakePlan1d(f->made, 8, CUFFT_C2C, 1, &f->size))
ONE(make_again_other, cufftMakePlan2d(f->made, 8, 8, CUFFT_Z2Z, &f->size))
ONE(make64_rank_4, cufftMakePlanMany64(f->bare, 4, f->ln, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size))
ONE(make64_n_null, cufftMakePlanMany64(f->bare, 1, NULL, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size), .alone = true)
ONE(make64_size_null, cufftMakePlanMany64(f->bare, 1, f->ln, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, NULL), .alone = true)
ONE(make64_type, cufftMakePlanMany64(f->bare, 1, f->ln, NULL, 1, 0, NULL, 1, 0, (cufftType)1, 1, &f->size))
ONE(make64_n_0, cufftMakePlanMany64(f->bare, 1, (long long[]){0}, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size))
ONE(huge, cufftMakePlanMany64(f->bare, 1, (long long[]){1ll << 40}, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size),
    MEMORY("ALLOC_FAILED"))
ONE(huge_batch, cufftMakePlanMany64(f->bare, 1, f->ln, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1ll << 45, &f->size))
ONE(huge_prime, cufftPlan1d(&f->bare, 2147483647, CUFFT_C2C, 1), MEMORY("ALLOC_FAILED"))
ONE(large_3d, cufftPlan3d(&f->bare, 8192, 8192, 8192, CUFFT_Z2Z), MEMORY("SUCCESS|ALLOC_FAILED"))

/* ---- plans with data types ---- */
#define XT(in, out, exec) cufftXtMakePlanMany(f->bare, 1, f->ln, NULL, 1, 0, in, NULL, 1, 0, out, 1, &f->size, exec)
ONE(xt_c32_c32, XT(CUDA_C_32F, CUDA_C_32F, CUDA_C_32F))
ONE(xt_c32_c64, XT(CUDA_C_32F, CUDA_C_64F, CUDA_C_64F))
ONE(xt_c32_in_64, XT(CUDA_C_32F, CUDA_C_32F, CUDA_C_64F))
ONE(xt_r32_r32, XT(CUDA_R_32F, CUDA_R_32F, CUDA_C_32F))
ONE(xt_r32_c32_r32, XT(CUDA_R_32F, CUDA_C_32F, CUDA_R_32F))
ONE(xt_c16_in_32, XT(CUDA_C_16F, CUDA_C_16F, CUDA_C_32F))
ONE(xt_c16_c32, XT(CUDA_C_16F, CUDA_C_32F, CUDA_C_32F))
ONE(xt_i8, XT(CUDA_C_8I, CUDA_C_8I, CUDA_C_8I))
ONE(xt_wrong, XT((cudaDataType)99, CUDA_C_32F, CUDA_C_32F))
ONE(xt_r16_c16, XT(CUDA_R_16F, CUDA_C_16F, CUDA_C_16F))
ONE(xt_bf16, XT(CUDA_C_16BF, CUDA_C_16BF, CUDA_C_16BF))
ONE(xt_bf16_half, XT(CUDA_C_16BF, CUDA_C_16F, CUDA_C_16F))
ONE(xt_rank_4,
    cufftXtMakePlanMany(f->bare, 4, f->ln, NULL, 1, 0, CUDA_C_32F, NULL, 1, 0, CUDA_C_32F, 1, &f->size, CUDA_C_32F))
ONE(xt_size_null,
    cufftXtMakePlanMany(f->bare, 1, f->ln, NULL, 1, 0, CUDA_C_32F, NULL, 1, 0, CUDA_C_32F, 1, NULL, CUDA_C_32F),
    .alone = true)
ONE(xt_size_many,
    cufftXtGetSizeMany(f->bare, 1, f->ln, NULL, 1, 0, CUDA_C_32F, NULL, 1, 0, CUDA_C_32F, 1, &f->size, CUDA_C_32F))
ONE(xt_size_half_odd, cufftXtGetSizeMany(f->bare, 1, (long long[]){100}, NULL, 1, 0, CUDA_C_16F, NULL, 1, 0, CUDA_C_16F,
                                         1, &f->size, CUDA_C_16F))

/* ---- sizes of work areas ---- */
ONE(estimate_null, cufftEstimate1d(8, CUFFT_C2C, 1, NULL), .alone = true)
ONE(estimate_n_0, cufftEstimate1d(0, CUFFT_C2C, 1, &f->size))
ONE(estimate_type, cufftEstimate1d(8, (cufftType)3, 1, &f->size))
ONE(estimate_batch_0, cufftEstimate1d(8, CUFFT_C2C, 0, &f->size))
ONE(estimate_many_rank, cufftEstimateMany(4, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size))
ONE(size_1d_dead, cufftGetSize1d(dead(), 8, CUFFT_C2C, 1, &f->size))
ONE(size_1d_null, cufftGetSize1d(f->bare, 8, CUFFT_C2C, 1, NULL), .alone = true)
ONE(size_1d_n_0, cufftGetSize1d(f->bare, 0, CUFFT_C2C, 1, &f->size))
ONE(size_2d, cufftGetSize2d(f->bare, 8, 8, CUFFT_C2C, &f->size))
ONE(size_3d_made, cufftGetSize3d(f->made, 8, 8, 8, CUFFT_C2C, &f->size))
ONE(size_many_rank, cufftGetSizeMany(f->bare, 5, f->n, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size))
ONE(size_many64_n_null, cufftGetSizeMany64(f->bare, 1, NULL, NULL, 1, 0, NULL, 1, 0, CUFFT_C2C, 1, &f->size),
    .alone = true)

/* A query of sizes leaves the plan unmade. */
CASE(ft_status, size_then_exec)
{
    struct fixture *f = begin();
    ft(cufftGetSize1d(f->bare, 64, CUFFT_C2C, 1, &f->size));
    ft(cufftExecC2C(f->bare, f->a, f->b, CUFFT_FORWARD));
    ft(cufftMakePlan1d(f->bare, 64, CUFFT_C2C, 1, &f->size));
    ft(cufftExecC2C(f->bare, f->a, f->b, CUFFT_FORWARD));
    end(f);
}

/* A plan that could not be made can be made after all. */
CASE(ft_status, make_after_failure)
{
    struct fixture *f = begin();
    ft(cufftMakePlan1d(f->bare, -64, CUFFT_C2C, 1, &f->size));
    ft(cufftMakePlan1d(f->bare, 64, CUFFT_C2C, 1, &f->size));
    ft(cufftExecC2C(f->bare, f->a, f->b, CUFFT_FORWARD));
    end(f);
}

/* What a failed plan leaves in the handle. */
CASE(ft_status, plan_failed_handle)
{
    cufftHandle plan = 4711;
    ft(cufftPlan1d(&plan, -1, CUFFT_C2C, 1));
    say_if("untouched", plan == 4711);
    say_if("null", plan == CUFFT_PLAN_NULL);
}

/* ---- properties of plans ---- */
ONE(prop_set, cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))
ONE(prop_set_made, cufftSetPlanPropertyInt64(f->made, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))
ONE(prop_set_threads, cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 2))
ONE(prop_set_threads_0, cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, 0))
ONE(prop_set_threads_negative, cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS, -1))
ONE(prop_set_patient_2, cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 2))
ONE(prop_unknown, cufftSetPlanPropertyInt64(f->bare, (cufftProperty)77, 1))
ONE(prop_dead, cufftSetPlanPropertyInt64(dead(), NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1))
ONE(prop_get_null, cufftGetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, NULL), .alone = true)
ONE(prop_get_unknown, cufftGetPlanPropertyInt64(f->bare, (cufftProperty)77, &f->ln[0]))
ONE(prop_reset_unknown, cufftResetPlanProperty(f->bare, (cufftProperty)77))
ONE(prop_reset_made, cufftResetPlanProperty(f->made, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT))

CASE(ft_status, prop_values)
{
    struct fixture *f = begin();
    long long value = -5;
    for (int p = 1; p <= 3; p++) {
        value = -5;
        ft(cufftGetPlanPropertyInt64(f->bare, (cufftProperty)p, &value));
        say_int(value);
    }
    ft(cufftSetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1));
    ft(cufftGetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value));
    say_int(value);
    ft(cufftResetPlanProperty(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT));
    ft(cufftGetPlanPropertyInt64(f->bare, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value));
    say_int(value);
    ft(cufftGetPlanPropertyInt64(f->made, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, &value));
    say_int(value);
    end(f);
}

/* ---- several GPUs, of which there is one; callbacks ---- */
ONE(gpus_one, cufftXtSetGPUs(f->bare, 1, (int[]){0}))
ONE(gpus_one_made, cufftXtSetGPUs(f->made, 1, (int[]){0}))
ONE(gpus_zero, cufftXtSetGPUs(f->bare, 0, (int[]){0}))
ONE(gpus_negative, cufftXtSetGPUs(f->bare, -1, (int[]){0}))
ONE(gpus_null, cufftXtSetGPUs(f->bare, 1, NULL), .alone = true)
ONE(gpus_wrong, cufftXtSetGPUs(f->bare, 1, (int[]){77}))
ONE(gpus_many, cufftXtSetGPUs(f->bare, 100, (int[]){0}), .alone = true)
ONE(gpus_dead, cufftXtSetGPUs(dead(), 1, (int[]){0}))
ONE(gpus_two_same, cufftXtSetGPUs(f->bare, 2, (int[]){0, 0}), SEVERAL("NOT_SUPPORTED"))
ONE(malloc_one_gpu, cufftXtMalloc(f->made, (cudaLibXtDesc **)&f->a, CUFFT_XT_FORMAT_INPLACE), SEVERAL("INVALID_PLAN"))
ONE(malloc_bare, cufftXtMalloc(f->bare, &(cudaLibXtDesc *){0}, CUFFT_XT_FORMAT_INPLACE), .alone = true)
ONE(free_null, cufftXtFree(NULL), .alone = true)
ONE(memcpy_one_gpu, cufftXtMemcpy(f->made, f->a, f->b, CUFFT_COPY_DEVICE_TO_DEVICE), SEVERAL("INVALID_PLAN"))
ONE(descriptor_null, cufftXtExecDescriptorC2C(f->made, NULL, NULL, CUFFT_FORWARD), .alone = true)
ONE(xt_area_one_gpu, cufftXtSetWorkArea(f->made, &f->a))
ONE(xt_area_null, cufftXtSetWorkArea(f->made, NULL), .alone = true)
ONE(query_one_gpu, cufftXtQueryPlan(f->made, &(cufftXt1dFactors){0}, CUFFT_QUERY_1D_FACTORS))
ONE(query_wrong, cufftXtQueryPlan(f->made, &(cufftXt1dFactors){0}, CUFFT_QUERY_UNDEFINED))
ONE(policy_minimal, cufftXtSetWorkAreaPolicy(f->bare, CUFFT_WORKAREA_MINIMAL, NULL))
ONE(policy_performance, cufftXtSetWorkAreaPolicy(f->bare, CUFFT_WORKAREA_PERFORMANCE, NULL))
ONE(policy_user, cufftXtSetWorkAreaPolicy(f->bare, CUFFT_WORKAREA_USER, &f->size))
ONE(policy_user_null, cufftXtSetWorkAreaPolicy(f->bare, CUFFT_WORKAREA_USER, NULL), .alone = true)
ONE(policy_wrong, cufftXtSetWorkAreaPolicy(f->bare, (cufftXtWorkAreaPolicy)9, NULL))
ONE(policy_made, cufftXtSetWorkAreaPolicy(f->made, CUFFT_WORKAREA_MINIMAL, NULL))
ONE(policy_dead, cufftXtSetWorkAreaPolicy(dead(), CUFFT_WORKAREA_MINIMAL, NULL))
ONE(callback_clear, cufftXtClearCallback(f->made, CUFFT_CB_LD_COMPLEX))
ONE(callback_clear_dead, cufftXtClearCallback(dead(), CUFFT_CB_LD_COMPLEX))
ONE(callback_size, cufftXtSetCallbackSharedSize(f->made, CUFFT_CB_LD_COMPLEX, 16))

/* On a plan that is made. */
ONE(policy_made_user, cufftXtSetWorkAreaPolicy(f->made, CUFFT_WORKAREA_USER, &f->size))
ONE(policy_made_wrong, cufftXtSetWorkAreaPolicy(f->made, (cufftXtWorkAreaPolicy)9, NULL), MANUAL("INVALID_VALUE"))
ONE(policy_made_performance, cufftXtSetWorkAreaPolicy(f->made, CUFFT_WORKAREA_PERFORMANCE, NULL))
ONE(callback_set, cufftXtSetCallback(f->made, &f->a, CUFFT_CB_LD_COMPLEX, NULL))
ONE(jit_null, cufftXtSetJITCallback(f->bare, "f", NULL, 0, CUFFT_CB_LD_COMPLEX, NULL))
ONE(jit_type, cufftXtSetJITCallback(f->bare, "f", "code that is none", 16, CUFFT_CB_UNDEFINED, NULL))
ONE(jit_made, cufftXtSetJITCallback(f->made, "f", "code that is none", 16, CUFFT_CB_LD_COMPLEX, NULL))
ONE(exec_real_unaligned, cufftExecC2C(f->made, f->a, (void *)((char *)f->b + 4), CUFFT_FORWARD), .alone = true)
