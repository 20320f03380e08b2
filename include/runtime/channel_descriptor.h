/* SPDX-License-Identifier: Apache-2.0 */
/* cudaCreateChannelDesc<T>(): the channels of an element type. C++ only. */
#ifndef MILLRACE_CHANNEL_DESCRIPTOR_H
#define MILLRACE_CHANNEL_DESCRIPTOR_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus

/* Channels of `bits` bits each, as many as T has. */
#define MR_CHANNELS(T, x, y, z, w, kind) \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() { return cudaCreateChannelDesc(x, y, z, w, kind); }
#define MR_CHANNELS_ALL(T, name, bits, kind)                \
    MR_CHANNELS(T, bits, 0, 0, 0, kind)                     \
    MR_CHANNELS(name##1, bits, 0, 0, 0, kind)               \
    MR_CHANNELS(name##2, bits, bits, 0, 0, kind)            \
    MR_CHANNELS(name##3, bits, bits, bits, 0, kind)         \
    MR_CHANNELS(name##4, bits, bits, bits, bits, kind)

/* A type that is no channel type gives a descriptor of no channels. */
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() { return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone); }
MR_CHANNELS(char, 8, 0, 0, 0, cudaChannelFormatKindSigned)
MR_CHANNELS_ALL(signed char, char, 8, cudaChannelFormatKindSigned)
MR_CHANNELS_ALL(unsigned char, uchar, 8, cudaChannelFormatKindUnsigned)
MR_CHANNELS_ALL(short, short, 16, cudaChannelFormatKindSigned)
MR_CHANNELS_ALL(unsigned short, ushort, 16, cudaChannelFormatKindUnsigned)
MR_CHANNELS_ALL(int, int, 32, cudaChannelFormatKindSigned)
MR_CHANNELS_ALL(unsigned int, uint, 32, cudaChannelFormatKindUnsigned)
MR_CHANNELS_ALL(float, float, 32, cudaChannelFormatKindFloat)
#undef MR_CHANNELS
#undef MR_CHANNELS_ALL

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat); }

#endif
#endif
