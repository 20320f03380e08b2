/* SPDX-License-Identifier: Apache-2.0 */
/* Copies in one, two and three dimensions, to and from symbols, between devices; and their refusals. */
#include "rt.h"

#include <string.h>

static unsigned char host[4096];

/* Device memory with bytes 0, 1, 2, … */
static unsigned char *counted(size_t size)
{
    unsigned char *memory = rt_alloc(size);
    for (size_t i = 0; i < size; i++)
        host[i] = (unsigned char)i;
    RT_NEED(cudaMemcpy(memory, host, size, cudaMemcpyHostToDevice));
    RT_NEED(cudaStreamSynchronize(cudaStreamLegacy)); /* non-blocking streams don't wait for the copy */
    memset(host, 0, sizeof host);
    return memory;
}

/* ---- one dimension ---- */

CASE(copy, each_direction)
{
    unsigned char *device = counted(64), *second = rt_alloc(64), other[64];
    rt(cudaMemcpy(second, device, 64, cudaMemcpyDeviceToDevice));
    rt(cudaMemcpy(host, second, 64, cudaMemcpyDeviceToHost));
    rt(cudaMemcpy(other, host, 64, cudaMemcpyHostToHost));
    say_int(other[63]);
    rt(cudaMemcpy(second, other + 32, 4, cudaMemcpyDefault));
    rt(cudaMemcpy(other, second, 4, cudaMemcpyDefault));
    say_int(other[0]);
}

CASE(copy, direction_unknown)
{
    unsigned char *device = counted(64);
    rt_noted(cudaMemcpy(host, device, 4, (enum cudaMemcpyKind)5));
    rt_noted(cudaMemcpy(host, device, 4, (enum cudaMemcpyKind) - 1));
    rt_noted(cudaMemcpyAsync(host, device, 4, (enum cudaMemcpyKind)99, NULL));
}

/* With unified addresses the kind is checked against what the pointers are, or it is not. */
CASE(copy, direction_mistaken)
{
    unsigned char *device = counted(64);
    void *pinned;
    RT_NEED(cudaMallocHost(&pinned, 64));
    rt_noted(cudaMemcpy(host, device, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy(device, host, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(pinned, device, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy(device, pinned, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(pinned, device, 4, cudaMemcpyDeviceToDevice));
    RT_NEED(cudaFreeHost(pinned));
}

CASE(copy, direction_host_to_host_of_device, .alone = true)
{
    unsigned char *device = counted(64);
    rt_noted(cudaMemcpy(device, device + 32, 4, cudaMemcpyHostToHost));
}

CASE(copy, nothing)
{
    unsigned char *device = counted(64);
    rt_noted(cudaMemcpy(host, device, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(NULL, NULL, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault));
    rt_noted(cudaMemcpy(NULL, NULL, 0, (enum cudaMemcpyKind)7));
    rt_noted(cudaMemcpyAsync(NULL, NULL, 0, cudaMemcpyDefault, NULL));
}

CASE(copy, null)
{
    unsigned char *device = counted(64);
    rt_noted(cudaMemcpy(NULL, device, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(NULL, host, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy(device, NULL, 4, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpy(host, NULL, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(NULL, device, 4, cudaMemcpyDefault));
    rt_noted(cudaMemcpyAsync(NULL, device, 4, cudaMemcpyDeviceToHost, NULL));
}

CASE(copy, past_the_end)
{
    unsigned char *device = rt_alloc((size_t)2 << 20);
    static unsigned char large[64];
    rt_noted(cudaMemcpy(large, device + ((size_t)1 << 45), 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy(device + ((size_t)1 << 45), large, 4, cudaMemcpyHostToDevice));
}

CASE(copy, freed, .alone = true)
{
    unsigned char *device = rt_alloc((size_t)64 << 20);
    RT_NEED(cudaFree(device));
    rt_noted(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
}

CASE(copy, async_pinned)
{
    unsigned char *device = counted(64), *pinned;
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    RT_NEED(cudaMallocHost((void **)&pinned, 64));
    pinned[5] = 0;
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDeviceToHost, stream));
    say_int(pinned[5]);
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    say_int(pinned[5]);
    RT_NEED(cudaFreeHost(pinned));
}

CASE(copy, waits_for_blocking_streams)
{
    unsigned *word = rt_words(1, 1), value = 0;
    cudaStream_t stream = rt_stream(cudaStreamDefault);
    struct rt_gate gate = rt_gate_close(stream);
    rt_store(stream, word, 9);
    rt_gate_open(gate);
    rt(cudaMemcpy(&value, word, 4, cudaMemcpyDeviceToHost));
    say_int(value);
}

CASE(copy, host_to_host_async)
{
    unsigned char other[16];
    memset(host, 6, 16);
    rt(cudaMemcpyAsync(other, host, 16, cudaMemcpyHostToHost, NULL));
    rt(cudaStreamSynchronize(NULL));
    say_int(other[15]);
}

CASE(copy, peer_same_device)
{
    unsigned char *device = counted(64), *second = rt_alloc(64);
    rt(cudaMemcpyPeer(second, 0, device, 0, 64));
    rt(cudaMemcpy(host, second, 64, cudaMemcpyDeviceToHost));
    say_int(host[63]);
    rt(cudaMemcpyPeerAsync(second, 0, device + 32, 0, 32, NULL));
    rt(cudaMemcpy(host, second, 64, cudaMemcpyDeviceToHost));
    say_int(host[0]);
}

CASE(copy, peer_bad)
{
    unsigned char *device = counted(64), *second = rt_alloc(64);
    rt_noted(cudaMemcpyPeer(second, -1, device, 0, 64));
    rt_noted(cudaMemcpyPeer(second, 0, device, 1 << 20, 64));
    rt_noted(cudaMemcpyPeer(NULL, 0, device, 0, 64));
    rt_noted(cudaMemcpyPeer(second, 0, device, 0, 0));
    rt_noted(cudaMemcpyPeerAsync(second, 0, device, -1, 64, NULL));
}

CASE(copy, batch)
{
    unsigned char *device = counted(64), *second = rt_alloc(64), *third = rt_alloc(64);
    cudaStream_t stream = rt_stream(0);
    void *to[] = {second, third};
    const void *from[] = {device, device + 16};
    size_t sizes[] = {16, 16}, first = 0;
    struct cudaMemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    rt(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    rt(cudaStreamSynchronize(stream));
    rt(cudaMemcpy(host, third, 16, cudaMemcpyDeviceToHost));
    say_int(host[0]);
}

CASE(copy, batch_bad)
{
    unsigned char *device = counted(64), *second = rt_alloc(64);
    cudaStream_t stream = rt_stream(0);
    void *to[] = {second};
    const void *from[] = {device};
    size_t sizes[] = {16}, first = 0, late = 1;
    struct cudaMemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    rt_noted(cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, NULL));
    rt_noted(cudaMemcpyBatchAsync(to, from, sizes, 0, &attributes, &first, 1, stream));
    rt_noted(cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &late, 1, stream));
    rt_noted(cudaMemcpyBatchAsync(to, from, sizes, 1, NULL, NULL, 0, stream));
    rt_noted(cudaMemcpyBatchAsync(NULL, from, sizes, 1, &attributes, &first, 1, stream));
    attributes.srcAccessOrder = (enum cudaMemcpySrcAccessOrder)9;
    rt_noted(cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, stream));
}

/* ---- two dimensions ---- */

CASE(copy2d, rectangle)
{
    unsigned char *device = counted(256);
    rt(cudaMemcpy2D(host, 8, device + 4, 16, 8, 4, cudaMemcpyDeviceToHost));
    say_int(host[0]);
    say_int(host[8]);
    say_int(host[31]);
    say_int(host[32]);
}

CASE(copy2d, nothing)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(host, 8, device, 16, 0, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 8, device, 16, 8, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(NULL, 0, NULL, 0, 0, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2DAsync(host, 8, device, 16, 0, 4, cudaMemcpyDeviceToHost, NULL));
}

CASE(copy2d, pitch_too_small)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(host, 7, device, 16, 8, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 16, device, 7, 8, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 16, device, 0, 8, 1, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2DAsync(host, 7, device, 16, 8, 4, cudaMemcpyDeviceToHost, NULL));
}

/* One row needs no pitch. */
CASE(copy2d, pitch_of_a_single_row)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(host, 7, device, 16, 8, 1, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 16, device, 7, 8, 1, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 0, device, 0, 8, 1, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2DAsync(host, 7, device, 7, 8, 1, cudaMemcpyDeviceToHost, NULL));
    rt_noted(cudaMemcpy2D(host, 7, device, 7, 8, 0, cudaMemcpyDeviceToHost));
    rt(cudaDeviceSynchronize());
}

CASE(copy2d, pitch_too_large)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(host, (size_t)1 << 40, device, 16, 8, 1, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(host, 16, device, (size_t)1 << 40, 8, 1, cudaMemcpyDeviceToHost));
}

CASE(copy2d, direction_unknown)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(host, 16, device, 16, 8, 4, (enum cudaMemcpyKind)9));
}

CASE(copy2d, null)
{
    unsigned char *device = counted(256);
    rt_noted(cudaMemcpy2D(NULL, 16, device, 16, 8, 4, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpy2D(device, 16, NULL, 16, 8, 4, cudaMemcpyHostToDevice));
}

CASE(copy2d, async)
{
    unsigned char *device = counted(256), *second = rt_alloc(256);
    cudaStream_t stream = rt_stream(0);
    rt(cudaMemcpy2DAsync(second, 4, device, 16, 4, 4, cudaMemcpyDeviceToDevice, stream));
    rt(cudaStreamSynchronize(stream));
    rt(cudaMemcpy(host, second, 16, cudaMemcpyDeviceToHost));
    say_int(host[12]);
}

/* ---- three dimensions ---- */

static struct cudaMemcpy3DParms box_of(void *to, size_t to_pitch, void *from, size_t from_pitch,
                                       enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){from, from_pitch, 8, 4};
    box.dstPtr = (struct cudaPitchedPtr){to, to_pitch, 8, 4};
    box.extent = (struct cudaExtent){8, 4, 2};
    box.kind = kind;
    return box;
}

CASE(copy3d, box)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    rt(cudaMemcpy3D(&box));
    say_int(host[8]);
    say_int(host[32]);
    say_int(host[63]);
}

CASE(copy3d, positions)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.srcPos = (struct cudaPos){4, 1, 1};
    box.dstPos = (struct cudaPos){0, 1, 0};
    box.extent = (struct cudaExtent){4, 2, 1};
    rt(cudaMemcpy3D(&box));
    say_int(host[8]);
    say_int(host[16]);
}

CASE(copy3d, nothing)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.extent = (struct cudaExtent){8, 4, 0};
    rt_noted(cudaMemcpy3D(&box));
    box.extent = (struct cudaExtent){0, 4, 2};
    rt_noted(cudaMemcpy3DAsync(&box, NULL));
}

CASE(copy3d, null)
{
    rt_noted(cudaMemcpy3D(NULL));
    rt_noted(cudaMemcpy3DAsync(NULL, NULL));
    rt_noted(cudaMemcpy3DPeer(NULL));
}

CASE(copy3d, no_source)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, NULL, 16, cudaMemcpyDeviceToHost);
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(NULL, 8, device, 16, cudaMemcpyDeviceToHost);
    rt_noted(cudaMemcpy3D(&box));
}

CASE(copy3d, pitch_too_small)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 4, device, 16, cudaMemcpyDeviceToHost);
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(host, 8, device, 4, cudaMemcpyDeviceToHost);
    rt_noted(cudaMemcpy3D(&box));
}

CASE(copy3d, height_too_small)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.srcPtr.ysize = 2;
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.dstPtr.ysize = 0;
    rt_noted(cudaMemcpy3D(&box));
}

CASE(copy3d, height_of_a_single_layer)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.extent.depth = 1;
    box.srcPtr.ysize = 2;
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.extent.depth = 1;
    box.srcPtr.ysize = box.dstPtr.ysize = 0;
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(host, 4, device, 16, cudaMemcpyDeviceToHost);
    box.extent.depth = box.extent.height = 1;
    rt_noted(cudaMemcpy3D(&box));
}

/* A box that begins below the first row needs room for its offset as well. */
CASE(copy3d, height_and_position)
{
    unsigned char *device = counted(1024);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.srcPos.y = 2;
    rt_noted(cudaMemcpy3D(&box));
    box = box_of(host, 8, device, 16, cudaMemcpyDeviceToHost);
    box.srcPos.x = 12;
    rt_noted(cudaMemcpy3D(&box));
}

CASE(copy3d, direction_unknown)
{
    unsigned char *device = counted(256);
    struct cudaMemcpy3DParms box = box_of(host, 8, device, 16, (enum cudaMemcpyKind)9);
    rt_noted(cudaMemcpy3D(&box));
}

/* ---- symbols ---- */

CASE(symbol, copies)
{
    unsigned value = 41, back = 0;
    rt(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyHostToDevice));
    rt(cudaMemcpyFromSymbol(&back, &rt_host_counter, 4, 0, cudaMemcpyDeviceToHost));
    say_int(back);
    value = 7;
    RT_NEED(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyHostToDevice));
}

CASE(symbol, offset)
{
    unsigned values[16], back = 0;
    for (unsigned i = 0; i < 16; i++)
        values[i] = i;
    rt(cudaMemcpyToSymbol(&rt_host_table, values, 64, 0, cudaMemcpyHostToDevice));
    rt(cudaMemcpyFromSymbol(&back, &rt_host_table, 4, 20, cudaMemcpyDeviceToHost));
    say_int(back);
    rt(cudaMemcpyFromSymbolAsync(&back, &rt_host_table, 4, 60, cudaMemcpyDeviceToHost, NULL));
    rt(cudaStreamSynchronize(NULL));
    say_int(back);
}

CASE(symbol, past_the_end)
{
    unsigned values[32] = {0};
    rt_noted(cudaMemcpyToSymbol(&rt_host_table, values, 65, 0, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpyToSymbol(&rt_host_table, values, 4, 61, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpyFromSymbol(values, &rt_host_table, 4, 64, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpyFromSymbol(values, &rt_host_table, 4, ~(size_t)0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpyFromSymbol(values, &rt_host_table, 0, 64, cudaMemcpyDeviceToHost));
}

CASE(symbol, constants)
{
    unsigned values[4] = {0};
    rt(cudaMemcpyFromSymbol(values, &rt_host_constants, 16, 0, cudaMemcpyDeviceToHost));
    say_int(values[3]);
    rt(cudaMemcpyToSymbol(&rt_host_constants, values, 16, 0, cudaMemcpyHostToDevice));
}

CASE(symbol, directions)
{
    unsigned value = 7;
    rt_noted(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyDefault));
    rt_noted(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaMemcpyToSymbol(&rt_host_counter, &value, 4, 0, cudaMemcpyHostToHost));
    rt_noted(cudaMemcpyFromSymbol(&value, &rt_host_counter, 4, 0, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpyFromSymbol(&value, &rt_host_counter, 4, 0, (enum cudaMemcpyKind)9));
    rt_noted(cudaMemcpyFromSymbol(&value, &rt_host_counter, 4, 0, cudaMemcpyDefault));
}

CASE(symbol, unknown)
{
    unsigned value = 0;
    void *address = NULL;
    size_t size = 77;
    rt_noted(cudaMemcpyToSymbol(&rt_host_missing_variable, &value, 4, 0, cudaMemcpyHostToDevice));
    rt_noted(cudaMemcpyFromSymbol(&value, &rt_host_missing_variable, 4, 0, cudaMemcpyDeviceToHost));
    rt_noted(cudaGetSymbolAddress(&address, &rt_host_missing_variable));
    rt_noted(cudaGetSymbolSize(&size, &rt_host_missing_variable));
    say_if("untouched", address == NULL && size == 77);
}

CASE(symbol, null)
{
    unsigned value = 0;
    void *address = NULL;
    size_t size = 77;
    rt_noted(cudaMemcpyToSymbol(NULL, &value, 4, 0, cudaMemcpyHostToDevice));
    rt_noted(cudaGetSymbolAddress(&address, NULL));
    rt_noted(cudaGetSymbolSize(&size, NULL));
}

CASE(symbol, null_source)
{
    rt_noted(cudaMemcpyToSymbol(&rt_host_counter, NULL, 4, 0, cudaMemcpyHostToDevice));
}

CASE(symbol, null_address, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaGetSymbolAddress(NULL, &rt_host_counter));
}

CASE(symbol, null_size, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaGetSymbolSize(NULL, &rt_host_counter));
}

CASE(symbol, kernel_is_none)
{
    void *address = NULL;
    size_t size = 77;
    rt_noted(cudaGetSymbolAddress(&address, &rt_host_store));
    rt_noted(cudaGetSymbolSize(&size, &rt_host_store));
}

CASE(symbol, size_and_address)
{
    void *address = NULL, *again = NULL;
    size_t size = 0;
    rt(cudaGetSymbolAddress(&address, &rt_host_table));
    rt(cudaGetSymbolAddress(&again, &rt_host_table));
    say_if("same", address && address == again);
    rt(cudaGetSymbolSize(&size, &rt_host_table));
    say_int((long long)size);
    rt(cudaGetSymbolSize(&size, &rt_host_constants));
    say_int((long long)size);
}

CASE(symbol, device_address_is_none)
{
    void *address = NULL;
    unsigned value = 0;
    RT_NEED(cudaGetSymbolAddress(&address, &rt_host_table));
    rt_noted(cudaMemcpyToSymbol(address, &value, 4, 0, cudaMemcpyHostToDevice));
}

CASE(symbol, initial_value, .alone = true)
{
    unsigned back = 0;
    rt(cudaMemcpyFromSymbol(&back, &rt_host_counter, 4, 0, cudaMemcpyDeviceToHost));
    say_int(back);
}
