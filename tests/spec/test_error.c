/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetErrorName and cuGetErrorString: every code has both, no other number has either. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void known_codes(void **state)
{
    (void)state;
    const char *text = NULL;
    assert_int_equal(cuGetErrorName(CUDA_SUCCESS, &text), CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_SUCCESS");
    assert_int_equal(cuGetErrorString(CUDA_SUCCESS, &text), CUDA_SUCCESS);
    assert_string_equal(text, "no error");
    assert_int_equal(cuGetErrorName(CUDA_ERROR_NOT_READY, &text), CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_NOT_READY");
    assert_int_equal(cuGetErrorName(CUDA_ERROR_UNKNOWN, &text), CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_UNKNOWN");
}

static void every_number(void **state)
{
    (void)state;
    int known = 0;
    for (int code = -2; code < 1100; code++) {
        const char *name = "x", *text = "x";
        CUresult status = cuGetErrorName((CUresult)code, &name);
        assert_int_equal(cuGetErrorString((CUresult)code, &text), status);
        if (status == CUDA_SUCCESS) {
            known++;
            assert_int_equal(strncmp(name, "CUDA_", 5), 0);
            assert_true(strlen(text) > 0);
        } else {
            assert_int_equal(status, CUDA_ERROR_INVALID_VALUE);
            assert_null(name);
            assert_null(text);
        }
    }
    assert_true(known > 95);
}

static void no_place_for_the_result(void **state)
{
    (void)state;
    assert_int_equal(cuGetErrorName(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetErrorString(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_codes),
        cmocka_unit_test(every_number),
        cmocka_unit_test(no_place_for_the_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
