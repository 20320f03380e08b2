/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are not implemented: they look at context and handles as they would if they were, then refuse; outputs stay untouched. */
#include "api_support.h"

static void the_context_comes_first(void **state)
{
    CUarray array = WILD(CUarray);
    (void)state;
    OK(cuInit(0));
    FAILS(cuGraphicsSubResourceGetMappedArray(&array, NULL, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
    FAILS(cuGraphicsUnregisterResource(NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_ptr_equal(array, WILD(CUarray));
}

static void then_handles_then_the_refusal(void **state)
{
    CUarray array = WILD(CUarray);
    CUexternalMemory memory = WILD(CUexternalMemory);
    (void)state;
    FAILS(cuGraphicsSubResourceGetMappedArray(&array, WILD(CUgraphicsResource), 0, 0), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuImportExternalMemory(&memory, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(array, WILD(CUarray));
    assert_ptr_equal(memory, WILD(CUexternalMemory));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_context_comes_first), TEST_IN_CONTEXT(then_handles_then_the_refusal) };
    return cmocka_run_group_tests_name("refusing stubs", tests, NULL, NULL);
}
