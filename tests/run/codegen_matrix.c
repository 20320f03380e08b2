/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mma and wmma against plain C.
 *
 * Every form of mma gets its operands in registers as the PTX manual spreads them
 * over the lanes (fragment_place, written from the lane's side), multiplies, and
 * hands its result back in registers. wmma loads and stores matrices itself, in
 * every layout and with rows apart. What is expected is calculated element by
 * element: floats in the order of k, one fused multiply-add each.
 */
#include "codegen_matrix.h"

/* --- Fragments of mma, from the lane's side ------------------------------------------------ */

enum role { A, B, C };

struct form {
    unsigned m, n, k;
    enum kind d, a, b, c;
    const char *tail;  /* .satfinite, .xor.popc ... */
    const char *rows;  /* layouts */
};

static unsigned registers(const struct form *form, enum role role, enum kind kind)
{
    bool quads = form->m == 8 && form->n == 8 && form->k == 4 && form->a == F16;
    unsigned elements = role == A ? form->m * form->k : role == B ? form->k * form->n : form->m * form->n;
    if (quads)
        return role != C ? 2 : kind == F16 ? 4 : 8;
    return elements * kind_bits[kind] / (kind_bits[kind] == 64 ? 2048 : 1024);
}

/* Row and column of element i of a lane's fragment, in the manual's words: groupID is lane >> 2, threadID_in_group lane
 * % 4. */
static void fragment_place(const struct form *form, enum role role, enum kind kind, unsigned lane, unsigned i,
                           unsigned *row, unsigned *col)
{
    unsigned group = lane >> 2, thread = lane % 4, per = kind_bits[kind] >= 32 ? 1 : 32 / kind_bits[kind];
    if (role == C) {
        *row = group + (form->m == 16 && i >= 2 ? 8 : 0);
        *col = thread * 2 + (i & 1);
    } else if (role == A) {
        unsigned reg = i / per, tall = form->m / 8;
        *row = group + (reg % tall ? 8 : 0);
        *col = thread * per + i % per + reg / tall * 4 * per;
    } else {
        *row = thread * per + i % per + i / per * 4 * per;
        *col = group;
    }
}

/* The same for mma.m8n8k4 of f16, which does four products: the lane's own is (lane % 16) / 4. */
static void quad_place(const struct form *form, enum role role, enum kind kind, unsigned lane, unsigned i,
                       unsigned *row, unsigned *col)
{
    unsigned high = lane < 16 ? 0 : 4, own = lane % 4;
    if (role == A) {
        bool rows = strstr(form->rows, "row.") != NULL;
        *row = high + (rows ? own : i % 4);
        *col = rows ? i : own;
    } else if (role == B) {
        bool rows = strstr(form->rows, ".row") != NULL;
        *row = rows ? own : i;
        *col = high + (rows ? i : own);
    } else if (kind == F16) {
        *row = high + own;
        *col = i;
    } else {
        *row = high + (lane & 1) + (i & 2);
        *col = (i & 4) + (lane & 2) + (i & 1);
    }
}

static bool is_quads(const struct form *form)
{
    return form->k == 4 && form->a == F16;
}

/* Visits every element of every lane: puts it into registers, or takes it from them. */
static void spread(const struct form *form, enum role role, struct matrix *matrices, uint32_t *regs, bool take)
{
    enum kind kind = matrices[0].kind;
    unsigned bits = kind_bits[kind], count = registers(form, role, kind), per = bits >= 32 ? 1 : 32 / bits;
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < count * per; i++) {
            unsigned row, col;
            struct matrix *matrix = &matrices[is_quads(form) ? lane % 16 / 4 : 0];
            (is_quads(form) ? quad_place : fragment_place)(form, role, kind, lane, i, &row, &col);
            uint64_t *element = &matrix->bits[row * matrix->cols + col];
            if (bits == 64) {
                uint64_t *reg = (uint64_t *)(void *)regs + lane * count + i;
                *(take ? element : reg) = *(take ? reg : element);
                continue;
            }
            uint32_t *reg = &regs[lane * count + i / per], shift = i % per * bits,
                     mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
            if (take)
                *element = *reg >> shift & mask;
            else
                *reg = (*reg & ~(mask << shift)) | (uint32_t)*element << shift;
        }
}

static void mma_text(char *text, const struct form *form)
{
    unsigned wide = form->a == F64 ? 64 : 32;
    const char *type = form->a == F64 ? "b64" : "b32";
    sprintf(text,
            HEAD ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n"
                 ".reg .b32 %%t; .reg .b64 %%rd1; .reg .%s %%a<9>, %%b<9>, %%c<9>, %%d<9>; mov.u32 %%t, %%tid.x;\n",
            type);
    move_all(text, "%a", "pa", registers(form, A, form->a), wide, false);
    move_all(text, "%b", "pb", registers(form, B, form->b), wide, false);
    move_all(text, "%c", "pc", registers(form, C, form->c), wide, false);
    bool logic = form->a == B1;
    sprintf(text + strlen(text), "mma.sync.aligned.m%un%uk%u.%s%s.%s.%s.%s.%s%s ", form->m, form->n, form->k,
            form->rows, logic ? "" : form->tail, kind_names[form->d], kind_names[form->a], kind_names[form->b],
            kind_names[form->c], logic ? form->tail : "");
    list(text, "%d", registers(form, C, form->d));
    strcat(text, ", ");
    list(text, "%a", registers(form, A, form->a));
    strcat(text, ", ");
    list(text, "%b", registers(form, B, form->b));
    strcat(text, ", ");
    list(text, "%c", registers(form, C, form->c));
    strcat(text, ";\n");
    move_all(text, "%d", "pd", registers(form, C, form->d), wide, true);
    strcat(text, "ret; }\n");
}

static void try_form(const struct form *form)
{
    static struct matrix a[4], b[4], c[4], d[4], got[4];
    static uint32_t regs[4][32 * 16] __attribute__((aligned(64)));
    static char text[16384];
    unsigned count = is_quads(form) ? 4 : 1;
    mma_text(text, form);
    struct rig *rig = rig_open(text);
    turn++;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        if (!is_chosen())
            continue;
        memset(regs, 0, sizeof regs);
        for (unsigned i = 0; i < count; i++) {
            draw_matrix(&a[i], form->a, form->m, form->k);
            draw_matrix(&b[i], form->b, form->k, form->n);
            draw_matrix(&c[i], form->c, form->m, form->n);
            d[i].kind = got[i].kind = form->d;
            d[i].rows = got[i].rows = form->m;
            d[i].cols = got[i].cols = form->n;
            multiply(&d[i], &a[i], &b[i], &c[i], strstr(form->tail, "satfinite") != NULL,
                     strstr(form->tail, "and") != NULL);
        }
        spread(form, A, a, regs[0], false);
        spread(form, B, b, regs[1], false);
        spread(form, C, c, regs[2], false);
        uint32_t *params[4] = {regs[0], regs[1], regs[2], regs[3]};
        rig_run(rig, "k", 1, 32, params, sizeof params);
        spread(form, C, got, regs[3], true);
        for (unsigned i = 0; i < count; i++)
            same(&got[i], &d[i], strstr(text, "mma.sync"));
    }
    rig_close(rig);
}

#define RC "row.col"

static void floats(void **unused)
{
    (void)unused;
    static const struct form forms[] = {
        {16, 8, 8, F16, F16, F16, F16, "", RC},    {16, 8, 8, F32, F16, F16, F32, "", RC},
        {16, 8, 16, F16, F16, F16, F16, "", RC},   {16, 8, 16, F32, F16, F16, F32, "", RC},
        {16, 8, 8, F32, BF16, BF16, F32, "", RC},  {16, 8, 16, F32, BF16, BF16, F32, "", RC},
        {16, 8, 4, F32, TF32, TF32, F32, "", RC},  {16, 8, 8, F32, TF32, TF32, F32, "", RC},
        {8, 8, 4, F64, F64, F64, F64, "", RC},     {16, 8, 4, F64, F64, F64, F64, "", RC},
        {16, 8, 8, F64, F64, F64, F64, "", RC},    {16, 8, 16, F64, F64, F64, F64, "", RC},
        {16, 8, 32, F32, E4M3, E5M2, F32, "", RC}, {16, 8, 32, F32, E5M2, E4M3, F32, "", RC},
        {16, 8, 16, F32, E4M3, E4M3, F32, "", RC}, {16, 8, 32, F16, E4M3, E4M3, F16, "", RC},
        {16, 8, 16, F16, E5M2, E5M2, F16, "", RC},
    };
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        try_form(&forms[i]);
}

static void integers(void **unused)
{
    (void)unused;
    static const struct form forms[] = {
        {8, 8, 16, S32, U8, S8, S32, "", RC},
        {8, 8, 16, S32, S8, S8, S32, ".satfinite", RC},
        {16, 8, 16, S32, U8, U8, S32, ".satfinite", RC},
        {16, 8, 32, S32, S8, U8, S32, "", RC},
        {16, 8, 32, S32, S8, S8, S32, ".satfinite", RC},
        {8, 8, 32, S32, U4, S4, S32, "", RC},
        {16, 8, 32, S32, S4, S4, S32, ".satfinite", RC},
        {16, 8, 64, S32, U4, U4, S32, "", RC},
        {8, 8, 128, S32, B1, B1, S32, ".xor.popc", RC},
        {8, 8, 128, S32, B1, B1, S32, ".and.popc", RC},
        {16, 8, 128, S32, B1, B1, S32, ".xor.popc", RC},
        {16, 8, 256, S32, B1, B1, S32, ".and.popc", RC},
    };
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        try_form(&forms[i]);
}

static void quads(void **unused)
{
    (void)unused;
    static const char *const layouts[] = {"row.row", "row.col", "col.row", "col.col"};
    for (unsigned i = 0; i < 4; i++) {
        struct form forms[3] = {{8, 8, 4, F16, F16, F16, F16, "", layouts[i]},
                                {8, 8, 4, F32, F16, F16, F16, "", layouts[i]},
                                {8, 8, 4, F32, F16, F16, F32, "", layouts[i]}};
        for (unsigned j = 0; j < 3; j++)
            try_form(&forms[j]);
    }
}

/* --- wmma ---------------------------------------------------------------------------------- */

#define PAD 16 /* elements between lines, beyond the matrix; a multiple of what wmma wants */

static unsigned pitch_of(const struct matrix *matrix, bool col)
{
    return (col ? matrix->rows : matrix->cols) + (matrix->kind == B1                         ? 128
                                                  : matrix->kind == S4 || matrix->kind == U4 ? 32
                                                                                             : PAD);
}

/* Between a matrix and its place in memory. */
static void in_memory(struct matrix *matrix, uint8_t *memory, bool col, bool take)
{
    unsigned pitch = pitch_of(matrix, col), bits = kind_bits[matrix->kind];
    for (unsigned row = 0; row < matrix->rows; row++)
        for (unsigned column = 0; column < matrix->cols; column++) {
            uint64_t *element = &matrix->bits[row * matrix->cols + column];
            unsigned at = col ? column * pitch + row : row * pitch + column;
            if (bits >= 8) {
                if (take)
                    *element = 0;
                memcpy(take ? (void *)element : memory + at * bits / 8,
                       take ? (void *)(memory + at * bits / 8) : element, bits / 8);
                continue;
            }
            uint8_t *byte = memory + at * bits / 8, shift = (uint8_t)(at * bits % 8), mask = (uint8_t)((1 << bits) - 1);
            if (take)
                *element = *byte >> shift & mask;
            else
                *byte = (uint8_t)((*byte & ~(mask << shift)) | *element << shift);
        }
}

static unsigned wmma_registers(const struct form *form, enum role role, enum kind kind)
{
    return role != C && kind == F16 ? 8 : registers(form, role, kind);
}

static void wmma_text(char *text, const struct form *form, const bool *col, const struct matrix *all)
{
    static const char names[] = "abc";
    sprintf(text,
            HEAD
            ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n"
            ".reg .b64 %%ra, %%rb, %%rc, %%rd; .reg .%s %%a<9>, %%b<9>, %%c<9>, %%d<9>;\n"
            "ld.param.u64 %%ra, [pa]; ld.param.u64 %%rb, [pb]; ld.param.u64 %%rc, [pc]; ld.param.u64 %%rd, [pd];\n",
            form->a == F64 ? "b64" : "b32");
    for (unsigned role = A; role <= C; role++) {
        char prefix[4] = {'%', names[role], 0};
        sprintf(text + strlen(text), "wmma.load.%c.sync.aligned.%s.m%un%uk%u.global.%s ", names[role],
                col[role] ? "col" : "row", form->m, form->n, form->k, kind_names[all[role].kind]);
        list(text, prefix, wmma_registers(form, (enum role)role, all[role].kind));
        sprintf(text + strlen(text), ", [%%r%c], %u;\n", names[role], pitch_of(&all[role], col[role]));
    }
    bool logic = form->a == B1;
    sprintf(text + strlen(text), "wmma.mma%s.sync.aligned.%s.%s.m%un%uk%u", logic ? form->tail : "",
            col[A] ? "col" : "row", col[B] ? "col" : "row", form->m, form->n, form->k);
    if (form->a == F16)
        sprintf(text + strlen(text), ".%s.%s ", kind_names[form->d], kind_names[form->c]);
    else
        sprintf(text + strlen(text), ".%s.%s.%s.%s%s ", kind_names[form->d], kind_names[form->a], kind_names[form->b],
                kind_names[form->c], logic ? "" : form->tail);
    list(text, "%d", wmma_registers(form, C, form->d));
    strcat(text, ", ");
    list(text, "%a", wmma_registers(form, A, form->a));
    strcat(text, ", ");
    list(text, "%b", wmma_registers(form, B, form->b));
    strcat(text, ", ");
    list(text, "%c", wmma_registers(form, C, form->c));
    sprintf(text + strlen(text), ";\nwmma.store.d.sync.aligned.%s.m%un%uk%u.%s [%%rd], ", col[3] ? "col" : "row",
            form->m, form->n, form->k, kind_names[form->d]);
    list(text, "%d", wmma_registers(form, C, form->d));
    sprintf(text + strlen(text), ", %u;\nret; }\n", pitch_of(&all[3], col[3]));
}

static void try_wmma(const struct form *form, unsigned layouts)
{
    static struct matrix all[4], got;
    static uint8_t memory[4][65536] __attribute__((aligned(64)));
    static char text[16384];
    bool col[4] = {layouts & 1, layouts & 2, layouts & 4, layouts & 8};
    draw_matrix(&all[A], form->a, form->m, form->k);
    draw_matrix(&all[B], form->b, form->k, form->n);
    draw_matrix(&all[C], form->c, form->m, form->n);
    draw_matrix(&all[3], form->d, form->m, form->n);
    got = all[3];
    multiply(&all[3], &all[A], &all[B], &all[C], strstr(form->tail, "satfinite") != NULL,
             strstr(form->tail, "and") != NULL);
    memset(memory, 0xa5, sizeof memory);
    for (unsigned i = A; i <= C; i++)
        in_memory(&all[i], memory[i], col[i], false);
    wmma_text(text, form, col, all);
    struct rig *rig = rig_open(text);
    turn++;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        if (!is_chosen())
            continue;
        memset(memory[3], 0x5a, sizeof memory[3]);
        uint8_t *params[4] = {memory[0], memory[1], memory[2], memory[3]};
        rig_run(rig, "k", 1, 32, params, sizeof params);
        in_memory(&got, memory[3], col[3], true);
        same(&got, &all[3], strstr(text, "wmma.mma"));
        unsigned after = (col[3] ? got.rows : got.cols) * kind_bits[form->d] / 8;
        assert_int_equal(memory[3][after], 0x5a); /* between the lines nothing is written */
    }
    rig_close(rig);
}

static void fragments(void **unused)
{
    (void)unused;
    static const struct form forms[] = {
        {16, 16, 16, F32, F16, F16, F32, "", ""},
        {16, 16, 16, F16, F16, F16, F32, "", ""},
        {8, 32, 16, F32, F16, F16, F16, "", ""},
        {32, 8, 16, F16, F16, F16, F16, "", ""},
        {16, 16, 16, F32, BF16, BF16, F32, "", ""},
        {8, 32, 16, F32, BF16, BF16, F32, "", ""},
        {32, 8, 16, F32, BF16, BF16, F32, "", ""},
        {16, 16, 8, F32, TF32, TF32, F32, "", ""},
        {16, 16, 16, S32, U8, U8, S32, ".satfinite", ""},
        {8, 32, 16, S32, S8, S8, S32, "", ""},
        {32, 8, 16, S32, U8, U8, S32, "", ""},
        {8, 8, 4, F64, F64, F64, F64, "", ""},
    };
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        for (unsigned layouts = i % 4; layouts < 16; layouts += 5)
            try_wmma(&forms[i], layouts);
    static const struct form small[] = {
        {8, 8, 32, S32, S4, S4, S32, ".satfinite", ""},
        {8, 8, 32, S32, U4, U4, S32, "", ""},
        {8, 8, 128, S32, B1, B1, S32, ".xor.popc", ""},
        {8, 8, 128, S32, B1, B1, S32, ".and.popc", ""},
    };
    for (unsigned i = 0; i < sizeof small / sizeof *small; i++)
        for (unsigned layouts = 0; layouts < 4; layouts++)
            try_wmma(&small[i], 2 | layouts << 2); /* A by rows, B by columns */
}

/* Of the shapes for numbers of 4 bits and less, sums of f32 are loaded and stored as well: those of s32 in other
 * registers. */
static void moved_sums(void **unused)
{
    (void)unused;
    static const char text[] =
        ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) { .reg .b64 %a, %d; .reg .f32 %f<4>;\n"
        "ld.param.u64 %a, [from]; ld.param.u64 %d, [to]; wmma.load.c.sync.aligned.row.m8n8k32.global.f32 {%f0, %f1}, [%a], 12;\n"
        "wmma.store.d.sync.aligned.col.m8n8k128.f32 [%d], {%f0, %f1}; ret; }\n";
    struct rig *rig = rig_open(text);
    float from[8][12], to[8][8];
    struct {
        void *from, *to;
    } params = {from, to};
    for (unsigned i = 0; i < 8 * 12; i++)
        from[i / 12][i % 12] = (float)i * 0.5f;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        memset(to, 0, sizeof to);
        rig_run(rig, "k", 1, 32, &params, sizeof params);
        for (unsigned i = 0; i < 8; i++)
            for (unsigned j = 0; j < 8; j++)
                assert_true(to[j][i] == from[i][j]);
    }
    rig_close(rig);
}

/* --- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------- */

static void rows(void **unused)
{
    (void)unused;
    static uint16_t in[32 * 8], out[32 * 8] __attribute__((aligned(64)));
    static uint32_t regs[32 * 5] __attribute__((aligned(64)));
    for (unsigned count = 1; count <= 4; count *= 2)
        for (unsigned trans = 0; trans < 2; trans++) {
            char text[4096], values[64] = "";
            list(values, "%v", count);
            snprintf(
                text, sizeof text,
                HEAD
                ".shared .align 16 .b8 tile[512];\n"
                ".visible .entry k(.param .u64 pin, .param .u64 pregs, .param .u64 pout) {\n"
                ".reg .b32 %%t, %%s, %%a, %%w, %%v<5>; .reg .b64 %%rd<8>;\n"
                "ld.param.u64 %%rd1, [pin]; ld.param.u64 %%rd2, [pregs]; ld.param.u64 %%rd3, [pout]; mov.u32 %%t, %%tid.x;\n"
                "mov.u32 %%s, tile; mad.lo.u32 %%a, %%t, 16, %%s; mad.wide.u32 %%rd4, %%t, 16, %%rd1;\n"
                "ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%rd4]; st.shared.v4.b32 [%%a], {%%v0, %%v1, %%v2, %%v3};\n"
                "bar.sync 0; mov.b32 %%v0, 0; mov.b32 %%v1, 0; mov.b32 %%v2, 0; mov.b32 %%v3, 0;\n"
                /* row t of the tile in reverse: address of lane t is row t ^ 7 */
                "xor.b32 %%w, %%t, 7; mad.lo.u32 %%w, %%w, 16, %%s;\n"
                "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%w];\n"
                "movmatrix.sync.aligned.m8n8.trans.b16 %%v4, %%v0;\n"
                "mad.wide.u32 %%rd5, %%t, 20, %%rd2;\n"
                "st.global.b32 [%%rd5], %%v0; st.global.b32 [%%rd5+4], %%v1; st.global.b32 [%%rd5+8], %%v2; st.global.b32 [%%rd5+12], %%v3;\n"
                "st.global.b32 [%%rd5+16], %%v4; cvta.to.shared.u64 %%rd6, %%rd1;\n"
                "mad.wide.u32 %%rd7, %%t, 16, %%rd3; stmatrix.sync.aligned.m8n8.x%u%s.b16 [%%rd7], %s;\nret; }\n",
                count, trans ? ".trans" : "", values, count, trans ? ".trans" : "", values);
            struct rig *rig = rig_open(text);
            for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
                for (unsigned i = 0; i < 256; i++)
                    in[i] = (uint16_t)(i * 257 + rig_variant);
                memset(out, 0xee, sizeof out);
                void *params[3] = {in, regs, out};
                rig_run(rig, "k", 1, 32, params, sizeof params);
                for (unsigned lane = 0; lane < 32; lane++) {
                    for (unsigned m = 0; m < count; m++)
                        for (unsigned part = 0; part < 2; part++) {
                            unsigned row = trans ? lane % 4 * 2 + part : lane / 4,
                                     col = trans ? lane / 4 : lane % 4 * 2 + part;
                            assert_int_equal(regs[lane * 5 + m] >> 16 * part & 0xffff,
                                             in[((m * 8 + row) ^ 7) * 8 + col]);
                        }
                    for (unsigned part = 0; part < 2; part++) {
                        unsigned other = (lane % 4 * 2 + part) * 4 + lane / 8, half = lane / 4 % 2;
                        assert_int_equal(regs[lane * 5 + 4] >> 16 * part & 0xffff,
                                         regs[other * 5] >> 16 * half & 0xffff);
                    }
                }
                for (unsigned i = 0; i < 256; i++)
                    assert_int_equal(out[i], i < count * 64 ? in[(i / 8 ^ 7) * 8 + i % 8] : 0xeeee);
            }
            rig_close(rig);
        }
}

/* A row that is not aligned ends the launch. */
static void misaligned_row(void **unused)
{
    (void)unused;
    struct rig *rig = rig_open(
        HEAD
        ".shared .align 16 .b8 tile[512];\n.visible .entry k(.param .u64 p) {\n.reg .b32 %a, %v, %t;\n"
        "mov.u32 %t, %tid.x; mov.u32 %a, tile; mad.lo.u32 %a, %t, 8, %a; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%v}, [%a];\n"
        "st.shared.b32 [tile], %v; ret; }\n");
    unsigned one[3] = {1, 1, 1}, warp[3] = {32, 1, 1};
    uint64_t param = 0;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++)
        assert_int_equal(rig_launch(rig, "k", one, warp, 0, &param, sizeof param), CUDA_ERROR_MISALIGNED_ADDRESS);
    rig_close(rig);
}

/* --- Products one after the other -------------------------------------------------------------- */

/* What a product leaves for the next ones (emit/matrix_kept.c) has to be what the registers hold. With a barrier
 * between any two nothing is left. `-` stands for one or for nothing. */
static const char sequence[] =
    HEAD ".visible .entry k(.param .u64 pin, .param .u64 pout) {\n"
         ".reg .b32 %t, %a<4>, %b<4>; .reg .f32 %c<8>, %d<4>; .reg .b64 %rd<3>; .reg .pred %p;\n"
         "ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pout]; mov.u32 %t, %tid.x;\n"
         "mad.wide.u32 %rd1, %t, 64, %rd1; mad.wide.u32 %rd2, %t, 48, %rd2;\n"
         "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd1]; ld.global.v4.b32 {%b0, %b1, %b2, %b3}, [%rd1+16];\n"
         "ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%rd1+32]; ld.global.v4.f32 {%c4, %c5, %c6, %c7}, [%rd1+48];\n"
         "setp.eq.b32 %p, %a0, 0x7fffffff;\n"
         "M {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n-\n"
         "M {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n-\n"
         "M {%c4, %c5, %c6, %c7}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%c4, %c5, %c6, %c7};\n-\n"
         "xor.b32 %a1, %a1, 0x01000300;\n"
         "M {%c4, %c5, %c6, %c7}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%c4, %c5, %c6, %c7};\n-\n"
         "add.f32 %c1, %c1, 0f3F800000; mov.b32 %b3, %b0;\n"
         "M {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b2, %b3}, {%c0, %c1, %c2, %c3};\n-\n"
         "@%p M {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n-\n"
         "M {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};\n-\n"
         "@!%p M {%c4, %c5, %c6, %c7}, {%a3, %a1, %a2, %a0}, {%b0, %b1}, {%c4, %c5, %c6, %c7};\n-\n"
         "M {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c4, %c5, %c6, %c7};\n-\n"
         "M {%c4, %c5, %c6, %c7}, {%a0, %a1, %a2, %a3}, {%b1, %b0}, {%d1, %d0, %d2, %d3};\n-\n"
         "M {%c4, %c5, %c6, %c7}, {%a0, %a1, %a2, %a3}, {%b1, %b0}, {%c4, %c5, %c6, %c7};\n-\n"
         "st.global.v4.f32 [%rd2], {%c0, %c1, %c2, %c3}; st.global.v4.f32 [%rd2+16], {%c4, %c5, %c6, %c7};\n"
         "st.global.v4.f32 [%rd2+32], {%d0, %d1, %d2, %d3};\nret; }\n";

static void run_sequence(const char *between, const char *factors, const uint32_t *in, uint32_t *out)
{
    char text[8192] = "";
    for (const char *at = sequence; *at; at++) {
        bool is_product = at[0] == 'M' && at[1] == ' ';
        size_t length = strlen(text);
        if (is_product)
            snprintf(text + length, sizeof text - length, "mma.sync.aligned.m16n8k%s.row.col.f32.%s.%s.f32",
                     strcmp(factors, "tf32") == 0 ? "8" : "16", factors, factors);
        else if (at[0] == '-')
            snprintf(text + length, sizeof text - length, "%s", between);
        else
            text[length] = *at;
    }
    struct rig *rig = rig_open(text);
    const void *params[2] = {in, out};
    memset(out, 0xee, 32 * 12 * 4);
    rig_run(rig, "k", 1, 32, params, sizeof params);
    rig_close(rig);
}

static void one_after_the_other(void **unused)
{
    (void)unused;
    static const char *const factors[] = {"f16", "bf16", "tf32"};
    static uint32_t in[32 * 16], got[32 * 12], expected[32 * 12] __attribute__((aligned(64)));
    for (unsigned f = 0; f < 3; f++) {
        for (unsigned i = 0; i < 32 * 16; i++) /* numbers around 1 of either sign, in each of the formats */
            in[i] = ((i * 2654435761u) & 0x83ff83ff) | 0x3c003c00;
        for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
            run_sequence("bar.sync 0;", factors[f], in, expected);
            run_sequence("", factors[f], in, got);
            assert_memory_equal(got, expected, sizeof got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),         cmocka_unit_test(integers),
        cmocka_unit_test(quads),          cmocka_unit_test(fragments),
        cmocka_unit_test(moved_sums),     cmocka_unit_test(rows),
        cmocka_unit_test(misaligned_row), cmocka_unit_test(one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
