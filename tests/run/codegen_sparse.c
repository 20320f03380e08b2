/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mma.sp against plain C: A is drawn whole, with half of each group of a row at
 * zero, and multiplied in C as it is. The instruction gets what is not zero, and
 * metadata. Where both lie is written from the lane's side, as in the PTX manual:
 * groupID is lane >> 2, threadID_in_group is lane % 4.
 */
#include "codegen_matrix.h"

struct sparse {
    unsigned k;
    enum kind d, a, b;
    const char *tail; /* behind the layouts */
};

enum role { A, B, C };

static unsigned group_of(const struct sparse *form)
{
    return kind_bits[form->a] == 32 ? 2 : kind_bits[form->a] == 4 ? 8 : 4;
}

static unsigned registers(const struct sparse *form, enum role role)
{
    unsigned elements = role == A ? 16 * form->k / 2 : role == B ? form->k * 8 : 16 * 8;
    return elements * kind_bits[role == A ? form->a : role == B ? form->b : form->d] / 1024;
}

/* Element i of a lane's registers; of A, which is half as wide here as it really is. */
static void place(enum role role, enum kind kind, unsigned lane, unsigned i, unsigned *row, unsigned *col)
{
    unsigned group = lane >> 2, thread = lane % 4, per = 32 / kind_bits[kind];
    if (role == C) {
        *row = group + (i >= 2 ? 8 : 0);
        *col = thread * 2 + (i & 1);
    } else if (role == A) {
        *row = group + (i / per % 2 ? 8 : 0);
        *col = thread * per + i % per + i / per / 2 * 4 * per;
    } else {
        *row = thread * per + i % per + i / per * 4 * per;
        *col = group;
    }
}

static void spread(const struct sparse *form, enum role role, struct matrix *matrix, uint32_t *regs, bool take)
{
    unsigned bits = kind_bits[matrix->kind], per = 32 / bits, count = registers(form, role);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < count * per; i++) {
            unsigned row, col, shift = i % per * bits;
            uint32_t *reg = &regs[lane * count + i / per], mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
            place(role, matrix->kind, lane, i, &row, &col);
            uint64_t *element = &matrix->bits[row * matrix->cols + col];
            if (take)
                *element = *reg >> shift & mask;
            else
                *reg = (*reg & ~(mask << shift)) | (uint32_t)*element << shift;
        }
}

/* What four bits of metadata keep of a group: the places of its elements. */
static void kept_of(unsigned group, unsigned bits, unsigned *kept)
{
    unsigned first = bits & 3, second = bits >> 2 & 3;
    if (group == 2) {
        kept[0] = bits >> 3;
    } else if (group == 4) {
        kept[0] = first;
        kept[1] = second;
    } else {
        kept[0] = first * 2;
        kept[1] = first * 2 + 1;
        kept[2] = second * 2;
        kept[3] = second * 2 + 1;
    }
}

static unsigned draw_metadata(unsigned group)
{
    static const uint8_t pairs[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
    return group == 2 ? (draw() & 1 ? 0xe : 0x4) : pairs[draw() % 6];
}

/* Draws metadata for every lane, and takes from `whole` what is not kept; `half` gets what is. */
static void thin_out(const struct sparse *form, unsigned selector, struct matrix *whole, struct matrix *half,
                     uint32_t *metadata)
{
    unsigned group = group_of(form), groups = form->k / group, lanes = groups / 4;
    *half = *whole;
    half->cols = form->k / 2;
    for (unsigned lane = 0; lane < 32; lane++)
        metadata[lane] = draw() * 0x01000193u; /* those that are not asked may hold anything */
    for (unsigned lane = 0; lane < 32; lane++) {
        if (lane % 4 / lanes != selector)
            continue;
        metadata[lane] = 0;
        for (unsigned nibble = 0; nibble < 8; nibble++) {
            unsigned bits = draw_metadata(group), kept[4], row = lane / 4 + (nibble < 4 ? 0 : 8),
                     at = lane % lanes * 4 + nibble % 4;
            if (kind_bits[form->a] <= 8) {
                row = lane / 4 + (lane % 2 ? 8 : 0);
                at = lane % lanes / 2 * 8 + nibble;
            }
            metadata[lane] |= bits << 4 * nibble;
            kept_of(group, bits, kept);
            uint64_t *from = &whole->bits[row * form->k + at * group],
                     *to = &half->bits[row * form->k / 2 + at * group / 2], copy[8];
            memcpy(copy, from, group * sizeof *copy);
            memset(from, 0, group * sizeof *from);
            for (unsigned i = 0; i < group / 2; i++)
                to[i] = from[kept[i]] = copy[kept[i]];
        }
    }
}

static void sparse_text(char *text, const struct sparse *form, bool ordered, unsigned selector)
{
    sprintf(
        text, HEAD
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, .param .u64 pd) {\n"
        ".reg .b32 %%t; .reg .b64 %%rd1; .reg .b32 %%a<9>, %%b<9>, %%c<9>, %%d<9>, %%e<2>; mov.u32 %%t, %%tid.x;\n");
    move_all(text, "%a", "pa", registers(form, A), 32, false);
    move_all(text, "%b", "pb", registers(form, B), 32, false);
    move_all(text, "%c", "pc", registers(form, C), 32, false);
    move_all(text, "%e", "pe", 1, 32, false);
    sprintf(text + strlen(text), "mma.sp%s.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s ",
            ordered ? "::ordered_metadata" : "", form->k, form->tail, kind_names[form->d], kind_names[form->a],
            kind_names[form->b], kind_names[form->d]);
    list(text, "%d", registers(form, C));
    strcat(text, ", ");
    list(text, "%a", registers(form, A));
    strcat(text, ", ");
    list(text, "%b", registers(form, B));
    strcat(text, ", ");
    list(text, "%c", registers(form, C));
    sprintf(text + strlen(text), ", %%e0, %u;\n", selector);
    move_all(text, "%d", "pd", registers(form, C), 32, true);
    strcat(text, "ret; }\n");
}

static void try_sparse(const struct sparse *form, bool ordered, unsigned selector)
{
    static struct matrix whole, half, b, c, d, got;
    static uint32_t regs[5][32 * 8] __attribute__((aligned(64)));
    static char text[16384];
    sparse_text(text, form, ordered, selector);
    struct rig *rig = rig_open(text);
    turn++;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        if (!is_chosen())
            continue;
        memset(regs, 0, sizeof regs);
        draw_matrix(&whole, form->a, 16, form->k);
        draw_matrix(&b, form->b, form->k, 8);
        draw_matrix(&c, form->d, 16, 8);
        thin_out(form, selector, &whole, &half, regs[3]);
        got = d = c;
        multiply(&d, &whole, &b, &c, strstr(form->tail, "satfinite") != NULL, false);
        spread(form, A, &half, regs[0], false);
        spread(form, B, &b, regs[1], false);
        spread(form, C, &c, regs[2], false);
        uint32_t *params[5] = {regs[0], regs[1], regs[2], regs[3], regs[4]};
        rig_run(rig, "k", 1, 32, params, sizeof params);
        spread(form, C, &got, regs[4], true);
        same(&got, &d, strstr(text, "mma.sp"));
    }
    rig_close(rig);
}

static void try_all(const struct sparse *forms, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        try_sparse(&forms[i], i % 2,
                   (i / 2 + i) %
                       (16 / (forms[i].k / group_of(&forms[i])))); /* to compile takes long: one selector each */
}

static void floats(void **unused)
{
    (void)unused;
    static const struct sparse forms[] = {
        {8, F32, TF32, TF32, ""},  {16, F32, TF32, TF32, ""}, {16, F16, F16, F16, ""},   {32, F16, F16, F16, ""},
        {16, F32, F16, F16, ""},   {32, F32, F16, F16, ""},   {16, F32, BF16, BF16, ""}, {32, F32, BF16, BF16, ""},
        {64, F32, E4M3, E5M2, ""}, {64, F32, E5M2, E5M2, ""},
    };
    try_all(forms, sizeof forms / sizeof *forms);
}

static void integers(void **unused)
{
    (void)unused;
    static const struct sparse forms[] = {
        {32, S32, S8, U8, ".satfinite"},  {32, S32, U8, U8, ""},  {64, S32, S8, S8, ""},
        {64, S32, U8, S8, ".satfinite"},  {64, S32, S4, U4, ""},  {64, S32, U4, U4, ".satfinite"},
        {128, S32, S4, S4, ".satfinite"}, {128, S32, U4, S4, ""},
    };
    try_all(forms, sizeof forms / sizeof *forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
