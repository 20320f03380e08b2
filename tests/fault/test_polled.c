/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever asks at the very moment at which a kernel faults hears of work that is not done, or of the fault; never of success. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <cuda.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry trap()\n{\n    trap;\n    ret;\n}\n";

enum question { QUERY_EVENT, QUERY_STREAM, WAIT_FOR_EVENT, WAIT_FOR_STREAM };

static CUresult ask(enum question question, CUstream stream, CUevent event)
{
    switch (question) {
    case QUERY_EVENT: return cuEventQuery(event);
    case QUERY_STREAM: return cuStreamQuery(stream);
    case WAIT_FOR_EVENT: return cuEventSynchronize(event);
    default: return cuStreamSynchronize(stream);
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

int main(void)
{
    static enum question questions[] = { QUERY_EVENT, QUERY_STREAM, WAIT_FOR_EVENT, WAIT_FOR_STREAM };
    const struct CMUnitTest tests[] = {
        { "cuEventQuery", hears_of_the_fault, NULL, NULL, &questions[0] },
        { "cuStreamQuery", hears_of_the_fault, NULL, NULL, &questions[1] },
        { "cuEventSynchronize", hears_of_the_fault, NULL, NULL, &questions[2] },
        { "cuStreamSynchronize", hears_of_the_fault, NULL, NULL, &questions[3] },
    };
    if (cuInit(0) != CUDA_SUCCESS)
        return EXIT_FAILURE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
