/* SPDX-License-Identifier: Apache-2.0 */
/* The SIMD intrinsics of the device headers against their definitions in C, found by name; and, by a hash of all
 * results of each, against an NVIDIA H200 (simd_h200.txt). */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simd_inputs.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

enum kind { KIND_ONE, KIND_TWO, KIND_THREE, KIND_SIDE, KIND_SIDES, KIND_int, KIND_unsigned };
static const struct function {
    const char *name;
    enum kind kind;
} functions[] = {
#define ONE(name) {#name, KIND_ONE},
#define TWO(name) {#name, KIND_TWO},
#define THREE(name) {#name, KIND_THREE},
#define SIDE(name) {#name, KIND_SIDE},
#define SIDES(name) {#name, KIND_SIDES},
#define DOT(name, type) {#name, KIND_##type},
#include "simd_functions.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Part i, of `bits` bits. */
static int64_t part(unsigned word, int bits, int i, bool is_signed)
{
    int64_t value = (int64_t)((uint64_t)word >> (bits * i) & ((1ull << bits) - 1));
    return is_signed && value >> (bits - 1) ? value - (1ll << bits) : value;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}
static bool has(const char *text, const char *part_of_it)
{
    return strstr(text, part_of_it) != NULL;
}

static bool compare(const char *how, int64_t x, int64_t y)
{
    return strncmp(how, "eq", 2) == 0   ? x == y
           : strncmp(how, "ne", 2) == 0 ? x != y
           : strncmp(how, "ge", 2) == 0 ? x >= y
           : strncmp(how, "gt", 2) == 0 ? x > y
           : strncmp(how, "le", 2) == 0 ? x <= y
                                        : x < y;
}

/* __v<what><s or u, or saturation><2 or 4> of one part. */
static int64_t old_style(const char *what, int bits, int64_t x, int64_t y)
{
    int64_t top = 1ll << bits, half = top / 2;
    if (strncmp(what, "cmp", 3) == 0)
        return compare(what + 3, x, y) ? -1 : 0;
    if (strncmp(what, "set", 3) == 0)
        return compare(what + 3, x, y);
    if (has(what, "absdiff") || has(what, "sad"))
        return llabs(x - y);
    if (has(what, "max") || has(what, "min"))
        return has(what, "max") == (x > y) ? x : y;
    if (has(what, "avgs"))   /* to nearest, a half away from zero */
        return x + y >= 0 ? (x + y + 1) / 2 : -((1 - (x + y)) / 2);
    if (has(what, "avgu") || has(what, "hadd"))
        return (x + y + has(what, "avg")) / 2;
    int64_t value = has(what, "abs") ? llabs(x) : has(what, "neg") ? -x : has(what, "add") ? x + y : x - y;
    return has(what, "ss") ? clamp(value, -half, half - 1) : has(what, "us") ? clamp(value, 0, top - 1) : value;
}

/* __vi…: extremes with 32 bits or twice 16. */
static int64_t new_style(const char *name, int bits, bool is_signed, int64_t x, int64_t y, int64_t z)
{
    bool most = has(name, "max");
    if (has(name, "add"))
        x = part((unsigned)(uint64_t)(x + y), bits, 0, is_signed), y = z;
    int64_t value = most == (x > y) ? x : y;
    if (has(name, "max3") || has(name, "min3"))
        value = most == (value > z) ? value : z;
    return has(name, "relu") && value < 0 ? 0 : value;
}

static unsigned right_answer(const struct function *function, unsigned a, unsigned b, unsigned c)
{
    const char *name = function->name;
    uint64_t result = 0;
    if (function->kind >= KIND_int) {
        bool is_signed = function->kind == KIND_int, four = has(name, "4a");
        for (int i = 0; i < (four ? 4 : 2); i++)
            result +=
                (uint64_t)(part(a, four ? 8 : 16, i, is_signed) * part(b, 8, i + (has(name, "hi") ? 2 : 0), is_signed));
        return (unsigned)(result + c);
    }
    bool newer = strncmp(name, "__vi", 4) == 0, sides = function->kind == KIND_SIDE || function->kind == KIND_SIDES;
    int bits = newer ? has(name, "x2") ? 16 : 32 : name[strlen(name) - 1] == '2' ? 16 : 8;
    size_t length = strlen(name);
    bool is_signed = newer ? has(name, "_s") : !(name[length - 2] == 'u' || has(name, "us"));
    for (int i = 0; i < 32 / bits; i++) {
        int64_t x = part(a, bits, i, is_signed), y = part(b, bits, i, is_signed), z = part(c, bits, i, is_signed);
        int64_t value = newer ? new_style(name, bits, is_signed, x, y, z) : old_style(name + 3, bits, x, y);
        if (has(name, "sad"))
            result += (uint64_t)value;
        else
            result |= ((uint64_t)value & ((1ull << bits) - 1)) << (bits * i);
    }
    for (int i = 0; sides && i < 32 / bits; i++) {
        int64_t x = part(a, bits, i, is_signed), y = part(b, bits, i, is_signed);
        if (has(name, "max") ? x >= y : x <= y)
            result ^= i == 0 && bits == 16 ? 0xa1b2c3d4u : 0x5a5a5a5au;
    }
    return (unsigned)result;
}

static void all(void **state)
{
    static unsigned in[SIMD_WORDS], out[FUNCTIONS][SIMD_WORDS];
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr input, output;
    int n = SIMD_WORDS;
    (void)state;
    simd_inputs(in);
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuModuleLoad(&module, getenv("DEVICE_SIMD_PTX")));
    OK(cuModuleGetFunction(&function, module, "simd"));
    OK(cuMemAlloc(&input, sizeof in));
    OK(cuMemAlloc(&output, sizeof out));
    OK(cuMemcpyHtoD(input, in, sizeof in));
    OK(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, NULL, (void *[]){&output, &input, &n}, NULL));
    OK(cuMemcpyDtoH(out, output, sizeof out));
    OK(cuCtxDestroy(context));
    for (int f = 0; f < FUNCTIONS; f++)
        for (int i = 0; i < n; i++) {
            unsigned a = in[i], b = in[(i * 7 + 3) % n], c = in[(i * 13 + 5) % n],
                     right = right_answer(&functions[f], a, b, c);
            if (out[f][i] != right)
                fail_msg("%s of %08x, %08x, %08x is %08x, must be %08x", functions[f].name, a, b, c, out[f][i], right);
        }
    FILE *file = fopen(getenv("DEVICE_SIMD_H200"), "r");
    assert_non_null(file);
    unsigned hash;
    for (int f = 0; f < FUNCTIONS; f++) {
        char name[80];
        assert_int_equal(fscanf(file, "%79s %x", name, &hash), 2);
        assert_string_equal(name, functions[f].name);
        if (hash != simd_hash(out[f]))
            fail_msg("%s differs from the H200", name);
    }
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
