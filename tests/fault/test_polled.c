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

typedef CUresult ask(CUstream stream, CUevent event);

static CUresult query_event(CUstream stream, CUevent event)
{
    (void)stream;
    return cuEventQuery(event);
}

static CUresult query_stream(CUstream stream, CUevent event)
{
    (void)event;
    return cuStreamQuery(stream);
}

static CUresult wait_for_event(CUstream stream, CUevent event)
{
    (void)stream;
    return cuEventSynchronize(event);
}

static CUresult wait_for_stream(CUstream stream, CUevent event)
{
    (void)event;
    return cuStreamSynchronize(stream);
}

static void hears_of_the_fault(ask *asked)
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
            said = asked(stream, event);
        while (said == CUDA_ERROR_NOT_READY);
        assert_int_equal(said, CUDA_ERROR_LAUNCH_FAILED);
        OK(cuCtxDestroy(context));
    }
}

static void event_queries(void **state)
{
    (void)state;
    hears_of_the_fault(query_event);
}

static void stream_queries(void **state)
{
    (void)state;
    hears_of_the_fault(query_stream);
}

static void event_waits(void **state)
{
    (void)state;
    hears_of_the_fault(wait_for_event);
}

static void stream_waits(void **state)
{
    (void)state;
    hears_of_the_fault(wait_for_stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(event_queries), cmocka_unit_test(stream_queries), cmocka_unit_test(event_waits),
                                        cmocka_unit_test(stream_waits) };
    if (cuInit(0) != CUDA_SUCCESS)
        return EXIT_FAILURE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
