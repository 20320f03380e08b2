/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamIsCapturing, cuStreamGetCaptureInfo in its versions, cuStreamUpdateCaptureDependencies. */
#include "capture_support.h"

#include <string.h>

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

struct info {
    CUstreamCaptureStatus state;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
};

static struct info ask(CUstream stream)
{
    struct info info;
    memset(&info, 0x5a, sizeof info);
    OK(cuStreamGetCaptureInfo(stream, &info.state, &info.id, &info.graph, &info.nodes, &info.data, &info.count));
    return info;
}

static void test_info(void **state)
{
    (void)state;
    CUstream stream = new_stream(0), other = new_stream(0);
    struct info before = ask(stream), untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    assert_int_equal(before.state, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(before.id, untouched.id);
    assert_ptr_equal(before.graph, untouched.graph);
    OK(cuStreamBeginCapture(stream, RELAXED));
    struct info begun = ask(stream);
    assert_int_equal(begun.state, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(begun.count, 0);
    assert_null(begun.nodes);
    assert_true(begun.id != 0);
    put_node(stream);
    put_after(other, stream);
    struct info here = ask(stream), there = ask(other);
    assert_int_equal(here.id, begun.id);
    assert_int_equal(there.id, begun.id);
    assert_ptr_equal(there.graph, here.graph);
    assert_int_equal(here.count, 1);
    assert_ptr_equal(here.nodes[0], there.nodes[0]);
    assert_int_equal(here.data[0].type, 0);
    CUgraph graph = end_capture(stream);
    assert_ptr_equal(graph, here.graph);
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(stream, RELAXED));
    assert_true(ask(stream).id > begun.id);
    FAILS(cuStreamQuery(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct info spoilt = ask(stream);
    assert_int_equal(spoilt.state, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    assert_int_equal(spoilt.count, untouched.count);
    end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    FAILS(cuStreamGetCaptureInfo(stream, NULL, NULL, NULL, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamIsCapturing(stream, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other));
}

static void test_update(void **state)
{
    (void)state;
    CUstream stream = new_capture(RELAXED);
    put_node(stream);
    CUgraphNode first = ask(stream).nodes[0], hand, twice[2] = {first, first};
    OK(cuGraphAddEmptyNode(&hand, ask(stream).graph, NULL, 0));
    OK(cuStreamUpdateCaptureDependencies(stream, &hand, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cuStreamUpdateCaptureDependencies(stream, twice, NULL, 2, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    assert_int_equal(ask(stream).count, 2);
    put_node(stream);
    assert_int_equal(ask(stream).count, 1);
    OK(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    assert_int_equal(ask(stream).count, 0);
    put_node(stream);
    OK(cuStreamUpdateCaptureDependencies(stream, &first, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    put_node(stream);
    FAILS(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    CUgraph other;
    CUgraphNode foreign;
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    FAILS(cuStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(other));
    end_with(stream, 5, 3);
    FAILS(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
    OK(cuStreamDestroy(stream));
}

/* Work that an update took out of a stream's dependencies needs no join. */
static void test_update_and_join(void **state)
{
    (void)state;
    CUstream one = new_capture(RELAXED), two = new_stream(CU_STREAM_NON_BLOCKING);
    put_node(one);
    put_after(two, one);
    put_node(two);
    OK(cuStreamUpdateCaptureDependencies(two, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_with(one, 2, 1);
    OK(cuStreamBeginCapture(one, RELAXED));
    put_after(two, one);
    put_node(two);
    CUgraphNode node = ask(two).nodes[0];
    OK(cuStreamUpdateCaptureDependencies(one, &node, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    end_with(one, 1, 0);
    OK(cuStreamDestroy(one));
    OK(cuStreamDestroy(two));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_update_and_join),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
