/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations on streams when the driver's own memory runs out: the call says so, nothing was queued, nothing
 * leaks. */
#include "stream_support.h"

#include <string.h>

#include "each_failure.h"

static void test_each_allocation(void **state)
{
    (void)state;
    CUstream stream = new_stream(0);
    CUdeviceptr address;
    struct gate gate;
    OK(cuMemAlloc(&address, 64));
    OK(cuMemsetD8(address, 0, 64));
    for (int busy = 0; busy < 2; busy++) {
        if (busy)
            gate_put(&gate, stream);
        uint32_t expected = 0;
        uint64_t live = 0;
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            CUstreamBatchMemOpParams ops[2];
            memset(ops, 0, sizeof ops);
            ops[0].writeValue.operation = ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
            ops[0].writeValue.address = address;
            ops[1].writeValue.address = address + 4;
            ops[0].writeValue.value = ops[1].writeValue.value = expected + 1;
            live = mr_alloc_live();
            (void)mr_alloc_fail_mine(n);
            CUresult status = cuStreamBatchMemOp(stream, 2, ops, 0);
            (void)mr_alloc_fail_mine(0);
            failed = status != CUDA_SUCCESS;
            if (failed) {
                assert_int_equal(status, CUDA_ERROR_OUT_OF_MEMORY);
                assert_true(live_once_settled(live + 1) <=
                            live + 1); /* a pool may keep a batch of records that it got */
            } else {
                expected++;
            }
        }
        if (busy)
            gate_open(&gate);
        OK(cuStreamSynchronize(stream));
        uint32_t got[2];
        OK(cuMemcpyDtoH(got, address, 8));
        assert_int_equal(got[0], expected);
        assert_int_equal(got[1], expected);
        OK(cuMemsetD8(address, 0, 64));
    }
    OK(cuMemFree(address));
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
