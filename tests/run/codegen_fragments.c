/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which element of a matrix wmma gives to which lane and register.
 *
 * The PTX manual leaves it open, but programs that handle a fragment's elements one
 * by one have found it out, so it is as recorded on an H200, by kernels that load
 * matrices of numbers and store fragments of numbers: for each bit of an element's
 * number in its lane, and then of the lane, by how much row or column goes on.
 */
#include "codegen_matrix.h"

static const struct fragment {
    const char *shape;
    char which; /* c: of D, too */
    enum kind kinds[3];
    unsigned count; /* of kinds */
    const char *bits;
} fragments[] = {
    {"m16n16k16", 'a', {F16}, 1, "c1 r8 c8 - c2 c4 r1 r2 r4"},
    {"m16n16k16", 'b', {F16}, 1, "r1 r8 c8 - r2 r4 c1 c2 c4"},
    {"m8n32k16", 'a', {F16}, 1, "c1 c8 - - c2 c4 r1 r2 r4"},
    {"m8n32k16", 'b', {F16, BF16}, 2, "r1 c8 r8 c16 r2 r4 c1 c2 c4"},
    {"m32n8k16", 'a', {F16, BF16}, 2, "c1 r8 c8 r16 c2 c4 r1 r2 r4"},
    {"m32n8k16", 'b', {F16}, 1, "r1 r8 - - r2 r4 c1 c2 c4"},
    {"m16n16k16", 'a', {BF16}, 1, "c1 r8 c8 c2 c4 r1 r2 r4"},
    {"m16n16k16", 'b', {BF16}, 1, "r1 r8 c8 r2 r4 c1 c2 c4"},
    {"m8n32k16", 'a', {BF16}, 1, "c1 c8 c2 c4 r1 r2 r4"},
    {"m32n8k16", 'b', {BF16}, 1, "r1 r8 r2 r4 c1 c2 c4"},
    {"m16n16k16", 'a', {U8, S8}, 2, "c1 c2 r8 c4 c8 r1 r2 r4"},
    {"m16n16k16", 'b', {U8, S8}, 2, "r1 r2 c8 r4 r8 c1 c2 c4"},
    {"m8n32k16", 'a', {U8, S8}, 2, "c1 c2 c4 c8 r1 r2 r4"},
    {"m8n32k16", 'b', {U8, S8}, 2, "r1 r2 c8 c16 r4 r8 c1 c2 c4"},
    {"m32n8k16", 'a', {U8, S8}, 2, "c1 c2 r8 r16 c4 c8 r1 r2 r4"},
    {"m32n8k16", 'b', {U8, S8}, 2, "r1 r2 r4 r8 c1 c2 c4"},
    {"m16n16k8", 'a', {TF32}, 1, "r8 c4 c1 c2 r1 r2 r4"},
    {"m16n16k8", 'b', {TF32}, 1, "r4 c8 r1 r2 c1 c2 c4"},
    {"m8n8k4", 'a', {F64}, 1, "c1 c2 r1 r2 r4"},
    {"m8n8k4", 'b', {F64}, 1, "r1 r2 c1 c2 c4"},
    {"m8n8k32", 'a', {U4, S4}, 2, "c1 c2 c4 c8 c16 r1 r2 r4"},
    {"m8n8k32", 'b', {U4, S4}, 2, "r1 r2 r4 r8 r16 c1 c2 c4"},
    {"m8n8k128", 'a', {B1}, 1, "c1 c2 c4 c8 c16 c32 c64 r1 r2 r4"},
    {"m8n8k128", 'b', {B1}, 1, "r1 r2 r4 r8 r16 r32 r64 c1 c2 c4"},
    {"m16n16k16", 'c', {F16, F32, S32}, 3, "c1 r8 c8 c2 c4 r1 r2 r4"},
    {"m8n32k16", 'c', {F16, F32, S32}, 3, "r1 c8 c16 r2 r4 c1 c2 c4"},
    {"m32n8k16", 'c', {F16, F32, S32}, 3, "c1 r8 r16 c2 c4 r1 r2 r4"},
    {"m16n16k8", 'c', {F32}, 1, "c1 r8 c8 c2 c4 r1 r2 r4"},
    {"m8n8k4", 'c', {F64}, 1, "c1 c2 c4 r1 r2 r4"},
    {"m8n8k32", 'c', {S32, F32}, 2, "c1 c2 c4 r1 r2 r4"},
    {"m8n8k128", 'c', {S32, F32}, 2, "c1 c2 c4 r1 r2 r4"},
};

/* Row and column of an element of a lane, and how many elements each has. */
static unsigned place(const struct fragment *fragment, unsigned lane, unsigned element, unsigned *row, unsigned *col)
{
    unsigned words = 1;
    for (const char *at = fragment->bits; *at; at++)
        words += *at == ' ';
    unsigned which = element | lane << (words - 5), bit = 0;
    *row = *col = 0;
    for (const char *at = fragment->bits; bit < words; bit++) {
        unsigned step = at[0] == '-' ? 0 : (unsigned)strtoul(at + 1, NULL, 10);
        *(at[0] == 'r' ? row : col) += which >> bit & 1 ? step : 0;
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    return 1u << (words - 5);
}

static uint64_t element_at(const uint8_t *bytes, unsigned index, unsigned bits)
{
    uint64_t value = 0;
    memcpy(&value, bytes + (size_t)index * bits / 8, bits < 8 ? 1 : bits / 8);
    return bits < 8 ? value >> index * bits % 8 & ((1u << bits) - 1) : value;
}

/* A kernel that loads a matrix and leaves its registers, a lane's behind each other, or stores one from such registers.
 */
static const char *text_of(const struct fragment *fragment, enum kind kind, bool col, bool store, unsigned count)
{
    static char text[4096];
    unsigned bits = kind_bits[kind] == 64 ? 64 : 32;
    snprintf(
        text, sizeof text,
        HEAD
        ".visible .entry k(.param .u64 matrix, .param .u64 regs) {\n.reg .b32 %%t; .reg .b64 %%rd<3>; .reg .%s %%v<8>;\n"
        "mov.u32 %%t, %%tid.x; ld.param.u64 %%rd2, [matrix];\n",
        kind == F32   ? "f32"
        : kind == F64 ? "f64"
        : kind == S32 ? "s32"
                      : "b32");
    if (store)
        move_all(text, "%v", "regs", count, bits, false);
    sprintf(text + strlen(text), "wmma.%s.%c.sync.aligned.%s.%s.global.%s ", store ? "store" : "load",
            store ? 'd' : fragment->which, col ? "col" : "row", fragment->shape, kind_names[kind]);
    strcat(text, store ? "[%rd2], " : "");
    list(text, "%v", count);
    strcat(text, store ? ";\n" : ", [%rd2];\n");
    if (!store)
        move_all(text, "%v", "regs", count, bits, true);
    return strcat(text, "ret; }\n");
}

static void try(const struct fragment *fragment, enum kind kind, bool col, bool store)
{
    static uint8_t matrix[4096] __attribute__((aligned(64))), regs[8192] __attribute__((aligned(64)));
    unsigned row, column, bits = kind_bits[kind], each = place(fragment, 0, 0, &row, &column), sizes[3];
    sscanf(fragment->shape, "m%un%uk%u", &sizes[0], &sizes[1], &sizes[2]);
    unsigned rows = sizes[fragment->which == 'b' ? 2 : 0], columns = sizes[fragment->which == 'a' ? 2 : 1];
    struct rig *rig = rig_open(text_of(fragment, kind, col, store, each * bits / (bits == 64 ? 64 : 32)));
    void *params[2] = {matrix, regs};
    turn++;
    for (rig_variant = 0; rig_variant < RIG_VARIANTS; rig_variant++) {
        if (!is_chosen())
            continue;
        for (unsigned i = 0; i < sizeof matrix; i++)
            matrix[i] = (uint8_t)draw();
        for (unsigned i = 0; i < sizeof regs; i++)
            regs[i] = (uint8_t)draw();
        rig_run(rig, "k", 1, 32, params, sizeof params);
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned i = 0; i < each; i++) {
                place(fragment, lane, i, &row, &column);
                uint64_t held = element_at(regs, lane * each + i, bits),
                         lies = element_at(matrix, col ? column * rows + row : row * columns + column, bits);
                if (held != lies)
                    fail_msg("%s of %c, %s, %s, %s, variant %u: lane %u, element %u is not %u,%u",
                             store ? "store" : "load", fragment->which, fragment->shape, kind_names[kind],
                             col ? "col" : "row", rig_variant, lane, i, row, column);
            }
    }
    rig_close(rig);
}

static void loads(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < sizeof fragments / sizeof *fragments; i++)
        for (unsigned j = 0; j < fragments[i].count; j++)
            for (unsigned col = 0; col < 2; col++)
                if (kind_bits[fragments[i].kinds[j]] >= 8 || col == (fragments[i].which == 'b'))
                    try(&fragments[i], fragments[i].kinds[j], col, false);
}

static void stores(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < sizeof fragments / sizeof *fragments; i++)
        for (unsigned j = 0; j < fragments[i].count && fragments[i].which == 'c'; j++)
            for (unsigned col = 0; col < 2; col++)
                try(&fragments[i], fragments[i].kinds[j], col, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads), cmocka_unit_test(stores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
