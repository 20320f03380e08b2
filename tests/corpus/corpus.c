/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every kernel of PTX files of the corpus, and prints what came out.
 *
 *     corpus [--level L] [--values] [--only NAME] FILE.ptx…
 *
 * --level   how much the driver's compiler shall optimise, 0 to 4 (by default 4); -: not said, as by most programs
 * --values  print the results of kernels whose results may differ within a bound (approx_…, math_…)
 * --only    run this kernel alone, and dump its results
 *
 * A line per kernel: the file's name without its end, the kernel, a hash of results and scratch memory, and with
 * --values the results in hexadecimal.  A kernel that fails has "status N" in place of the hash; the next one starts in
 * a new context.
 *
 * It uses nothing but cuda.h, so that the same source runs on NVIDIA's driver.  Ends with 0, or 2 if there is no
 * driver.
 */
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus_data.h"

enum { NAME_MAX = 120, RESULTS = CORPUS_THREADS * CORPUS_RESULT, SCRATCH = CORPUS_SCRATCH * 4 };

#define UNSAID UINT32_MAX
struct options {
    unsigned level;
    bool values;
    const char *only;
};

struct device {
    CUdevice device;
    CUcontext context;
    CUdeviceptr in, out, scratch;
};

static struct corpus_input input;
static unsigned char results[RESULTS], scratch[SCRATCH];

/* ---- Operands ---- */

static const uint64_t edges_i64[32] = {0,
                                       1,
                                       2,
                                       3,
                                       5,
                                       7,
                                       10,
                                       31,
                                       32,
                                       33,
                                       63,
                                       64,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x100,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x10000,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x100000000,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       0xffffffffffffffff,
                                       0xfffffffffffffffe,
                                       0x5555555555555555,
                                       0xaaaaaaaaaaaaaaaa,
                                       0x0123456789abcdef,
                                       0xffffffff80000000};
static const uint32_t edges_i32[32] = {
    0,          1,          2,          3,          5,          7,          10,         31,
    32,         33,         63,         64,         0x7f,       0x80,       0xff,       0x100,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
    0x80000001, 0x55555555, 0xaaaaaaaa, 0x01234567, 0xffff8000, 0xffffff80, 0x00ff00ff, 0x12340000};
static const uint16_t edges_i16[32] = {0,      1,      2,      3,      5,      7,      10,     15,
                                       16,     17,     31,     32,     0x7f,   0x80,   0xff,   0x100,
                                       0x7fff, 0x8000, 0xffff, 0xfffe, 0x8001, 0x5555, 0xaaaa, 0x0123,
                                       0xff80, 0xff7f, 0x00f0, 0x0f00, 0x4000, 0xc000, 0x3fff, 0xbfff};
static const uint8_t edges_i8[32] = {0,    1,    2,    3,    5,    7,    8,    9,    10,   15,   16,
                                     17,   31,   32,   33,   63,   64,   65,   0x7e, 0x7f, 0x80, 0x81,
                                     0xff, 0xfe, 0x55, 0xaa, 0xc0, 0xbf, 0xf0, 0x0f, 100,  200};
/* Zeros, subnormal and least normal numbers, halves (ties), limits of the integers, the largest, infinities, NaNs. */
static const uint32_t edges_f32[32] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x40490fdb, 0x33800000,
    0x477fe000, 0x477ff000, 0x43e00000, 0x43f00001, 0x4b800001, 0x4f000000, 0x4effffff, 0xcf000001,
    0x4f800000, 0x5f000000, 0x5f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fffffff, 0x3eaaaaab};
static const uint64_t edges_f64[32] = {0,
                                       0x8000000000000000,
                                       1,
                                       0x8000000000000001,
                                       0x000fffffffffffff,
                                       0x0010000000000000,
                                       0x8010000000000000,
                                       0x3ff0000000000000,
                                       0xbff0000000000000,
                                       0x3fe0000000000000,
                                       0x3ff8000000000000,
                                       0x4004000000000000,
                                       0xc004000000000000,
                                       0x400921fb54442d18,
                                       0x380fffffffffffff,
                                       0x36a0000000000000,
                                       0x369fffffffffffff,
                                       0x47efffffe0000000,
                                       0x47effffff0000000,
                                       0x41dfffffffc00000,
                                       0x41e0000000000000,
                                       0xc1e0000000200000,
                                       0x41efffffffe00000,
                                       0x43e0000000000000,
                                       0x43efffffffffffff,
                                       0xc3e0000000000001,
                                       0x40effc0000000000,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x3fd5555555555555};
static const uint16_t edges_f16[32] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                       0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0xc100, 0x4248, 0x5bff,
                                       0x5f00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7fff, 0x3555, 0x6800,
                                       0x77ff, 0x7800, 0x2e66, 0x1400, 0x57f8, 0x5800, 0xd804, 0x3bff};
static const uint16_t edges_bf16[32] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080,
                                        0x3f80, 0xbf80, 0x3f00, 0x3fc0, 0x4020, 0xc020, 0x4049, 0x3380,
                                        0x477f, 0x43e0, 0x43f0, 0x4b80, 0x4f00, 0x4eff, 0xcf00, 0x4f80,
                                        0x5f00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fff, 0x3eab, 0x0200};

static uint64_t noise_state;

static uint64_t noise(void)
{
    uint64_t z = (noise_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Which edge value an operand of a thread takes: pairs meet in the first 1024 threads, the third goes its own way. */
static int edge_of(int operand, int i)
{
    return operand == 0 ? i % 32 : operand == 1 ? i / 32 % 32 : (i * 7 + i / 32 * 3) % 32;
}

/* Bits of a float that is neither NaN nor far from 1 every other time. */
static uint64_t noise_float(int i, uint64_t exponent, uint64_t middle, uint64_t spread, int mantissa_bits,
                            uint64_t sign)
{
    uint64_t bits = noise(), mantissa = bits & ((1ull << mantissa_bits) - 1), e = (bits >> 53) % (exponent - 1);
    if (i & 1)
        e = middle - spread / 2 + (bits >> 53) % spread;
    return e << mantissa_bits | mantissa | (noise() & 1 ? sign : 0);
}

static void make_input(void)
{
    noise_state = 2026;
    for (int operand = 0; operand < 3; operand++)
        for (int i = 0; i < CORPUS_THREADS; i++) {
            bool edge = i < 1024 || (operand == 2 && i % 3 == 0);
            int k = edge_of(operand, i);
            uint64_t bits = noise() >> (noise() & 7 ? 0 : noise() % 64);
            input.i64[operand][i] = edge ? edges_i64[k] : bits;
            input.i32[operand][i] = edge ? edges_i32[k] : (uint32_t)(bits >> (noise() & 24));
            input.i16[operand][i] = edge ? edges_i16[k] : (uint16_t)bits;
            input.i8[operand][i] = edge ? edges_i8[k] : (uint8_t)bits;
            input.f64[operand][i] = edge ? edges_f64[k] : noise_float(i, 2047, 1023, 64, 52, 1ull << 63);
            input.f32[operand][i] = edge ? edges_f32[k] : (uint32_t)noise_float(i, 255, 127, 40, 23, 1u << 31);
            input.f16[operand][i] = edge ? edges_f16[k] : (uint16_t)noise_float(i, 31, 15, 10, 10, 1u << 15);
            input.bf16[operand][i] = edge ? edges_bf16[k] : (uint16_t)noise_float(i, 255, 127, 20, 7, 1u << 15);
            uint32_t high =
                edge ? edges_f16[(k * 5 + i / 64) % 32] : (uint32_t)noise_float(i, 31, 15, 10, 10, 1u << 15);
            input.f16x2[operand][i] = high << 16 | input.f16[operand][i];
            high = edge ? edges_bf16[(k * 5 + i / 64) % 32] : (uint32_t)noise_float(i, 255, 127, 20, 7, 1u << 15);
            input.bf16x2[operand][i] = high << 16 | input.bf16[operand][i];
        }
}

/* ---- The device ---- */

static bool device_open(struct device *d)
{
    /* A device that stands still serves as well: contexts that a fault has ended are left behind. */
#if CUDA_VERSION >= 13000
    if (cuCtxCreate(&d->context, NULL, 0, d->device))
#else
    if (cuCtxCreate(&d->context, 0, d->device))
#endif
        return false;
    return !cuMemAlloc(&d->in, sizeof input) && !cuMemAlloc(&d->out, RESULTS) && !cuMemAlloc(&d->scratch, SCRATCH) &&
           !cuMemcpyHtoD(d->in, &input, sizeof input);
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, room = 0, got;
    if (!file) {
        perror(path);
        exit(2);
    }
    do {
        if (room - size < 4096 && !(text = realloc(text, room = room * 2 + 65536)))
            abort();
        got = fread(text + size, 1, room - size - 1, file);
        size += got;
    } while (got);
    fclose(file);
    text[size] = '\0';
    return text;
}

/* The next kernel's name behind `at`; NULL at the end. */
static const char *next_kernel(const char *at, char *name)
{
    at = strstr(at, ".entry ");
    if (!at)
        return NULL;
    at += strlen(".entry ");
    size_t length = strcspn(at, "( \t\r\n");
    if (length >= NAME_MAX)
        length = NAME_MAX - 1;
    memcpy(name, at, length);
    name[length] = '\0';
    return at + length;
}

static CUresult run_kernel(const struct device *d, CUmodule module, const char *name)
{
    CUfunction function;
    CUresult status = cuModuleGetFunction(&function, module, name);
    unsigned n = CORPUS_THREADS;
    CUdeviceptr in = d->in, out = d->out, spare = d->scratch;
    /* A kernel that takes a fifth parameter finds these bytes in it. */
    static const unsigned char more[64] =
        "\x80\xff\x01\x7f parameters hold bytes, halves, words; \xfe\xdc\xba\x98 and more\xf0\x0d";
    void *params[] = {&in, &out, &spare, &n, (void *)more};
    if (status == CUDA_SUCCESS)
        status = cuMemsetD8(out, 0xcc, RESULTS);
    if (status == CUDA_SUCCESS)
        status = cuMemsetD8(spare, 0, SCRATCH);
    if (status == CUDA_SUCCESS)
        status =
            cuLaunchKernel(function, CORPUS_THREADS / CORPUS_BLOCK, 1, 1, CORPUS_BLOCK, 1, 1, 0, NULL, params, NULL);
    if (status == CUDA_SUCCESS)
        status = cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoH(results, out, RESULTS);
    if (status == CUDA_SUCCESS)
        status = cuMemcpyDtoH(scratch, spare, SCRATCH);
    return status;
}

/* ---- What is printed ---- */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* How far results go: to the last byte that isn't as it was. */
static size_t results_end(void)
{
    size_t end = RESULTS;
    while (end && results[end - 1] == 0xcc)
        end--;
    return end;
}

/* The results of all edge values and of every fourth thread of the others. */
static void print_values(void)
{
    size_t each = (results_end() + CORPUS_THREADS - 1) / CORPUS_THREADS;
    for (size_t i = 0; i < CORPUS_THREADS; i++)
        if (each >= 12 ? i < 1024 || i % 4 == 1 : i < 32 || (i >= 1024 && i % 2 == 1)) {
            for (size_t k = 0; k < each; k++)
                printf("%02x", results[i * each + each - 1 - k]);
            putchar(',');
        }
}

static void dump(void)
{
    size_t each = (results_end() + CORPUS_THREADS - 1) / CORPUS_THREADS;
    for (size_t i = 0; i < CORPUS_THREADS; i++) {
        printf("%5zu ", i);
        for (size_t k = 0; k < each; k++)
            printf("%02x", results[i * each + each - 1 - k]);
        putchar('\n');
    }
    for (size_t i = 0; i < SCRATCH / 4; i++) {
        uint32_t word;
        memcpy(&word, scratch + i * 4, 4);
        if (word)
            printf("scratch %zu %08x\n", i, word);
    }
}

static bool bounded(const char *name)
{
    return !strncmp(name, "approx_", 7) || !strncmp(name, "math_", 5);
}

static bool load(const char *text, const char *path, const struct options *options, CUmodule *module)
{
    static char log[8192];
    CUjit_option keys[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[3] = {log, (void *)sizeof log, (void *)(uintptr_t)options->level};
    log[0] = '\0';
    CUresult status = cuModuleLoadDataEx(module, text, options->level == UNSAID ? 2 : 3, keys, values);
    if (status != CUDA_SUCCESS)
        fprintf(stderr, "%s: status %d\n%s\n", path, (int)status, log);
    return status == CUDA_SUCCESS;
}

/* All kernels of one file. */
static void run_file(struct device *d, const char *path, const struct options *options)
{
    char variant[NAME_MAX], name[NAME_MAX];
    const char *base = strrchr(path, '/');
    snprintf(variant, sizeof variant, "%s", base ? base + 1 : path);
    char *dot = strrchr(variant, '.');
    if (dot)
        *dot = '\0';
    char *text = read_text(path);
    CUmodule module;
    bool loaded = load(text, path, options, &module);
    if (!loaded)
        printf("%s * refused\n", variant);
    for (const char *at = text; loaded && (at = next_kernel(at, name));) {
        if (options->only && strcmp(options->only, name))
            continue;
        CUresult status = run_kernel(d, module, name);
        if (status == CUDA_SUCCESS) {
            uint64_t hash = hash_bytes(hash_bytes(0xcbf29ce484222325u, results, RESULTS), scratch, SCRATCH);
            printf("%s %s %016llx", variant, name, (unsigned long long)hash);
            if (options->values && bounded(name)) {
                putchar(' ');
                print_values();
            }
            putchar('\n');
            if (options->only)
                dump();
        } else {
            printf("%s %s status %d\n", variant, name, (int)status);
            loaded = device_open(d) && load(text, path, options, &module);
        }
    }
    if (loaded)
        cuModuleUnload(module);
    free(text);
    fflush(stdout);
}

int main(int count, char **words)
{
    struct options options = {.level = 4};
    struct device device = {0};
    int at = 1;
    for (; at < count && !strncmp(words[at], "--", 2); at++)
        if (!strcmp(words[at], "--values"))
            options.values = true;
        else if (!strcmp(words[at], "--level") && at + 1 < count)
            options.level = strcmp(words[++at], "-") ? (unsigned)strtoul(words[at], NULL, 0) : UNSAID;
        else if (!strcmp(words[at], "--only") && at + 1 < count)
            options.only = words[++at];
        else {
            fprintf(stderr, "corpus: unknown option %s\n", words[at]);
            return 2;
        }
    make_input();
    if (cuInit(0) || cuDeviceGet(&device.device, 0) || !device_open(&device)) {
        fprintf(stderr, "corpus: no device\n");
        return 2;
    }
    for (; at < count; at++)
        run_file(&device, words[at], &options);
    return 0;
}
