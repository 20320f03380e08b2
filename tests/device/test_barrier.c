/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::barrier of the device headers: hand-overs in both directions, and threads that leave. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static void turns(void **state)
{
    int host[128], rounds = 25;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    (void)state;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_BARRIER_PTX")));
    OK(cuModuleGetFunction(&function, module, "turns"));
    OK(cuMemAlloc(&out, sizeof host));
    OK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&out, &rounds}, NULL));
    OK(cuMemcpyDtoH(host, out, sizeof host));
    for (int i = 0; i < 128; i++) {
        int sum = 0;
        for (int round = 0; i >= 64 && round < rounds; round++)
            sum += round * 64 + 127 - i;
        assert_int_equal(host[i], sum + (i < 96 ? 1000000 : 0));
    }
    OK(cuCtxDestroy(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
