/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler control: brackets with nothing attached. */
#include "api_support.h"

#include <cudaProfiler.h>

static void start_and_stop(void **state)
{
    (void)state;
    OK(cuProfilerStart());
    OK(cuProfilerStop());
    OK(cuProfilerStop());
}

static void without_a_context(void **state)
{
    (void)state;
    OK(cuInit(0));
    FAILS(cuProfilerStart(), CUDA_ERROR_INVALID_CONTEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_context), TEST_IN_CONTEXT(start_and_stop)};
    return cmocka_run_group_tests_name("cuProfiler", tests, NULL, NULL);
}
