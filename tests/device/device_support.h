/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of device headers share: a context, and the module that the build compiled from the test's CUDA
 * source. */
#ifndef MR_TESTS_DEVICE_SUPPORT_H
#define MR_TESTS_DEVICE_SUPPORT_H

#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUmodule module;

/* Loads the PTX whose path the environment variable holds. For a group's setup. */
static inline int begin_with(const char *variable)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv(variable)));
    return 0;
}

static inline CUfunction function_of(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

#endif
