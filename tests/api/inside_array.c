/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, textures and references when the driver's own memory runs out: each allocation is made to fail in turn, and
 * nothing stays behind. */
#include "array_support.h"

#include "each_failure.h"
#include "memory/allocation.h"

/* A call with nothing left in the caches that would save it an allocation. */
#define COLD(call) (mr_memory_trim(), call)

static void arrays(void **state)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {300, 200, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    size_t before, after, total;
    CUarray array, level;
    CUmipmappedArray mipmap;
    (void)state;
    OK(cuMemGetInfo(&before, &total));
    EACH_FAILURE_UNDONE(COLD(cuArray3DCreate(&array, &desc)), OK(cuArrayDestroy(array)));
    EACH_FAILURE_UNDONE(COLD(cuMipmappedArrayCreate(&mipmap, &desc, 5)), OK(cuMipmappedArrayDestroy(mipmap)));
    OK(cuMipmappedArrayCreate(&mipmap, &desc, 5));
    EACH_FAILURE(cuMipmappedArrayGetLevel(&level, mipmap, 2), (void)0);
    OK(cuMipmappedArrayDestroy(mipmap));
    OK(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
}

static void objects(void **state)
{
    const CUDA_RESOURCE_DESC resource =
        array_resource(make_array(8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST));
    const CUDA_TEXTURE_DESC desc = {.flags = 0};
    CUtexObject texture;
    CUsurfObject surface;
    (void)state;
    EACH_FAILURE_UNDONE(cuTexObjectCreate(&texture, &resource, &desc, NULL), OK(cuTexObjectDestroy(texture)));
    EACH_FAILURE_UNDONE(cuSurfObjectCreate(&surface, &resource), OK(cuSurfObjectDestroy(surface)));
}

static void references(void **state)
{
    CUarray array = make_array(8, 0, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
    CUmodule module =
        load_module(PTX_HEAD ".visible .global .texref picture;\n.visible .global .surfref canvas;\n" PTX_EMPTY);
    CUtexref picture, other;
    CUsurfref canvas;
    (void)state;
    EACH_FAILURE(cuModuleGetTexRef(&picture, module, "picture"), (void)0);
    EACH_FAILURE(cuModuleGetSurfRef(&canvas, module, "canvas"), (void)0);
    EACH_FAILURE(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT), (void)0);
    EACH_FAILURE(cuSurfRefSetArray(canvas, array, 0), (void)0);
    EACH_FAILURE_UNDONE(cuTexRefCreate(&other), OK(cuTexRefDestroy(other)));
    OK(cuModuleUnload(module));
}

static void copies(void **state)
{
    static char host[4096];
    CUarray array = make_array(1024, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0);
    CUstream stream;
    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EACH_FAILURE(COLD(cuMemcpyHtoAAsync(array, 0, host, 4096, stream)), (void)0);
    EACH_FAILURE(COLD(cuMemcpyAtoHAsync(host, array, 0, 4096, stream)), (void)0);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_IN_CONTEXT(arrays), TEST_IN_CONTEXT(objects), TEST_IN_CONTEXT(references),
                                       TEST_IN_CONTEXT(copies)};
    return cmocka_run_group_tests_name("arrays, memory short", tests, NULL, NULL);
}
