/* SPDX-License-Identifier: Apache-2.0 */
/* Time until the first result: from PTX to the end of the first launch of each kernel, cold (no cache on disk), for
 * modules of the kinds that take longest in real programs. Wall and processor time in milliseconds. The program does
 * nothing between loading and launching, so nothing of it is hidden; `_ahead` is the wall time of the launches alone,
 * if they come half a second after the load.
 *
 *     bench_first [name of one module] */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static CUdeviceptr memory;

static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void put_head(FILE *file, const char *name)
{
    fprintf(file,
            ".visible .entry %s(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %%rd<8>;\n.reg .b32 %%r<400>;\n.reg .f32 "
            "%%f<400>;\n.reg .pred %%p<8>;\n"
            ".shared .align 16 .b8 tile[16384];\nld.param.u64 %%rd1, [p];\ncvta.to.global.u64 %%rd1, "
            "%%rd1;\nld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%tid.x;\n"
            "mul.wide.u32 %%rd2, %%r2, 4;\nadd.s64 %%rd3, %%rd1, %%rd2;\nshl.b32 %%r3, %%r2, 2;\nmov.u32 %%r4, "
            "tile;\nadd.s32 %%r5, %%r4, %%r3;\n"
            "cvt.rn.f32.u32 %%f1, %%r2;\n",
            name);
}

/* 20,000 instructions without a branch, of sixteen values that depend on each other: what unrolled polynomials, hashes
 * and stencils look like. */
static void put_straight(FILE *file)
{
    put_head(file, "k0");
    for (unsigned i = 0; i < 16; i++)
        fprintf(file, "ld.global.f32 %%f%u, [%%rd3+%u];\nmov.b32 %%r%u, %%f%u;\n", i + 10, i * 512, i + 10, i + 10);
    for (unsigned i = 0; i < 5000; i++) {
        unsigned a = i % 16 + 10, b = i * 7 % 16 + 10;
        fprintf(file,
                "fma.rn.f32 %%f%u, %%f%u, %%f%u, 0f%08X;\nadd.s32 %%r%u, %%r%u, %u;\nshf.l.wrap.b32 %%r%u, %%r%u, "
                "%%r%u, %u;\nxor.b32 %%r%u, %%r%u, %%r%u;\n",
                a, a, b, 0x3f000000u + i % 64 * 1024, a, a, i % 97 * 1234567u, b, b, b, i % 31 + 1, a, a, b);
    }
    for (unsigned i = 0; i < 16; i++)
        fprintf(file, "st.global.f32 [%%rd3+%u], %%f%u;\nst.global.u32 [%%rd3+%u], %%r%u;\n", i * 512, i + 10,
                i * 512 + 16384, i + 10);
    fputs("ret;\n}\n", file);
}

/* Forty-eight kernels of some sixty lines with a loop, a branch and shared memory: what a library brings. */
static void put_many(FILE *file)
{
    for (unsigned k = 0; k < 48; k++) {
        char name[16];
        snprintf(name, sizeof name, "k%u", k);
        put_head(file, name);
        fputs("mov.u32 %r6, 0;\nmov.f32 %f2, %f1;\nL:\nsetp.ge.u32 %p1, %r6, %r1;\n@%p1 bra E;\n", file);
        for (unsigned i = 0; i < 12; i++)
            fprintf(file,
                    "ld.global.f32 %%f3, [%%rd3+%u];\nfma.rn.f32 %%f2, %%f3, %%f2, 0f%08X;\nst.shared.f32 [%%r5+%u], "
                    "%%f2;\n",
                    i * 128, 0x3f000000u + k * 4096 + i, i * 512);
        fputs("bar.sync 0;\nsetp.gt.f32 %p2, %f2, 0f40000000;\n@%p2 bra S;\nld.shared.f32 %f4, [%r5+512];\nadd.f32 "
              "%f2, %f2, %f4;\nS:\nbar.sync 0;\n"
              "add.u32 %r6, %r6, 1;\nbra L;\nE:\nst.global.f32 [%rd3], %f2;\nret;\n}\n",
              file);
    }
}

/* A tile of a matrix product, unrolled: 256 mma between 64 ldmatrix. */
static void put_matrix(FILE *file)
{
    put_head(file, "k0");
    for (unsigned i = 0; i < 64; i++)
        fprintf(file, "mov.f32 %%f%u, 0f00000000;\n", i + 100);
    fputs("and.b32 %r6, %r2, 31;\nshl.b32 %r6, %r6, 4;\nadd.s32 %r5, %r4, %r6;\n", file);
    for (unsigned i = 0; i < 16; i++)
        fprintf(file, "st.shared.v4.f32 [%%r5+%u], {%%f1, %%f1, %%f1, %%f1};\n", i * 512);
    fputs("bar.sync 0;\n", file);
    for (unsigned k = 0; k < 16; k++) {
        for (unsigned i = 0; i < 4; i++)
            fprintf(file, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%r5+%u];\n",
                    100 + i * 4, 101 + i * 4, 102 + i * 4, 103 + i * 4, (k * 4 + i) % 16 * 512);
        for (unsigned i = 0; i < 16; i++)
            fprintf(file,
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, {%%r%u, %%r%u, "
                    "%%r%u, %%r%u}, {%%r%u, %%r%u}, {%%f%u, %%f%u, %%f%u, %%f%u};\n",
                    i * 4 + 100, i * 4 + 101, i * 4 + 102, i * 4 + 103, i % 4 * 4 + 100, i % 4 * 4 + 101,
                    i % 4 * 4 + 102, i % 4 * 4 + 103, i / 4 * 4 + 100, i / 4 * 4 + 101, i * 4 + 100, i * 4 + 101,
                    i * 4 + 102, i * 4 + 103);
    }
    for (unsigned i = 0; i < 64; i++)
        fprintf(file, "st.global.f32 [%%rd3+%u], %%f%u;\n", i * 512, i + 100);
    fputs("ret;\n}\n", file);
}

/* A table of 512 ways, chosen by each thread: an interpreter, or a loop unrolled by its remainder. */
static void put_switch(FILE *file)
{
    put_head(file, "k0");
    fputs("and.b32 %r6, %r2, 511;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nt: .branchtargets W0", file);
    for (unsigned i = 1; i < 512; i++)
        fprintf(file, ", W%u", i);
    fputs(";\nbrx.idx %r6, t;\n", file);
    for (unsigned i = 0; i < 512; i++)
        fprintf(file,
                "W%u:\nfma.rn.f32 %%f2, %%f2, %%f1, 0f%08X;\nadd.s32 %%r7, %%r2, %u;\nst.shared.u32 [%%r5+%u], "
                "%%r7;\nmul.f32 %%f3, %%f2, %%f3;\nbra E;\n",
                i, 0x3f000000u + i * 64, i * 3, i % 8 * 512);
    fputs("E:\nst.global.f32 [%rd3], %f3;\nret;\n}\n", file);
}

/* The steps of a sort in blocks, unrolled: for each of 32 keys a digit, its rank by votes, places in shared memory, a
 * branch, barriers between them. */
static void put_sort(FILE *file)
{
    put_head(file, "k0");
    for (unsigned i = 0; i < 32; i++)
        fprintf(file, "ld.global.u32 %%r%u, [%%rd3+%u];\n", 100 + i, i * 512);
    for (unsigned pass = 0; pass < 4; pass++) {
        for (unsigned i = 0; i < 32; i++) {
            fprintf(file, "bfe.u32 %%r10, %%r%u, %u, 2;\nmov.u32 %%r11, 0xffffffff;\n", 100 + i, pass * 2);
            for (unsigned bit = 0; bit < 2; bit++)
                fprintf(file,
                        "and.b32 %%r12, %%r10, %u;\nsetp.ne.u32 %%p1, %%r12, 0;\nvote.sync.ballot.b32 %%r13, %%p1, "
                        "0xffffffff;\nnot.b32 %%r14, %%r13;\n"
                        "selp.b32 %%r13, %%r13, %%r14, %%p1;\nand.b32 %%r11, %%r11, %%r13;\n",
                        1u << bit);
            fprintf(file,
                    "mov.u32 %%r15, %%lanemask_lt;\nand.b32 %%r16, %%r11, %%r15;\npopc.b32 %%r%u, %%r16;\nshl.b32 "
                    "%%r17, %%r10, 9;\nadd.s32 %%r18, %%r4, %%r17;\n"
                    "and.b32 %%r19, %%r2, 480;\nadd.s32 %%r18, %%r18, %%r19;\nsetp.ne.u32 %%p2, %%r16, 0;\n@%%p2 bra "
                    "S%u_%u;\npopc.b32 %%r20, %%r11;\natom.shared.add.u32 %%r21, [%%r18], %%r20;\n"
                    "S%u_%u:\nbar.warp.sync 0xffffffff;\nld.shared.u32 %%r22, [%%r18];\nadd.s32 %%r%u, %%r%u, %%r22;\n",
                    200 + i, pass, i, pass, i, 200 + i, 200 + i);
        }
        fputs("bar.sync 0;\n", file);
        for (unsigned i = 0; i < 32; i++)
            fprintf(file,
                    "and.b32 %%r23, %%r%u, 4095;\nshl.b32 %%r24, %%r23, 2;\nadd.s32 %%r25, %%r4, %%r24;\nst.shared.u32 "
                    "[%%r25], %%r%u;\n",
                    200 + i, 100 + i);
        fputs("bar.sync 0;\n", file);
        for (unsigned i = 0; i < 32; i++)
            fprintf(file, "ld.shared.u32 %%r%u, [%%r5+%u];\n", 100 + i, i * 256);
    }
    for (unsigned i = 0; i < 32; i++)
        fprintf(file, "st.global.u32 [%%rd3+%u], %%r%u;\n", i * 512, 100 + i);
    fputs("ret;\n}\n", file);
}

/* A loop with 1,200 branches of which lanes go either way, and 64 values that live across them: what a sort in blocks
 * becomes whose items are unrolled with a test of the range for each. */
static void put_branches(FILE *file)
{
    put_head(file, "k0");
    for (unsigned i = 0; i < 64; i++)
        fprintf(file, "ld.global.u32 %%r%u, [%%rd3+%u];\n", 100 + i, i * 512);
    fputs("mov.u32 %r6, 0;\nL:\n", file);
    for (unsigned i = 0; i < 1200; i++) {
        unsigned a = 100 + i % 64, b = 100 + i * 7 % 64;
        fprintf(file,
                "setp.lt.u32 %%p1, %%r%u, %%r%u;\n@%%p1 bra S%u;\nadd.s32 %%r%u, %%r%u, %%r%u;\nst.shared.u32 "
                "[%%r5+%u], %%r%u;\nS%u:\n",
                a, b, i, a, a, b, i % 24 * 512, a, i);
    }
    fputs("bar.sync 0;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p2, %r6, %r1;\n@%p2 bra L;\n", file);
    for (unsigned i = 0; i < 64; i++)
        fprintf(file, "st.global.u32 [%%rd3+%u], %%r%u;\n", i * 512, 100 + i);
    fputs("ret;\n}\n", file);
}

static const struct {
    const char *name;
    void (*put)(FILE *file);
    unsigned kernels;
} modules[] = {{"straight", put_straight, 1}, {"many", put_many, 48}, {"matrix", put_matrix, 1},
               {"switch", put_switch, 1},     {"sort", put_sort, 1},  {"branches", put_branches, 1}};

static void launch_all(CUmodule module, unsigned kernels)
{
    for (unsigned k = 0; k < kernels; k++) {
        CUfunction function;
        unsigned n = 1;
        char name[16];
        void *params[] = {&memory, &n};
        snprintf(name, sizeof name, "k%u", k);
        CHECK(cuModuleGetFunction(&function, module, name));
        CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    }
    CHECK(cuCtxSynchronize());
}

static void measure(const char *name, void (*put)(FILE *file), unsigned kernels, bool print)
{
    CUmodule module;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        exit(1);
    fputs(".version 7.8\n.target sm_80\n.address_size 64\n", file);
    put(file);
    fclose(file);
    double wall = bench_seconds(), processor = processor_ms();
    CHECK(cuModuleLoadData(&module, text));
    launch_all(module, kernels);
    wall = (bench_seconds() - wall) * 1e3;
    processor = processor_ms() - processor;
    CHECK(cuModuleUnload(module));
    CHECK(cuModuleLoadData(&module, text));
    if (print)
        usleep(500000);
    double ahead = bench_seconds();
    launch_all(module, kernels);
    ahead = (bench_seconds() - ahead) * 1e3;
    CHECK(cuModuleUnload(module));
    free(text);
    if (print)
        printf("first_%s_ms %.1f\nfirst_%s_processor_ms %.1f\nfirst_%s_ahead_ms %.1f\n", name, wall, name, processor,
               name, ahead);
    fflush(stdout);
}

static void put_nothing(FILE *file)
{
    put_head(file, "k0");
    fputs("ret;\n}\n", file);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    setenv("MILLRACE_CACHE", "off", 1); /* what is measured is making code */
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&memory, 1 << 20));
    CHECK(cuMemsetD8(memory, 0, 1 << 20));
    measure("nothing", put_nothing, 1, false); /* opens the compiler */
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (argc < 2 || strcmp(argv[1], modules[i].name) == 0)
            measure(modules[i].name, modules[i].put, modules[i].kernels, true);
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
