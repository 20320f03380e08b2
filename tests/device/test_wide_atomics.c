/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic operations that are wider than a word, from many blocks on all workers at a time: nothing may get lost. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define BLOCKS 64
#define THREADS 64

/* At p: four floats; at p+16 a counter of 128 bits in two halves that go opposite ways; at p+32 sixteen halves; at p+64
 * 32 words. */
static const char text[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 ones[128];\n"
    ".visible .entry k(.param .u64 q) {\n.reg .pred %p<4>; .reg .b32 %t, %s, %a<4>; .reg .b64 %p0, %d<9>; .reg .f32 %f<5>; .reg .b16 %h<5>; .reg .b128 %q<4>;\n"
    "ld.param.u64 %p0, [q]; mov.u32 %t, %tid.x; mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.b32 %a3, 1; mov.u32 %s, ones;\n"
    "red.global.add.v4.f32 [%p0], {%f1, %f2, %f1, %f2};\n"
    "ld.relaxed.gpu.global.b128 %q0, [%p0+16];\n"
    "again: mov.b128 {%d1, %d2}, %q0; add.u64 %d3, %d1, 1; sub.u64 %d4, %d2, 1; mov.b128 %q1, {%d3, %d4}; mov.b128 %q2, %q0;\n"
    "atom.global.cas.b128 %q0, [%p0+16], %q2, %q1; mov.b128 {%d5, %d6}, %q0; setp.ne.u64 %p1, %d5, %d1; setp.ne.u64 %p2, %d6, %d2; or.pred %p1, %p1, %p2; @%p1 bra again;\n"
    "mov.b16 %h1, 0x3c00; setp.lt.u32 %p3, %t, 16; @%p3 red.global.add.noftz.v4.f16 [%p0+32], {%h1, %h1, %h1, %h1};\n"
    "and.b32 %a1, %t, 31; mad.lo.u32 %a2, %a1, 4, %s; st.shared.b32 [%a2], %a3; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 ret;\n"
    "add.u64 %d7, %p0, 64; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d7], [%s], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n";

static int begin(void **state)
{
    (void)state;
    CUdevice device;
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    return 0;
}

static void nothing_gets_lost(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuMemAlloc(&p, 256));
    const char *rounds = getenv("ROUNDS");
    for (int round = rounds ? atoi(rounds) : 20; round > 0; round--) {
        struct {
            float sums[4];
            uint64_t up, down;
            uint16_t halves[16];
            uint32_t words[32];
        } got;
        void *params[] = {&p};
        OK(cuMemsetD8(p, 0, 256));
        OK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
        OK(cuMemcpyDtoH(&got, p, sizeof got));
        for (unsigned i = 0; i < 4; i++) {
            assert_true(got.sums[i] == (float)(BLOCKS * THREADS * (i % 2 + 1)));
            assert_int_equal(got.halves[i], 0x6400); /* 1024 */
        }
        assert_true(got.up == BLOCKS * THREADS && got.down == UINT64_C(0) - BLOCKS * THREADS);
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(got.words[i], BLOCKS);
    }
    OK(cuMemFree(p));
    OK(cuModuleUnload(module));
}

/* The compiler's functions; the places are the low and the high half of a counter, what was exchanged last, and two
 * counts of failures. */
static void compiled_functions(void **state)
{
    (void)state;
    const char *path = getenv("DEVICE_WIDE_ATOMICS_PTX");
    if (!path)
        skip();
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    uint64_t got[6];
    OK(cuModuleLoad(&module, path));
    OK(cuModuleGetFunction(&function, module, "count"));
    OK(cuMemAlloc(&p, sizeof got));
    OK(cuMemsetD8(p, 0, sizeof got));
    OK(cuMemsetD8(p + 24, 0xff, 8));
    CUdeviceptr last = p + 16, failed = p + 32;
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&p, &last, &failed}, NULL));
    OK(cuMemcpyDtoH(got, p, sizeof got));
    assert_true(got[0] == BLOCKS * THREADS && got[1] == UINT64_C(0) - BLOCKS * THREADS);
    assert_true(got[2] < BLOCKS * THREADS && got[3] == ~got[2]);
    assert_true(got[4] == 0 && got[5] == 0);
    OK(cuMemFree(p));
    OK(cuModuleUnload(module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_gets_lost), cmocka_unit_test(compiled_functions)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
