/* SPDX-License-Identifier: Apache-2.0 */
/* A query at the very moment at which a kernel faults answers that work is not done, or tells of the fault; never
 * success. And a wait that begins when the fault is known already still waits, for a while, for what else runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#include <cuda.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry trap()\n{\n    trap;\n    ret;\n}\n";

enum question { QUERY_EVENT, QUERY_STREAM, WAIT_FOR_EVENT, WAIT_FOR_STREAM };

static CUresult ask(enum question question, CUstream stream, CUevent event)
{
    switch (question) {
    case QUERY_EVENT:
        return cuEventQuery(event);
    case QUERY_STREAM:
        return cuStreamQuery(stream);
    case WAIT_FOR_EVENT:
        return cuEventSynchronize(event);
    default:
        return cuStreamSynchronize(stream);
    }
}

static void hears_of_the_fault(void **question)
{
    const char *rounds = getenv("ROUNDS");
    for (int round = rounds ? atoi(rounds) : 150; round > 0; round--) {
        CUcontext context;
        CUmodule module;
        CUfunction function;
        CUstream stream;
        CUevent event;
        CUresult said;
        OK(cuCtxCreate_v4(&context, NULL, 0, 0));
        OK(cuModuleLoadData(&module, ptx));
        OK(cuModuleGetFunction(&function, module, "trap"));
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
        OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
        /* A fault that comes before the record leaves nothing to ask the event about. */
        CUresult recorded = cuEventRecord(event, stream);
        assert_true(recorded == CUDA_SUCCESS || recorded == CUDA_ERROR_LAUNCH_FAILED);
        do
            said = ask(*(const enum question *)*question, stream, event);
        while (said == CUDA_ERROR_NOT_READY);
        assert_int_equal(said, CUDA_ERROR_LAUNCH_FAILED);
        OK(cuCtxDestroy(context));
    }
}

/* Block 0 faults once block 1 has begun, which then calculates for some milliseconds, and says so at its end. (A loop
 * that waits would end with the context.) */
static const char stays[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry stays(.param .u64 words)\n{\n.reg .b64 %w; .reg .b32 %r<4>; .reg .pred %p;\n"
    "ld.param.u64 %w, [words]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p, %r0, 0; @%p bra other;\n"
    "begun: ld.volatile.global.u32 %r1, [%w+8]; setp.eq.u32 %p, %r1, 0; @%p bra begun; trap;\n"
    "other: st.volatile.global.u32 [%w+8], 1; mov.u32 %r1, 1; mov.u32 %r2, 0; again: mad.lo.u32 %r1, %r1, 1664525, 1013904223; xor.b32 %r1, %r1, %r2;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 5000000; @%p bra again; st.volatile.global.u32 [%w], %r1; st.volatile.global.u32 [%w+4], 1; ret;\n}\n";

enum { GRACE_MS = 100 }; /* src/stream/wait.c */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void other_blocks_may_end(void **question)
{
    for (int round = 0; round < 20; round++) {
        CUcontext context;
        CUmodule module;
        CUfunction function;
        CUstream stream;
        volatile unsigned *words;
        OK(cuCtxCreate_v4(&context, NULL, 0, 0));
        OK(cuModuleLoadData(&module, stays));
        OK(cuModuleGetFunction(&function, module, "stays"));
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuMemHostAlloc((void **)&words, 64, 0));
        words[0] = words[1] = words[2] = 0;
        OK(cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, stream, (void *[]){&words}, NULL));
        CUresult said;
        while ((said = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
            ;
        assert_int_equal(said, CUDA_ERROR_LAUNCH_FAILED);
        double before = milliseconds();
        assert_int_equal(*(const enum question *)*question == WAIT_FOR_STREAM ? cuStreamSynchronize(stream)
                                                                              : cuCtxSynchronize(),
                         CUDA_ERROR_LAUNCH_FAILED);
        assert_true(words[1] == 1 || milliseconds() - before >= GRACE_MS);
        OK(cuCtxDestroy(context));
    }
}

int main(void)
{
    static enum question questions[] = {QUERY_EVENT, QUERY_STREAM, WAIT_FOR_EVENT, WAIT_FOR_STREAM};
    const struct CMUnitTest tests[] = {
        {"cuEventQuery", hears_of_the_fault, NULL, NULL, &questions[0]},
        {"cuStreamQuery", hears_of_the_fault, NULL, NULL, &questions[1]},
        {"cuEventSynchronize", hears_of_the_fault, NULL, NULL, &questions[2]},
        {"cuStreamSynchronize", hears_of_the_fault, NULL, NULL, &questions[3]},
        {"cuStreamSynchronize, known before", other_blocks_may_end, NULL, NULL, &questions[3]},
        {"cuCtxSynchronize, known before", other_blocks_may_end, NULL, NULL, &questions[0]},
    };
    if (cuInit(0) != CUDA_SUCCESS)
        return EXIT_FAILURE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
