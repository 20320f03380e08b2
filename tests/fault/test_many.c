/* SPDX-License-Identifier: Apache-2.0 */
/* Many kernels that fault, each in a context that is made for it and ended afterwards, while other contexts compute,
 * and compute right.
 *
 * 100 faults by default; MILLRACE_FAULTS says how many. Every fourth is in the primary context of the device, which is
 * reset. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <cuda.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

enum { BYSTANDERS = 2, WORDS = 512 };

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry wild(.param .u64 at)\n{\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [at];\n    st.global.u32 [%rd1], 1;\n    ret;\n}\n"
    ".visible .entry crooked(.param .u64 at)\n{\n    .reg .b64 %rd<2>;\n    ld.param.u64 %rd1, [at];\n    add.s64 %rd1, %rd1, 1;\n"
    "    st.global.u32 [%rd1], 1;\n    ret;\n}\n"
    ".visible .entry trap(.param .u64 at)\n{\n    trap;\n    ret;\n}\n"
    ".visible .entry count(.param .u64 at, .param .u32 value)\n{\n    .reg .b64 %rd<4>;\n    .reg .b32 %r<6>;\n"
    "    ld.param.u64 %rd1, [at];\n    ld.param.u32 %r1, [value];\n    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.u32 %r2, %r2, %r3, %r4;\n    mul.wide.u32 %rd2, %r2, 4;\n    add.s64 %rd1, %rd1, %rd2;\n"
    "    ld.global.u32 %r5, [%rd1];\n    mad.lo.u32 %r5, %r5, 3, %r1;\n    st.global.u32 [%rd1], %r5;\n    ret;\n}\n";

static _Atomic bool over;
static _Atomic unsigned long rounds, wrong;

/* Computes in a context of its own until told to stop. Tells of anything that isn't as it should be. */
static void *bystander(void *data)
{
    CUcontext context;
    CUmodule module;
    CUfunction count;
    CUdeviceptr words;
    uint32_t found[WORDS], expected = 7;
    (void)data;
    if (cuCtxCreate_v4(&context, NULL, 0, 0) != CUDA_SUCCESS || cuModuleLoadData(&module, ptx) != CUDA_SUCCESS ||
        cuModuleGetFunction(&count, module, "count") != CUDA_SUCCESS ||
        cuMemAlloc(&words, sizeof found) != CUDA_SUCCESS || cuMemsetD32(words, expected, WORDS) != CUDA_SUCCESS) {
        atomic_fetch_add(&wrong, 1);
        return NULL;
    }
    for (uint32_t value = 1; !atomic_load(&over); value++) {
        void *params[] = {&words, &value};
        bool well = cuLaunchKernel(count, WORDS / 64, 1, 1, 64, 1, 1, 0, NULL, params, NULL) == CUDA_SUCCESS &&
                    cuMemcpyDtoH(found, words, sizeof found) == CUDA_SUCCESS;
        expected = expected * 3 + value;
        for (int i = 0; i < WORDS; i++)
            well = well && found[i] == expected;
        atomic_fetch_add(&rounds, 1);
        if (!well)
            atomic_fetch_add(&wrong, 1);
        if (!well)
            break;
    }
    if (cuCtxDestroy(context) != CUDA_SUCCESS)
        atomic_fetch_add(&wrong, 1);
    return NULL;
}

/* Faults in the current context, which is good for nothing afterwards. */
static void fault_here(unsigned number)
{
    static const struct {
        const char *name;
        CUresult status;
    } kinds[] = {{"wild", CUDA_ERROR_ILLEGAL_ADDRESS},
                 {"trap", CUDA_ERROR_LAUNCH_FAILED},
                 {"crooked", CUDA_ERROR_MISALIGNED_ADDRESS}};
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUevent event;
    CUdeviceptr words, at;
    unsigned kind = number % 3;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, kinds[kind].name));
    OK(cuStreamCreate(&stream, number % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    OK(cuMemAlloc(&words, 4096));
    at = kind == 0 ? 16 + 4096 * (number % 5) : words;
    void *params[] = {&at};
    OK(cuMemsetD32Async(words, 1, 1024, stream));
    OK(cuLaunchKernel(function, 1 + number % 7, 1, 1, 32 * (1 + number % 4), 1, 1, 0, stream, params, NULL));
    (void)cuEventRecord(event, stream);
    assert_int_equal(number % 5 < 3    ? cuStreamSynchronize(stream)
                     : number % 5 == 3 ? cuCtxSynchronize()
                                       : cuEventSynchronize(event),
                     kinds[kind].status);
    assert_int_equal(cuMemAlloc(&at, 64), kinds[kind].status);
    assert_int_equal(cuStreamQuery(stream), kinds[kind].status);
}

static void test_faults_leave_others_alone(void **state)
{
    const char *wanted = getenv("MILLRACE_FAULTS");
    unsigned count = wanted && *wanted ? (unsigned)strtoul(wanted, NULL, 10) : 100;
    pthread_t threads[BYSTANDERS];
    (void)state;
    OK(cuInit(0));
    for (int i = 0; i < BYSTANDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bystander, NULL), 0);
    for (unsigned i = 0; i < count; i++) {
        CUcontext context;
        if (i % 4 == 3) {
            OK(cuDevicePrimaryCtxRetain(&context, 0));
            OK(cuCtxPushCurrent(context));
            fault_here(i);
            OK(cuDevicePrimaryCtxReset(0));
            OK(cuCtxSetCurrent(NULL));
        } else {
            OK(cuCtxCreate_v4(&context, NULL, 0, 0));
            fault_here(i);
            OK(cuCtxDestroy(context));
        }
        assert_int_equal(atomic_load(&wrong), 0);
    }
    atomic_store(&over, true);
    for (int i = 0; i < BYSTANDERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&rounds) > 0);
    print_message("%u faults; %lu right results meanwhile\n", count, atomic_load(&rounds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_leave_others_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
