/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of NCCL stand on. */
#include "nc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nc(ncclResult_t status)
{
    static const char *const names[] = {"Success",         "UnhandledCudaError", "SystemError", "InternalError",
                                        "InvalidArgument", "InvalidUsage",       "RemoteError", "InProgress"};
    if ((unsigned)status < sizeof names / sizeof *names)
        say_text(names[status]);
    else
        say_value("status", (long long)status);
}

void nc_need(ncclResult_t status, const char *what)
{
    char text[300];
    if (status == ncclSuccess)
        return;
    snprintf(text, sizeof text, "%s status %d", what, (int)status);
    gold_stop(text);
}

ncclComm_t nc_alone(void)
{
    static ncclComm_t comm;
    if (!comm)
        NC_NEED(ncclCommInitAll(&comm, 1, NULL));
    return comm;
}

struct nc_pair *nc_pair(void)
{
    static struct nc_pair pair;
    if (!pair.comm[0]) {
        NC_NEED(ncclCommInitAll(pair.comm, 2, NULL));
        for (int i = 0; i < 2; i++) {
            RT_NEED(cudaSetDevice(i));
            RT_NEED(cudaStreamCreateWithFlags(&pair.stream[i], cudaStreamNonBlocking));
        }
        RT_NEED(cudaSetDevice(0));
    }
    return &pair;
}

size_t nc_size(ncclDataType_t type)
{
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return sizes[type];
}

/* Small floats by their bits: `exponent` and `mantissa` bits. Exact for the small whole numbers that cases use. */
static unsigned pack(double value, int exponent, int mantissa)
{
    unsigned sign = value < 0 ? 1u << (exponent + mantissa) : 0;
    double rest = value < 0 ? -value : value;
    int power = 0;
    if (rest == 0)
        return sign;
    for (; rest >= 2; rest /= 2)
        power++;
    for (; rest < 1; rest *= 2)
        power--;
    int bias = (1 << (exponent - 1)) - 1;
    return sign | (unsigned)(power + bias) << mantissa | (unsigned)((rest - 1) * (1 << mantissa) + 0.5);
}

static double unpack(unsigned bits, int exponent, int mantissa)
{
    double value = 1 + (double)(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
    int power = (int)(bits >> mantissa & ((1u << exponent) - 1)), bias = (1 << (exponent - 1)) - 1;
    if (power == 0)
        return 0; /* no case has a subnormal number */
    for (; power > bias; power--)
        value *= 2;
    for (; power < bias; power++)
        value /= 2;
    return bits >> (exponent + mantissa) & 1 ? -value : value;
}

static void put(ncclDataType_t type, void *at, double value)
{
#define PUT(c, v) \
    do { \
        c put_ = (c)(v); \
        memcpy(at, &put_, sizeof put_); \
    } while (0)
    switch ((int)type) {
    case ncclInt8:
        PUT(int8_t, value);
        break;
    case ncclUint8:
        PUT(uint8_t, value);
        break;
    case ncclInt32:
        PUT(int32_t, value);
        break;
    case ncclUint32:
        PUT(uint32_t, value);
        break;
    case ncclInt64:
        PUT(int64_t, value);
        break;
    case ncclUint64:
        PUT(uint64_t, value);
        break;
    case ncclFloat32:
        PUT(float, value);
        break;
    case ncclFloat64:
        PUT(double, value);
        break;
    case ncclFloat16:
        PUT(uint16_t, pack(value, 5, 10));
        break;
    case ncclBfloat16:
        PUT(uint16_t, pack(value, 8, 7));
        break;
    case ncclFloat8e4m3:
        PUT(uint8_t, pack(value, 4, 3));
        break;
    case ncclFloat8e5m2:
        PUT(uint8_t, pack(value, 5, 2));
        break;
    default:
        gold_stop("no such type");
    }
#undef PUT
}

static double get(ncclDataType_t type, const void *at)
{
    union {
        int8_t i8;
        uint8_t u8;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
    } both;
    memcpy(&both, at, nc_size(type));
    switch ((int)type) {
    case ncclInt8:
        return both.i8;
    case ncclUint8:
        return both.u8;
    case ncclInt32:
        return both.i32;
    case ncclUint32:
        return both.u32;
    case ncclInt64:
        return (double)both.i64;
    case ncclUint64:
        return (double)both.u64;
    case ncclFloat32:
        return (double)both.f32;
    case ncclFloat64:
        return both.f64;
    case ncclFloat16:
        return unpack(both.u16, 5, 10);
    case ncclBfloat16:
        return unpack(both.u16, 8, 7);
    case ncclFloat8e4m3:
        return unpack(both.u8, 4, 3);
    default:
        return unpack(both.u8, 5, 2);
    }
}

void *nc_fill(ncclDataType_t type, size_t count, int first, int step)
{
    char *host = calloc(count + 1, nc_size(type));
    void *at = rt_alloc((count + 1) * nc_size(type));
    for (size_t i = 0; i < count; i++)
        put(type, host + i * nc_size(type), first + (double)i * step);
    RT_NEED(cudaMemcpy(at, host, count * nc_size(type), cudaMemcpyHostToDevice));
    RT_NEED(cudaDeviceSynchronize());
    free(host);
    return at;
}

void nc_say(ncclDataType_t type, const void *at, size_t count)
{
    char *host = calloc(count + 1, nc_size(type)), text[64];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * nc_size(type), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.10g", get(type, host + i * nc_size(type)));
        say_text(text);
    }
    free(host);
}
