/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in one, two and three dimensions. */
#include "rt.h"

#include <string.h>

CASE(fill, bytes)
{
    unsigned *word = rt_words(2, 0);
    rt(cudaMemset(word, 0x1ab, 4)); /* the low byte counts */
    say_hex(rt_word(word));
    say_hex(rt_word(word + 1));
}

CASE(fill, negative_value)
{
    unsigned *word = rt_words(1, 0);
    rt(cudaMemset(word, -2, 4));
    say_hex(rt_word(word));
}

CASE(fill, nothing)
{
    rt_noted(cudaMemset(rt_alloc(4), 0, 0));
    rt_noted(cudaMemset(NULL, 0, 0));
    rt_noted(cudaMemsetAsync(NULL, 0, 0, NULL));
}

CASE(fill, null)
{
    rt_noted(cudaMemset(NULL, 0, 4));
    rt_noted(cudaMemsetAsync(NULL, 0, 4, NULL));
}

CASE(fill, past_the_end)
{
    char *memory = rt_alloc(64);
    rt_noted(cudaMemset(memory + ((size_t)1 << 45), 0, 4));
    rt_noted(cudaMemset(memory, 0, (size_t)1 << 45));
}

CASE(fill, pageable, .alone = true)
{
    static unsigned char local[64];
    rt_noted(cudaMemset(local, 1, 64));
}

CASE(fill, pinned)
{
    unsigned char *memory;
    RT_NEED(cudaMallocHost((void **)&memory, 64));
    rt(cudaMemset(memory, 9, 64));
    rt(cudaDeviceSynchronize());
    say_int(memory[63]);
    RT_NEED(cudaFreeHost(memory));
}

CASE(fill, managed)
{
    unsigned char *memory;
    RT_NEED(cudaMallocManaged((void **)&memory, 64, cudaMemAttachGlobal));
    rt(cudaMemset(memory, 9, 64));
    rt(cudaDeviceSynchronize());
    say_int(memory[63]);
    RT_NEED(cudaFree(memory));
}

CASE(fill, async_in_order)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    unsigned *word = rt_words(1, 0);
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaMemsetAsync(word, 1, 4, stream));
    rt_add(stream, word, 1);
    rt(cudaStreamQuery(stream));
    rt_gate_open(gate);
    rt(cudaStreamSynchronize(stream));
    say_hex(rt_word(word));
}

CASE(fill2d, rectangle)
{
    unsigned *words = rt_words(16, 0);
    rt(cudaMemset2D(words, 16, 0xff, 4, 3));
    say_hex(rt_word(words + 4));
    say_hex(rt_word(words + 5));
    say_hex(rt_word(words + 8));
    say_hex(rt_word(words + 12));
}

CASE(fill2d, nothing)
{
    rt_noted(cudaMemset2D(rt_alloc(64), 16, 0, 0, 3));
    rt_noted(cudaMemset2D(rt_alloc(64), 16, 0, 4, 0));
    rt_noted(cudaMemset2D(NULL, 0, 0, 0, 0));
}

CASE(fill2d, pitch_too_small)
{
    rt_noted(cudaMemset2D(rt_alloc(64), 3, 0, 4, 3));
    rt_noted(cudaMemset2D(rt_alloc(64), 0, 0, 4, 3));
    rt_noted(cudaMemset2D(rt_alloc(64), 3, 0, 4, 1));
    rt_noted(cudaMemset2DAsync(rt_alloc(64), 3, 0, 4, 3, NULL));
}

CASE(fill2d, null)
{
    rt_noted(cudaMemset2D(NULL, 16, 0, 4, 3));
}

CASE(fill3d, box)
{
    unsigned *words = rt_words(32, 0);
    struct cudaPitchedPtr box = {words, 16, 16, 4};
    rt(cudaMemset3D(box, 0xff, (struct cudaExtent){4, 2, 2}));
    say_hex(rt_word(words + 4));
    say_hex(rt_word(words + 8));
    say_hex(rt_word(words + 16));
    say_hex(rt_word(words + 24));
}

CASE(fill3d, nothing)
{
    struct cudaPitchedPtr box = {rt_alloc(128), 16, 16, 4};
    rt_noted(cudaMemset3D(box, 0, (struct cudaExtent){0, 2, 2}));
    rt_noted(cudaMemset3D(box, 0, (struct cudaExtent){4, 0, 2}));
    rt_noted(cudaMemset3DAsync(box, 0, (struct cudaExtent){4, 2, 0}, NULL));
}

CASE(fill3d, too_wide)
{
    struct cudaPitchedPtr box = {rt_alloc(128), 16, 16, 4};
    rt_noted(cudaMemset3D(box, 0, (struct cudaExtent){17, 2, 2}));
    rt_noted(cudaMemset3D(box, 0, (struct cudaExtent){16, 5, 2}));
    box.ptr = NULL;
    rt_noted(cudaMemset3D(box, 0, (struct cudaExtent){4, 2, 2}));
}
