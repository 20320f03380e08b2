/* SPDX-License-Identifier: Apache-2.0 */
/* Results of cuFFT: types, ranks, lengths, batches, layouts, in place and not. */
#include "ft.h"

#define C2C CUFFT_C2C
#define R2C CUFFT_R2C
#define C2R CUFFT_C2R
#define Z2Z CUFFT_Z2Z
#define D2Z CUFFT_D2Z
#define Z2D CUFFT_Z2D
#define F CUFFT_FORWARD
#define B CUFFT_INVERSE
#define H16 CUDA_R_16F
#define BF CUDA_R_16BF
#define F32 CUDA_R_32F
#define F64 CUDA_R_64F

/* Rank, lengths, batch, with the default layout. */
#define D1(n, batch) {1, {n}, batch}
#define D2(n, m, batch) {2, {n, m}, batch}
#define D3(n, m, k, batch) {3, {n, m, k}, batch}

static const struct ft_case cases[] = {
    /* lengths */
    {"c2c_1", C2C, F, false, FT_SIMPLE, 0, D1(1, 1)},
    {"c2c_2", C2C, F, false, FT_SIMPLE, 0, D1(2, 3)},
    {"c2c_3", C2C, F, false, FT_SIMPLE, 0, D1(3, 3)},
    {"c2c_4", C2C, B, false, FT_SIMPLE, 0, D1(4, 2)},
    {"c2c_8", C2C, F, true, FT_SIMPLE, 0, D1(8, 5)},
    {"c2c_15", C2C, F, true, FT_SIMPLE, 0, D1(15, 2)},
    {"c2c_17", C2C, B, false, FT_SIMPLE, 0, D1(17, 3)},
    {"c2c_64", C2C, B, false, FT_PLAN, 0, D1(64, 100)},
    {"c2c_97", C2C, F, true, FT_PLAN, 0, D1(97, 7)},
    {"c2c_210", C2C, B, true, FT_PLAN, 0, D1(210, 11)},
    {"c2c_509", C2C, F, false, FT_PLAN, 0, D1(509, 3)},
    {"c2c_1000", C2C, F, false, FT_PLAN, 0, D1(1000, 9)},
    {"c2c_1024", C2C, F, true, FT_PLAN, 0, D1(1024, 17)},
    {"c2c_4099", C2C, F, false, FT_PLAN, 0, D1(4099, 1)},
    {"c2c_65536", C2C, B, true, FT_PLAN, 0, D1(65536, 1)},
    {"c2c_100000", C2C, F, false, FT_PLAN, 0, D1(100000, 2)},
    {"c2c_131072", C2C, B, false, FT_PLAN, 0, D1(131072, 3)},
    {"c2c_262144", C2C, F, true, FT_PLAN, 0, D1(262144, 1)},
    {"c2c_1048576", C2C, F, false, FT_PLAN, 0, D1(1048576, 1)},
    {"c2c_130003", C2C, F, false, FT_PLAN, 0, D1(130003, 1)},
    {"z2z_7", Z2Z, F, false, FT_PLAN, 0, D1(7, 4)},
    {"z2z_128", Z2Z, B, true, FT_PLAN, 0, D1(128, 33)},
    {"z2z_1001", Z2Z, F, true, FT_PLAN, 0, D1(1001, 5)},
    {"z2z_262144", Z2Z, B, false, FT_PLAN, 0, D1(262144, 1)},
    {"z2z_177147", Z2Z, F, true, FT_PLAN, 0, D1(177147, 1)},
    {"r2c_1", R2C, F, false, FT_PLAN, 0, D1(1, 3)},
    {"r2c_2", R2C, F, false, FT_PLAN, 0, D1(2, 3)},
    {"r2c_5", R2C, F, false, FT_PLAN, 0, D1(5, 4)},
    {"r2c_16", R2C, F, false, FT_PLAN, 0, D1(16, 10)},
    {"r2c_16_in_place", R2C, F, true, FT_PLAN, 0, D1(16, 10)},
    {"r2c_15_in_place", R2C, F, true, FT_PLAN, 0, D1(15, 10)},
    {"r2c_1000", R2C, F, false, FT_PLAN, 0, D1(1000, 7)},
    {"r2c_1001", R2C, F, false, FT_PLAN, 0, D1(1001, 7)},
    {"r2c_524288", R2C, F, false, FT_PLAN, 0, D1(524288, 1)},
    {"r2c_524288_in_place", R2C, F, true, FT_PLAN, 0, D1(524288, 1)},
    {"r2c_177147", R2C, F, false, FT_PLAN, 0, D1(177147, 1)},
    {"d2z_100", D2Z, F, false, FT_PLAN, 0, D1(100, 3)},
    {"d2z_300000", D2Z, F, false, FT_PLAN, 0, D1(300000, 2)},
    {"c2r_1", C2R, B, false, FT_PLAN, 0, D1(1, 3)},
    {"c2r_2", C2R, B, false, FT_PLAN, 0, D1(2, 3)},
    {"c2r_9", C2R, B, false, FT_PLAN, 0, D1(9, 3)},
    {"c2r_32", C2R, B, false, FT_PLAN, 0, D1(32, 5)},
    {"c2r_32_in_place", C2R, B, true, FT_PLAN, 0, D1(32, 5)},
    {"c2r_33_in_place", C2R, B, true, FT_PLAN, 0, D1(33, 5)},
    {"c2r_999", C2R, B, false, FT_PLAN, 0, D1(999, 5)},
    {"c2r_524288", C2R, B, false, FT_PLAN, 0, D1(524288, 1)},
    {"c2r_524288_in_place", C2R, B, true, FT_PLAN, 0, D1(524288, 1)},
    {"z2d_60", Z2D, B, true, FT_PLAN, 0, D1(60, 3)},
    {"z2d_262144", Z2D, B, false, FT_PLAN, 0, D1(262144, 2)},
    /* planes and boxes */
    {"c2c_2d", C2C, F, false, FT_PLAN, 0, D2(16, 20, 1)},
    {"c2c_2d_1xn", C2C, F, false, FT_PLAN, 0, D2(1, 20, 1)},
    {"c2c_2d_nx1", C2C, F, false, FT_PLAN, 0, D2(20, 1, 1)},
    {"c2c_2d_in_place", C2C, B, true, FT_PLAN, 0, D2(33, 17, 1)},
    {"c2c_2d_batch", C2C, B, false, FT_MANY, 0, D2(12, 10, 9)},
    {"c2c_2d_large", C2C, F, true, FT_PLAN, 0, D2(512, 300, 1)},
    {"c2c_2d_tall", C2C, F, false, FT_PLAN, 0, D2(131072, 3, 1)},
    {"c2c_2d_wide", C2C, F, false, FT_PLAN, 0, D2(3, 131072, 1)},
    {"c2c_3d", C2C, F, false, FT_PLAN, 0, D3(8, 9, 10, 1)},
    {"c2c_3d_in_place", C2C, F, true, FT_PLAN, 0, D3(32, 32, 32, 1)},
    {"c2c_3d_large", C2C, B, false, FT_PLAN, 0, D3(64, 50, 64, 1)},
    {"c2c_3d_batch", C2C, B, false, FT_MANY64, 0, D3(4, 5, 6, 7)},
    {"z2z_2d", Z2Z, F, false, FT_PLAN, 0, D2(40, 24, 1)},
    {"z2z_3d", Z2Z, B, true, FT_PLAN, 0, D3(12, 14, 16, 1)},
    {"r2c_2d", R2C, F, false, FT_PLAN, 0, D2(16, 18, 1)},
    {"r2c_2d_odd", R2C, F, false, FT_PLAN, 0, D2(15, 17, 1)},
    {"r2c_2d_in_place", R2C, F, true, FT_PLAN, 0, D2(16, 18, 1)},
    {"r2c_2d_odd_in_place", R2C, F, true, FT_PLAN, 0, D2(15, 17, 1)},
    {"r2c_2d_large", R2C, F, false, FT_PLAN, 0, D2(500, 512, 1)},
    {"r2c_3d", R2C, F, false, FT_PLAN, 0, D3(10, 12, 14, 1)},
    {"r2c_3d_in_place", R2C, F, true, FT_PLAN, 0, D3(10, 12, 14, 1)},
    {"d2z_3d", D2Z, F, false, FT_PLAN, 0, D3(7, 6, 5, 1)},
    {"r2c_3d_batch", R2C, F, false, FT_MANY, 0, D3(6, 7, 8, 5)},
    {"c2r_2d", C2R, B, false, FT_PLAN, 0, D2(16, 18, 1)},
    {"c2r_2d_odd_in_place", C2R, B, true, FT_PLAN, 0, D2(15, 17, 1)},
    {"c2r_2d_large", C2R, B, false, FT_PLAN, 0, D2(500, 512, 1)},
    {"c2r_3d", C2R, B, false, FT_PLAN, 0, D3(10, 12, 14, 1)},
    {"c2r_3d_in_place", C2R, B, true, FT_PLAN, 0, D3(10, 12, 14, 1)},
    {"z2d_3d", Z2D, B, false, FT_PLAN, 0, D3(7, 6, 5, 1)},
    {"c2r_2d_batch", C2R, B, false, FT_MANY, 0, D2(9, 8, 6)},
    /* layouts */
    {"c2c_stride", C2C, F, false, FT_MANY, 0, {1, {16}, 3, {16}, 2, 40, {16}, 3, 50}},
    {"c2c_interleaved", C2C, F, false, FT_MANY64, 0, {1, {30}, 8, {30}, 8, 1, {30}, 8, 1}},
    {"c2c_interleaved_in_place", C2C, B, true, FT_MANY64, 0, {1, {30}, 8, {30}, 8, 1, {30}, 8, 1}},
    {"c2c_transpose", C2C, F, false, FT_MANY, 0, {1, {24}, 10, {24}, 1, 24, {24}, 10, 1}},
    {"c2c_padded", C2C, F, true, FT_MANY, 0, {2, {10, 12}, 3, {11, 15}, 1, 170, {11, 15}, 1, 170}},
    {"c2c_embed_out", C2C, F, false, FT_MANY, 0, {2, {10, 12}, 3, {10, 12}, 1, 120, {12, 16}, 2, 400}},
    {"c2c_embed_3d", C2C, B, false, FT_MANY64, 0, {3, {4, 5, 6}, 2, {5, 6, 7}, 2, 500, {4, 5, 9}, 1, 200}},
    {"c2c_only_in", C2C, F, false, FT_MANY, 0, {1, {16}, 3, {16}, 2, 40}},
    {"c2c_only_out", C2C, F, false, FT_MANY, 0, {1, {16}, 3, {0}, 0, 0, {16}, 2, 40}},
    {"c2c_dist_less", C2C, F, false, FT_MANY, 0, {1, {16}, 5, {16}, 1, 8, {16}, 1, 16}},
    {"c2c_dist_0", C2C, F, false, FT_MANY, 0, {1, {16}, 4, {16}, 1, 0, {16}, 1, 16}},
    {"c2c_large_stride", C2C, F, false, FT_MANY64, 0, {1, {131072}, 2, {131072}, 2, 262150, {131072}, 1, 131072}},
    {"r2c_stride", R2C, F, false, FT_MANY, 0, {1, {16}, 3, {16}, 2, 40, {9}, 3, 50}},
    {"r2c_interleaved", R2C, F, false, FT_MANY, 0, {1, {20}, 6, {20}, 6, 1, {11}, 6, 1}},
    {"r2c_embed", R2C, F, false, FT_MANY, 0, {2, {10, 12}, 3, {10, 14}, 1, 140, {10, 8}, 1, 80}},
    {"r2c_embed_in_place", R2C, F, true, FT_MANY, 0, {2, {10, 12}, 3, {10, 14}, 1, 140, {10, 7}, 1, 70}},
    {"r2c_large_stride", R2C, F, false, FT_MANY64, 0, {1, {262144}, 1, {262144}, 3, 0, {131073}, 2, 0}},
    {"c2r_stride", C2R, B, false, FT_MANY, 0, {1, {16}, 3, {9}, 2, 40, {16}, 3, 50}},
    {"c2r_interleaved", C2R, B, false, FT_MANY, 0, {1, {21}, 6, {11}, 6, 1, {21}, 6, 1}},
    {"c2r_embed", C2R, B, false, FT_MANY, 0, {2, {10, 12}, 3, {10, 8}, 1, 80, {10, 14}, 1, 140}},
    {"c2r_embed_3d", C2R, B, false, FT_MANY64, 0, {3, {4, 6, 5}, 2, {5, 7, 4}, 1, 150, {4, 6, 5}, 2, 300}},
    {"z2z_stride", Z2Z, B, false, FT_MANY64, 0, {1, {100}, 3, {100}, 2, 250, {100}, 3, 350}},
    {"d2z_embed", D2Z, F, false, FT_MANY64, 0, {2, {9, 8}, 2, {9, 10}, 1, 95, {9, 5}, 2, 100}},
    {"z2d_stride", Z2D, B, false, FT_MANY64, 0, {1, {64}, 5, {33}, 5, 1, {64}, 1, 64}},
    /* other precisions, and plans with data types */
    {"xt_c32", C2C, F, false, FT_XT, F32, D1(60, 3)},
    {"xt_c64", Z2Z, B, true, FT_XT, F64, D2(6, 7, 3)},
    {"xt_r32", R2C, F, false, FT_XT, F32, D2(8, 10, 3)},
    {"xt_z2d", Z2D, B, false, FT_XT, F64, D3(4, 6, 10, 1)},
    {"half_c2c_64", C2C, F, false, FT_XT, H16, D1(64, 5)},
    {"half_c2c_1024", C2C, B, true, FT_XT, H16, D1(1024, 3)},
    {"half_c2c_100", C2C, F, false, FT_XT, H16, D1(100, 3)},
    {"half_c2c_2d", C2C, F, false, FT_XT, H16, D2(32, 16, 2)},
    {"half_r2c_128", R2C, F, false, FT_XT, H16, D1(128, 4)},
    {"half_r2c_in_place", R2C, F, true, FT_XT, H16, D1(128, 4)},
    {"half_c2r_128", C2R, B, false, FT_XT, H16, D1(128, 4)},
    {"half_r2c_2d", R2C, F, false, FT_XT, H16, D2(16, 16, 2)},
    {"half_c2c_stride", C2C, F, false, FT_XT, H16, {1, {64}, 3, {64}, 2, 150, {64}, 1, 64}},
    {"half_r2c_stride", R2C, F, false, FT_XT, H16, {1, {64}, 3, {64}, 2, 150, {33}, 1, 33}},
    {"half_c2c_131072", C2C, F, false, FT_XT, H16, D1(131072, 1)},
    {"bf16_c2c_64", C2C, F, false, FT_XT, BF, D1(64, 5)},
    {"bf16_c2c_100", C2C, F, false, FT_XT, BF, D1(100, 5)},
    {"bf16_r2c_64", R2C, F, false, FT_XT, BF, D1(64, 5)},
    {"bf16_c2r_64", C2R, B, true, FT_XT, BF, D1(64, 5)},
    {"bf16_c2c_2d", C2C, B, false, FT_XT, BF, D2(16, 32, 2)},
    /* the direction of transforms that have one */
    {"xt_r2c_inverse", R2C, B, false, FT_XT, F32, D1(20, 1)},
    {"xt_c2r_forward", C2R, F, false, FT_XT, F32, D1(20, 1)},
};

static void run(const struct gold_case *self)
{
    ft_run(self->data);
}

__attribute__((constructor)) static void add(void)
{
    static struct gold_case list[sizeof cases / sizeof *cases];
    static char names[sizeof cases / sizeof *cases][48];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = 0;
        for (const char *c = "fft_value."; *c; c++)
            names[i][length++] = *c;
        for (const char *c = cases[i].title; *c; c++)
            names[i][length++] = *c;
        list[i] = (struct gold_case){.name = names[i], .run = run, .data = &cases[i]};
    }
    gold_register_all(list, sizeof cases / sizeof *cases);
}

/* ---- plans that are executed by another type's function ---- */

/* The plan says what is computed. */
static void mismatched(cufftType type, cufftResult (*execute)(cufftHandle plan, void *in, void *out))
{
    struct ft_case wanted = {"", type, F, false, FT_PLAN, 0, D1(16, 1)};
    cufftHandle plan = ft_plan(&wanted);
    struct ft_memory memory = ft_fill(&wanted);
    cufftResult status = execute(plan, memory.in, memory.out);
    ft(status);
    if (status == CUFFT_SUCCESS)
        ft_say(&wanted, &memory);
    cufftDestroy(plan);
}

static cufftResult as_c2c(cufftHandle plan, void *in, void *out)
{
    return cufftExecC2C(plan, in, out, F);
}

static cufftResult as_c2c_inverse(cufftHandle plan, void *in, void *out)
{
    return cufftExecC2C(plan, in, out, B);
}

static cufftResult as_r2c(cufftHandle plan, void *in, void *out)
{
    return cufftExecR2C(plan, in, out);
}

static cufftResult as_c2r(cufftHandle plan, void *in, void *out)
{
    return cufftExecC2R(plan, in, out);
}

static cufftResult as_z2z(cufftHandle plan, void *in, void *out)
{
    return cufftExecZ2Z(plan, in, out, F);
}

static cufftResult as_d2z(cufftHandle plan, void *in, void *out)
{
    return cufftExecD2Z(plan, in, out);
}

#define MISMATCH(title, type, how) \
    CASE(ft_other, title, .alone = true) \
    { \
        mismatched(type, how); \
    }

MISMATCH(c2c_as_r2c, C2C, as_r2c)
MISMATCH(c2c_as_c2r, C2C, as_c2r)
MISMATCH(c2c_as_z2z, C2C, as_z2z)
MISMATCH(z2z_as_c2c, Z2Z, as_c2c)
MISMATCH(r2c_as_c2c, R2C, as_c2c)
MISMATCH(r2c_as_c2c_inverse, R2C, as_c2c_inverse)
MISMATCH(r2c_as_d2z, R2C, as_d2z)
MISMATCH(r2c_as_c2r, R2C, as_c2r)
MISMATCH(c2r_as_c2c, C2R, as_c2c)
MISMATCH(c2r_as_c2c_inverse, C2R, as_c2c_inverse)
