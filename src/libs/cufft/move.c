/* SPDX-License-Identifier: Apache-2.0 */
/* Most elements are moved as they are, in units of 4, 8 or 16 bytes; the others are converted one by one. */
#include "libs/cufft/move.h"

#include <string.h>

#include "libs/math/convert.h"
#include "libs/math/half.h"

/* A grid of units: `n` along a line, `lines` across. Lines are taken eight at a time; of these, all units at
 * one place of their lines come before those at the next place. */
#define MOVE_UNITS(bytes) \
    static void move_##bytes(char *to, int64_t to_next, int64_t to_line, const char *from, int64_t from_next, \
                             int64_t from_line, int64_t n, int64_t lines) \
    { \
        for (int64_t l = 0; l < lines; l += 8) { \
            int64_t some = lines - l < 8 ? lines - l : 8; \
            char *to_here = to + l * to_line; \
            const char *from_here = from + l * from_line; \
            if (some == 8) { \
                for (int64_t i = 0; i < n; i++, to_here += to_next, from_here += from_next) \
                    for (int k = 0; k < 8; k++) \
                        memcpy(to_here + k * to_line, from_here + k * from_line, bytes); \
            } else { \
                for (int64_t i = 0; i < n; i++, to_here += to_next, from_here += from_next) \
                    for (int64_t k = 0; k < some; k++) \
                        memcpy(to_here + k * to_line, from_here + k * from_line, bytes); \
            } \
        } \
    }
MOVE_UNITS(4)
MOVE_UNITS(8)
MOVE_UNITS(16)

static void move_units(int64_t bytes, char *to, int64_t to_next, int64_t to_line, const char *from, int64_t from_next,
                       int64_t from_line, int64_t n, int64_t lines)
{
    if (to_next == bytes && from_next == bytes) {
        for (int64_t l = 0; l < lines; l++)
            memcpy(to + l * to_line, from + l * from_line, (size_t)(n * bytes));
    } else if (bytes == 4) {
        move_4(to, to_next, to_line, from, from_next, from_line, n, lines);
    } else if (bytes == 8) {
        move_8(to, to_next, to_line, from, from_next, from_line, n, lines);
    } else {
        move_16(to, to_next, to_line, from, from_next, from_line, n, lines);
    }
}

static bool is_plain(const struct mr_move *move)
{
    switch ((int)move->type) {
    case CUDA_R_32F:
    case CUDA_R_64F:
        return true;
    case CUDA_C_32F:
        return move->gap == 4;
    case CUDA_C_64F:
        return move->gap == 8;
    default:
        return false;
    }
}

static float load_float(cudaDataType type, const char *at)
{
    float value;
    uint16_t bits;
    if (type == CUDA_R_32F || type == CUDA_C_32F) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    memcpy(&bits, at, sizeof bits);
    return type == CUDA_R_16F || type == CUDA_C_16F ? mr_half_to_float(bits) : mr_bfloat_to_float(bits);
}

static void store_float(cudaDataType type, char *at, float value)
{
    if (type == CUDA_R_32F || type == CUDA_C_32F) {
        memcpy(at, &value, sizeof value);
        return;
    }
    uint16_t bits = type == CUDA_R_16F || type == CUDA_C_16F ? mr_float_to_half(value) : mr_float_to_bfloat(value);
    memcpy(at, &bits, sizeof bits);
}

static bool is_wide(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_C_64F;
}

/* Element by element: `parts` numbers each. */
static void convert_in(const struct mr_move *move, const char *line, void *scratch, int parts)
{
    for (int64_t i = 0; i < move->n; i++)
        for (int p = 0; p < parts; p++) {
            const char *at = line + i * move->stride + p * move->gap;
            if (is_wide(move->type))
                memcpy((double *)scratch + i * parts + p, at, sizeof(double));
            else
                ((float *)scratch)[i * parts + p] = load_float(move->type, at);
        }
}

static void convert_out(const struct mr_move *move, char *line, const void *scratch, int parts)
{
    for (int64_t i = 0; i < move->n; i++)
        for (int p = 0; p < parts; p++) {
            char *at = line + i * move->stride + p * move->gap;
            if (is_wide(move->type))
                memcpy(at, (const double *)scratch + i * parts + p, sizeof(double));
            else
                store_float(move->type, at, ((const float *)scratch)[i * parts + p]);
        }
}

int64_t mr_move_bytes(cudaDataType type)
{
    return (is_wide(type) ? 8 : 4) * (mr_element_is_complex(type) ? 2 : 1);
}

void mr_move_in(const struct mr_move *move, const char *memory, void *scratch, int64_t room)
{
    int64_t bytes = mr_move_bytes(move->type);
    if (is_plain(move)) {
        move_units(bytes, scratch, bytes, room * bytes, memory, move->stride, move->apart, move->n, move->lines);
        return;
    }
    for (int64_t l = 0; l < move->lines; l++)
        convert_in(move, memory + l * move->apart, (char *)scratch + l * room * bytes,
                   mr_element_is_complex(move->type) ? 2 : 1);
}

void mr_move_out(const struct mr_move *move, char *memory, const void *scratch, int64_t room)
{
    int64_t bytes = mr_move_bytes(move->type);
    if (is_plain(move)) {
        move_units(bytes, memory, move->stride, move->apart, scratch, bytes, room * bytes, move->n, move->lines);
        return;
    }
    for (int64_t l = 0; l < move->lines; l++)
        convert_out(move, memory + l * move->apart, (const char *)scratch + l * room * bytes,
                    mr_element_is_complex(move->type) ? 2 : 1);
}

void mr_move_load(cudaDataType type, const char *at, int64_t gap, double out[2])
{
    for (int p = 0; p < 2; p++)
        if (is_wide(type))
            memcpy(&out[p], at + p * gap, sizeof(double));
        else
            out[p] = load_float(type, at + p * gap);
}

void mr_move_store(cudaDataType type, char *at, int64_t gap, const double in[2])
{
    for (int p = 0; p < 2; p++)
        if (is_wide(type))
            memcpy(at + p * gap, &in[p], sizeof(double));
        else
            store_float(type, at + p * gap, (float)in[p]);
}
