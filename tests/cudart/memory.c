/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of all kinds, copies of bytes, rows and boxes, fills, pools. */
#include <string.h>

#include "expect.h"

static void test_allocation(void)
{
    void *memory = (void *)1;
    struct cudaPointerAttributes attributes;
    OK(cudaMalloc(&memory, 0));
    HOLDS(memory == NULL);
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    OK(cudaMalloc(&memory, 1000));
    OK(cudaPointerGetAttributes(&attributes, (char *)memory + 10));
    HOLDS(attributes.type == cudaMemoryTypeDevice && attributes.device == 0 &&
          attributes.devicePointer == (char *)memory + 10);
    OK(cudaFree(memory));
    GIVES(cudaErrorInvalidValue, cudaFree(memory));
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 50));
    GIVES(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    int local = 0;
    OK(cudaPointerGetAttributes(&attributes, &local));
    HOLDS(attributes.type == cudaMemoryTypeUnregistered && attributes.device == cudaInvalidDeviceId &&
          attributes.devicePointer == NULL);
    GIVES(cudaErrorInvalidValue, cudaFree(&local));
}

static void test_host(void)
{
    void *pinned, *device;
    unsigned flags = 0;
    struct cudaPointerAttributes attributes;
    OK(cudaHostAlloc(&pinned, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetDevicePointer(&device, pinned, 0));
    OK(cudaHostGetFlags(&flags, pinned));
    HOLDS(flags & cudaHostAllocPortable);
    OK(cudaPointerGetAttributes(&attributes, pinned));
    HOLDS(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned &&
          attributes.devicePointer == device);
    OK(cudaFreeHost(pinned));
    OK(cudaMallocHost(&pinned, 64));
    memset(pinned, 3, 64);
    OK(cudaFreeHost(pinned));
    char *own = malloc(8192);
    OK(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own, 8192, 0));
    OK(cudaHostGetDevicePointer(&device, own, 0));
    OK(cudaHostUnregister(own));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own));
    free(own);
    int *managed;
    OK(cudaMallocManaged((void **)&managed, 400, cudaMemAttachGlobal));
    managed[99] = 7;
    OK(cudaPointerGetAttributes(&attributes, managed));
    HOLDS(attributes.type == cudaMemoryTypeManaged);
    const struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
    OK(cudaMemAdvise(managed, 400, cudaMemAdviseSetPreferredLocation, here));
    OK(cudaMemPrefetchAsync(managed, 400, here, 0, NULL));
    OK(cudaDeviceSynchronize());
    int where = -1;
    OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, managed, 400));
    HOLDS(where == 0);
    HOLDS(managed[99] == 7);
    OK(cudaFree(managed));
}

static void test_bytes(void)
{
    unsigned char from[256], to[256];
    void *a, *b;
    for (int i = 0; i < 256; i++)
        from[i] = (unsigned char)i;
    OK(cudaMalloc(&a, 256));
    OK(cudaMalloc(&b, 256));
    OK(cudaMemcpy(a, from, 256, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, 256, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(to, b, 256, cudaMemcpyDeviceToHost));
    HOLDS(memcmp(from, to, 256) == 0);
    memset(to, 0, 256);
    OK(cudaMemcpy(to, from, 256, cudaMemcpyHostToHost));
    HOLDS(memcmp(from, to, 256) == 0);
    memset(to, 0, 256);
    OK(cudaMemcpyAsync(to, b, 256, cudaMemcpyDefault, NULL));
    OK(cudaStreamSynchronize(NULL));
    HOLDS(memcmp(from, to, 256) == 0);
    OK(cudaMemset(a, 0xab, 100));
    OK(cudaMemcpy(to, a, 256, cudaMemcpyDefault));
    HOLDS(to[0] == 0xab && to[99] == 0xab && to[100] == 100);
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, from, 4, (enum cudaMemcpyKind)9));
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyAsync(a, from, 4, (enum cudaMemcpyKind) - 1, NULL));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(a, from, 1 << 20, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemset(a, 0, 1 << 20));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

static void test_rows(void)
{
    int from[6][10], to[6][10];
    void *memory;
    size_t pitch;
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 10; x++)
            from[y][x] = 100 * y + x;
    OK(cudaMallocPitch(&memory, &pitch, 10 * sizeof(int), 6));
    HOLDS(pitch >= 40 && pitch % 4 == 0);
    OK(cudaMemcpy2D(memory, pitch, from, 40, 40, 6, cudaMemcpyHostToDevice));
    OK(cudaMemset2D((char *)memory + pitch, pitch, 0xff, 8, 2));
    OK(cudaMemcpy2DAsync(to, 40, memory, pitch, 40, 6, cudaMemcpyDeviceToHost, NULL));
    OK(cudaStreamSynchronize(NULL));
    HOLDS(to[0][0] == 0 && to[1][0] == -1 && to[2][1] == -1 && to[2][2] == 202 && to[3][0] == 300 && to[5][9] == 509);
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(memory, 8, from, 40, 40, 6, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(memory, pitch, from, 8, 40, 6, cudaMemcpyHostToDevice));
    OK(cudaFree(memory));
}

static void test_boxes(void)
{
    enum { W = 12, H = 5, D = 4 };
    unsigned char from[D][H][W], to[D][H][W];
    struct cudaPitchedPtr box;
    for (int i = 0; i < W * H * D; i++)
        (&from[0][0][0])[i] = (unsigned char)i;
    memset(to, 0, sizeof to);
    OK(cudaMalloc3D(&box, make_cudaExtent(W, H, D)));
    HOLDS(box.pitch >= W && box.xsize == W && box.ysize == H);
    struct cudaMemcpy3DParms copy = {.srcPtr = make_cudaPitchedPtr(from, W, W, H),
                                     .dstPtr = box,
                                     .extent = make_cudaExtent(W, H, D),
                                     .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&copy));
    OK(cudaMemset3D(box, 0xee, make_cudaExtent(3, 2, D)));
    const struct cudaMemcpy3DParms back = {.srcPtr = box,
                                           .dstPtr = make_cudaPitchedPtr(to, W, W, H),
                                           .srcPos = make_cudaPos(1, 1, 1),
                                           .dstPos = make_cudaPos(1, 1, 1),
                                           .extent = make_cudaExtent(W - 1, H - 1, D - 1),
                                           .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3DAsync(&back, NULL));
    OK(cudaStreamSynchronize(NULL));
    HOLDS(to[0][0][0] == 0 && to[1][1][0] == 0 && to[1][1][1] == 0xee && to[1][1][2] == 0xee &&
          to[1][1][3] == from[1][1][3]);
    HOLDS(to[3][4][11] == from[3][4][11] && to[2][2][1] == from[2][2][1]);
    OK(cudaMemset3D(box, 0x11, make_cudaExtent(W, H, D)));
    copy = (struct cudaMemcpy3DParms){.srcPtr = box,
                                      .dstPtr = make_cudaPitchedPtr(to, W, W, H),
                                      .extent = make_cudaExtent(W, H, D),
                                      .kind = cudaMemcpyDefault};
    OK(cudaMemcpy3D(&copy));
    HOLDS(to[0][0][0] == 0x11 && to[3][4][11] == 0x11);
    copy.kind = (enum cudaMemcpyKind)12;
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy3D(&copy));
    GIVES(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
    OK(cudaFree(box.ptr));
}

static void test_batch(void)
{
    int from[2] = {5, 6}, to[2] = {0, 0};
    cudaStream_t stream;
    void *a;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&a, 8));
    OK(cudaMemcpy(a, from, 8, cudaMemcpyHostToDevice));
    void *dsts[] = {&to[0], &to[1]};
    const void *srcs[] = {a, (char *)a + 4};
    size_t sizes[] = {4, 4}, first = 0;
    struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    OK(cudaMemcpyBatchAsync(dsts, srcs, sizes, 2, &how, &first, 1, stream));
    OK(cudaStreamSynchronize(stream));
    HOLDS(to[0] == 5 && to[1] == 6);
    OK(cudaFree(a));
    OK(cudaStreamDestroy(stream));
}

static void test_pool(void)
{
    cudaMemPool_t pool, other;
    cudaStream_t stream;
    void *a, *b;
    int back = 0;
    OK(cudaStreamCreate(&stream));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaDeviceGetMemPool(&other, 0));
    HOLDS(pool == other);
    OK(cudaMallocAsync(&a, 4096, stream));
    OK(cudaMemsetAsync(a, 2, 4096, stream));
    OK(cudaMemcpyAsync(&back, a, 4, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(a, stream));
    OK(cudaStreamSynchronize(stream));
    HOLDS(back == 0x02020202);
    struct cudaMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&other, &props));
    unsigned long long keep = ~0ull, got = 0;
    OK(cudaMemPoolSetAttribute(other, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolGetAttribute(other, cudaMemPoolAttrReleaseThreshold, &got));
    HOLDS(got == keep);
    OK(cudaMallocFromPoolAsync(&b, 1 << 20, other, stream));
    OK(cudaMemPoolGetAttribute(other, cudaMemPoolAttrUsedMemCurrent, &got));
    HOLDS(got >= 1 << 20);
    OK(cudaFreeAsync(b, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemPoolTrimTo(other, 0));
    OK(cudaMemPoolDestroy(other));
    GIVES(cudaErrorInvalidValue, cudaMemPoolCreate(NULL, &props));
    OK(cudaStreamDestroy(stream));
}

int main(void)
{
    test_allocation();
    test_host();
    test_bytes();
    test_rows();
    test_boxes();
    test_batch();
    test_pool();
    return finish();
}
