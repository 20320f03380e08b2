/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions, without branches where that lets the compiler use vectors. Floats of 8 bits go by a table one way, and
 * by the nearest entry of it the other way. */
#include "libs/math/convert.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "libs/math/half.h"

unsigned mr_element_size(cudaDataType_t type)
{
    switch ((int)type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
        return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_C_16F:
    case CUDA_C_16BF:
        return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
        return 8;
    case CUDA_C_64F:
        return 16;
    default:
        return 0;
    }
}

bool mr_element_is_complex(cudaDataType_t type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_8I;
}

/* The type of a complex one's halves. */
static cudaDataType_t real_of(cudaDataType_t type)
{
    switch ((int)type) {
    case CUDA_C_32F:
        return CUDA_R_32F;
    case CUDA_C_64F:
        return CUDA_R_64F;
    case CUDA_C_16F:
        return CUDA_R_16F;
    case CUDA_C_16BF:
        return CUDA_R_16BF;
    case CUDA_C_8I:
        return CUDA_R_8I;
    default:
        return type;
    }
}

/* ---- floats of 8 bits ---- */

static float e4m3[256], e5m2[256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static float small_value(unsigned bits, unsigned mantissa, int bias, bool has_infinity)
{
    unsigned fraction = bits & ((1u << mantissa) - 1), exponent = (bits & 0x7f) >> mantissa;
    unsigned top = (1u << (7 - mantissa)) - 1;
    float value = exponent == 0 ? ldexpf((float)fraction, 1 - bias - (int)mantissa)
                                : ldexpf((float)(fraction + (1u << mantissa)), (int)exponent - bias - (int)mantissa);
    if (exponent == top && has_infinity)
        value = fraction ? NAN : INFINITY;
    else if ((bits & 0x7f) == 0x7f)
        value = NAN;
    return bits & 0x80 ? -value : value;
}

static void make_tables(void)
{
    for (unsigned i = 0; i < 256; i++) {
        e4m3[i] = small_value(i, 3, 7, false);
        e5m2[i] = small_value(i, 2, 15, true);
    }
}

/* The nearest entry, the even one of two that are as near. Larger numbers become the largest entry. */
static uint8_t float_to_small(const float *table, unsigned largest, float value)
{
    unsigned sign = signbit(value) ? 0x80 : 0;
    float wanted = fabsf(value);
    if (isnan(value))
        return (uint8_t)(sign | 0x7f);
    unsigned low = 0, high = largest;
    if (wanted >= table[largest])
        return (uint8_t)(sign | largest);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (table[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    float below = wanted - table[low], above = table[high] - wanted;
    unsigned nearest = below < above || (below == above && low % 2 == 0) ? low : high;
    return (uint8_t)(sign | nearest);
}

/* ---- runs of elements ---- */

#define LOAD(element, convert) \
    do { \
        const element *in = from; \
        if (wide) \
            for (int64_t i = 0; i < count; i++) \
                ((double *)to)[i] = (double)convert(in[i]); \
        else \
            for (int64_t i = 0; i < count; i++) \
                ((float *)to)[i] = (float)convert(in[i]); \
    } while (0)

#define FROM_E4M3(value) e4m3[value]
#define FROM_E5M2(value) e5m2[value]
#define AS_IT_IS(value) (value)

static void load_run(cudaDataType_t type, const void *from, int64_t count, bool wide, void *to)
{
    switch ((int)type) {
    case CUDA_R_16F:
        LOAD(uint16_t, mr_half_to_float);
        break;
    case CUDA_R_16BF:
        LOAD(uint16_t, mr_bfloat_to_float);
        break;
    case CUDA_R_32F:
        LOAD(float, AS_IT_IS);
        break;
    case CUDA_R_64F:
        LOAD(double, AS_IT_IS);
        break;
    case CUDA_R_8I:
        LOAD(int8_t, AS_IT_IS);
        break;
    case CUDA_R_8U:
        LOAD(uint8_t, AS_IT_IS);
        break;
    case CUDA_R_32I:
        LOAD(int32_t, AS_IT_IS);
        break;
    case CUDA_R_8F_E4M3:
        LOAD(uint8_t, FROM_E4M3);
        break;
    case CUDA_R_8F_E5M2:
        LOAD(uint8_t, FROM_E5M2);
        break;
    default:
        break;
    }
}

#define STORE(element, convert) \
    do { \
        element *out = to; \
        if (wide) \
            for (int64_t i = 0; i < count; i++) \
                out[i] = (element)convert(((const double *)from)[i]); \
        else \
            for (int64_t i = 0; i < count; i++) \
                out[i] = (element)convert(((const float *)from)[i]); \
    } while (0)

static inline double limited(double value, double low, double high)
{
    return value < low ? low : value > high ? high : rint(value);
}

#define TO_HALF(value) mr_float_to_half((float)(value))
#define TO_BFLOAT(value) mr_float_to_bfloat((float)(value))
#define TO_I8(value) limited((double)(value), -128, 127)
#define TO_U8(value) limited((double)(value), 0, 255)
/* A sum of products of integers wraps as the hardware's does. */
#define TO_I32(value) (uint32_t)(int64_t)(value)
#define TO_E4M3(value) float_to_small(e4m3, 0x7e, (float)(value))
#define TO_E5M2(value) float_to_small(e5m2, 0x7b, (float)(value))

static void store_run(cudaDataType_t type, void *to, int64_t count, bool wide, const void *from)
{
    switch ((int)type) {
    case CUDA_R_16F:
        STORE(uint16_t, TO_HALF);
        break;
    case CUDA_R_16BF:
        STORE(uint16_t, TO_BFLOAT);
        break;
    case CUDA_R_32F:
        STORE(float, AS_IT_IS);
        break;
    case CUDA_R_64F:
        STORE(double, AS_IT_IS);
        break;
    case CUDA_R_8I:
        STORE(int8_t, TO_I8);
        break;
    case CUDA_R_8U:
        STORE(uint8_t, TO_U8);
        break;
    case CUDA_R_32I:
        STORE(int32_t, TO_I32);
        break;
    case CUDA_R_8F_E4M3:
        STORE(uint8_t, TO_E4M3);
        break;
    case CUDA_R_8F_E5M2:
        STORE(uint8_t, TO_E5M2);
        break;
    default:
        break;
    }
}

void mr_load(cudaDataType_t type, const void *from, int64_t ld, int64_t rows, int64_t columns, bool wide, void *to)
{
    pthread_once(&tables_once, make_tables);
    int64_t count = mr_element_is_complex(type) ? 2 * rows : rows;
    int64_t step = ld * mr_element_size(type); /* may go backwards */
    size_t out = (size_t)count * (wide ? sizeof(double) : sizeof(float));
    for (int64_t j = 0; j < columns; j++)
        load_run(real_of(type), (const char *)from + j * step, count, wide, (char *)to + (size_t)j * out);
}

void mr_store(cudaDataType_t type, void *to, int64_t ld, int64_t rows, int64_t columns, bool wide, const void *from)
{
    pthread_once(&tables_once, make_tables);
    int64_t count = mr_element_is_complex(type) ? 2 * rows : rows;
    int64_t step = ld * mr_element_size(type);
    size_t in = (size_t)count * (wide ? sizeof(double) : sizeof(float));
    for (int64_t j = 0; j < columns; j++)
        store_run(real_of(type), (char *)to + j * step, count, wide, (const char *)from + (size_t)j * in);
}

double mr_load_one(cudaDataType_t type, const void *from)
{
    double value = 0;
    pthread_once(&tables_once, make_tables);
    load_run(real_of(type), from, 1, true, &value);
    return value;
}
