/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the kernel around the instructions of a table's row, feeds it, and
 * turns its results into words.
 */
#include "gold_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024, SCRATCH = 4096, TEXT = 16384 };

struct input {
    uint64_t a, b, c;
    uint64_t room;
};

/* ---- the numbers ---- */

static const uint64_t ints[32] = {0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  8,
                                  15,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  65,
                                  0x7f,
                                  0x80,
                                  0xff,
                                  0x7fff,
                                  0x8000,
                                  0xffff,
                                  0x10000,
                                  0x7fffffff,
                                  0x80000000,
                                  0x80000001,
                                  0xffffffff,
                                  0xfffffffe,
                                  0x12345678,
                                  0x123456789abcdef0,
                                  0x7fffffffffffffff,
                                  0x8000000000000000,
                                  0xffffffffffffffff,
                                  0xfffffffffffffffe,
                                  0xdeadbeefcafef00d};

static const uint32_t floats[32] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0xbfc00000,
                                    0x40200000, 0x40600000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x40490fdb, 0x501502f9, 0xd01502f9,
                                    0x4b800000, 0x4b000001, 0x3dcccccd, 0x3eaaaaab, 0x4f000000, 0xcf000000, 0x4f800000,
                                    0x60ad78ec, 0xbf400000, 0x3f800001, 0x3f7fffff};

static const uint64_t doubles[32] = {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
                                     0x3fe0000000000000, 0x3ff8000000000000, 0xbff8000000000000, 0x4004000000000000,
                                     0x400c000000000000, 0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff,
                                     0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
                                     0x7ff0000000000000, 0xfff0000000000000, 0x400921fb54442d18, 0x4202a05f20000000,
                                     0xc202a05f20000000, 0x4340000000000000, 0x4330000000000001, 0x3fb999999999999a,
                                     0x3fd5555555555555, 0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000,
                                     0x43f0000000000000, 0x3690000000000000, 0x47efffffe0000001, 0x3ff0000010000001};

static const uint32_t nans[8] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
                                 0x7fffffff, 0x7fc12345, 0x3f800000, 0xc0000000};

static uint64_t noise(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A float with a random significand and an exponent not far from one. */
static uint64_t noisy_number(enum gold_input kind, uint64_t random)
{
    if (kind == IN_FLOAT)
        return (random & 0x807fffff) | (uint64_t)(110 + (random >> 32) % 36) << 23;
    if (kind == IN_DOUBLE)
        return (random & 0x800fffffffffffff) | (uint64_t)(1000 + (random >> 52) % 48) << 52;
    return random;
}

static void fill_inputs(struct input *inputs, enum gold_input kind)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < THREADS; i++) {
        struct input *in = &inputs[i];
        uint64_t x = noise(&state), y = noise(&state), z = noise(&state);
        bool random = i >= THREADS * 3 / 4;
        switch (kind) {
        case IN_FLOAT:
            *in = (struct input){floats[i % 32], floats[i / 32], floats[(i * 7 + i / 32) % 32], 0};
            break;
        case IN_DOUBLE:
            *in = (struct input){doubles[i % 32], doubles[i / 32], doubles[(i * 7 + i / 32) % 32], 0};
            break;
        case IN_NAN:
            *in = (struct input){nans[i % 8], nans[i / 8 % 8], nans[i / 64 % 8], 0};
            random = false;
            break;
        default:
            *in = (struct input){ints[i % 32], ints[i / 32], ints[(i * 7 + i / 32) % 32], 0};
            break;
        }
        if (random)
            *in = (struct input){noisy_number(kind, x), noisy_number(kind, y), noisy_number(kind, z), 0};
        if (kind == IN_SMALL)
            in->c = z % 67;
    }
}

/* ---- the kernel ---- */

static const char prologue[] = "{\n"
                               "    .reg .pred %p<21>;\n"
                               "    .reg .b16 %h<31>;\n"
                               "    .reg .b32 %r<61>;\n"
                               "    .reg .b64 %rd<41>;\n"
                               "    .reg .f32 %f<31>;\n"
                               "    .reg .f64 %d<31>;\n"
                               "    mov.u32 %r4, %ctaid.x;\n"
                               "    mov.u32 %r5, %ntid.x;\n"
                               "    mov.u32 %r6, %tid.x;\n"
                               "    mad.lo.u32 %r0, %r4, %r5, %r6;\n"
                               "    ld.param.u64 %rd4, [out];\n"
                               "    cvta.to.global.u64 %rd4, %rd4;\n"
                               "    mul.wide.u32 %rd5, %r0, 8;\n"
                               "    add.u64 %rd1, %rd4, %rd5;\n"
                               "    ld.param.u64 %rd6, [in];\n"
                               "    cvta.to.global.u64 %rd6, %rd6;\n"
                               "    mul.wide.u32 %rd7, %r0, 32;\n"
                               "    add.u64 %rd2, %rd6, %rd7;\n"
                               "    ld.param.u64 %rd3, [scratch];\n"
                               "    cvta.to.global.u64 %rd3, %rd3;\n"
                               "    ld.global.u64 %rd11, [%rd2];\n"
                               "    ld.global.u64 %rd12, [%rd2+8];\n"
                               "    ld.global.u64 %rd13, [%rd2+16];\n"
                               "    cvt.u32.u64 %r1, %rd11;\n"
                               "    cvt.u32.u64 %r2, %rd12;\n"
                               "    cvt.u32.u64 %r3, %rd13;\n"
                               "    cvt.u16.u64 %h1, %rd11;\n"
                               "    cvt.u16.u64 %h2, %rd12;\n"
                               "    cvt.u16.u64 %h3, %rd13;\n"
                               "    mov.b32 %f1, %r1;\n"
                               "    mov.b32 %f2, %r2;\n"
                               "    mov.b32 %f3, %r3;\n"
                               "    mov.b64 %d1, %rd11;\n"
                               "    mov.b64 %d2, %rd12;\n"
                               "    mov.b64 %d3, %rd13;\n";

static const char *epilogue(char result)
{
    switch (result) {
    case 'x':
        return "    st.global.u64 [%rd1], %rd10;\n    ret;\n}\n";
    case 'f':
        return "    st.global.f32 [%rd1], %f10;\n    ret;\n}\n";
    case 'd':
        return "    st.global.f64 [%rd1], %d10;\n    ret;\n}\n";
    case 'h':
        return "    st.global.u16 [%rd1], %h10;\n    ret;\n}\n";
    default:
        return "    st.global.u32 [%rd1], %r10;\n    ret;\n}\n";
    }
}

/* ---- the answer ---- */

static void forget_nan(uint64_t *results, char kind)
{
    for (unsigned i = 0; i < THREADS; i++) {
        if (kind == 'f' && (results[i] & 0x7fffffff) > 0x7f800000)
            results[i] = 0x7fffffff;
        if (kind == 'd' && (results[i] & 0x7fffffffffffffff) > 0x7ff0000000000000)
            results[i] = 0x7fffffffffffffff;
    }
}

static void say_results(const struct gold_kernel *row, const uint64_t *results)
{
    static const unsigned shown[] = {0, 1, 37, 389, 600, 1023};
    say_hash(results, THREADS * sizeof *results);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        say_hex(results[shown[i]]);
    /* For a person who looks for the one lane that differs. */
    if (getenv("GOLDEN_DUMP"))
        for (unsigned i = 0; i < THREADS; i++)
            fprintf(stderr, "%s %u %llx\n", row->name, i, (unsigned long long)results[i]);
}

void gold_kernel_run(const struct gold_case *self)
{
    const struct gold_kernel *row = self->data;
    static char text[TEXT];
    static struct input inputs[THREADS];
    static uint64_t results[THREADS];
    static unsigned words[SCRATCH];
    unsigned version = row->version ? row->version : 70;
    snprintf(text, sizeof text, ".version %u.%u\n.target sm_%u\n.address_size 64\n%s%s%s\n%s    %s\n%s", version / 10,
             version % 10, row->target ? row->target : 75, row->globals ? row->globals : "",
             ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 scratch) ",
             row->directives ? row->directives : "", prologue, row->body, epilogue(row->result));
    if (getenv("GOLDEN_PTX"))
        fprintf(stderr, "%s\n", text);

    CUmodule module;
    CUfunction function;
    NEED(cuModuleLoadData(&module, text));
    NEED(cuModuleGetFunction(&function, module, "k"));
    fill_inputs(inputs, row->input);
    CUdeviceptr in = gold_alloc(sizeof inputs), out = gold_alloc(sizeof results), scratch = gold_alloc(sizeof words);
    NEED(cuMemcpyHtoD(in, inputs, sizeof inputs));
    NEED(cuMemsetD8(out, 0, sizeof results));
    NEED(cuMemsetD8(scratch, 0, sizeof words));
    void *params[] = {&out, &in, &scratch};
    unsigned block = row->block ? row->block : 256;
    NEED(cuLaunchKernel(function, THREADS / block, 1, 1, block, 1, 1, row->dynamic_shared, NULL, params, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH(results, out, sizeof results));
    NEED(cuMemcpyDtoH(words, scratch, sizeof words));
    if (!row->exact_nan)
        forget_nan(results, row->result);
    say_results(row, results);
    if (row->scratch_words)
        say_hash(words, row->scratch_words * sizeof *words);
    NEED(cuMemFree(in));
    NEED(cuMemFree(out));
    NEED(cuMemFree(scratch));
    NEED(cuModuleUnload(module));
}
