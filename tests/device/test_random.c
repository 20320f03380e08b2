/* SPDX-License-Identifier: Apache-2.0 */
/* curand_kernel.h: for a seed, a part and an offset, each generator gives the numbers that cuRAND's gives (recorded);
 * jumps by two ways end in the same place; and each distribution has its mean and spread. */
#include <cuda.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define THREADS 64
#define COUNT 16

/* What random.cu writes, COUNT of each for a thread. */
static struct numbers {
    unsigned words[THREADS * COUNT];
    float floats[THREADS * COUNT];
    double doubles[THREADS * COUNT];
    unsigned counts[THREADS * COUNT];
} first, second;

/* The first four numbers of thread 33 for seed 0x123456789abcdef, part 5 and offset 7. */
static const struct {
    const char *name;
    unsigned words[4];
    float floats[4];
    double doubles[4];
} known[] = {
    {"xorwow",
     {0x9329df70u, 0x8b3b39f5u, 0x4a477905u, 0x204e456au},
     {0.937508643f, 1.47651803f, -1.08946407f, 3.77655911f},
     {0.59296844203836829, -0.69958389922876618, -1.0577613477153294, 0.93941575730633453}},
    {"mrg32k3a",
     {0x15fd7b97u, 0xfc405151u, 0x4429b52eu, 0x60bff984u},
     {0.267466724f, -0.663527191f, 0.407706439f, 2.47124147f},
     {0.060713674335078793, 0.078405967569673052, -0.014556325985279173, 1.7846986851681474}},
    {"philox",
     {0x187eb039u, 0xd7fd5a35u, 0x4083b9d8u, 0x09f267e5u},
     {0.448539555f, -0.0327453725f, -1.34859419f, 1.77507782f},
     {0.010475990129634738, -1.7111550698270495, -0.43816741977276241, 5.0721717146209437}},
    {"sobol32",
     {0x79500000u, 0x59500000u, 0xd9500000u, 0x99500000u},
     {0.380126953f, -0.658442378f, 0.69071269f, 2.73580527f},
     {0.0051269533578306437, -2.4531746612278269, 0.017748056016199752, 3.8515297212553841}},
    {"sobol64",
     {0x79500000u, 0x59500000u, 0xd9500000u, 0x99500000u},
     {0.380126953f, -0.658442378f, 0.69071269f, 2.73580527f},
     {0.0051269531250000555, -2.4531746671421666, 0.017748055724343993, 3.8515297205389487}},
    {"scrambled32",
     {0xf0fbcdefu, 0xd0fbcdefu, 0x50fbcdefu, 0x10fbcdefu},
     {0.910092235f, 0.789507329f, -0.567779899f, 1.09926403f},
     {0.53509223088622093, 0.083163181169199879, -1.8365374303127278, 2.0405702971161555}},
    {"scrambled64",
     {0x78734567u, 0x58734567u, 0xd8734567u, 0x98734567u},
     {0.376758903f, -0.668964982f, 0.680035114f, 2.7242806f},
     {0.0017588975694444176, -2.6771993357936195, 0.0093047949938605441, 3.830934457811237}},
};

static CUmodule module;

static void draw(const char *name, unsigned long long seed, unsigned long long part, unsigned long long offset,
                 struct numbers *numbers)
{
    CUfunction function;
    CUdeviceptr words, floats, doubles, counts;
    void *params[] = {&seed, &part, &offset, &words, &floats, &doubles, &counts};
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuMemAlloc(&words, sizeof numbers->words));
    OK(cuMemAlloc(&floats, sizeof numbers->floats));
    OK(cuMemAlloc(&doubles, sizeof numbers->doubles));
    OK(cuMemAlloc(&counts, sizeof numbers->counts));
    OK(cuLaunchKernel(function, THREADS / 32, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(numbers->words, words, sizeof numbers->words));
    OK(cuMemcpyDtoH(numbers->floats, floats, sizeof numbers->floats));
    OK(cuMemcpyDtoH(numbers->doubles, doubles, sizeof numbers->doubles));
    OK(cuMemcpyDtoH(numbers->counts, counts, sizeof numbers->counts));
    OK(cuMemFree(words));
    OK(cuMemFree(floats));
    OK(cuMemFree(doubles));
    OK(cuMemFree(counts));
}

static void assert_near(double value, double right, double error)
{
    if (!(fabs(value - right) <= error * fmax(fabs(right), 0.01)))
        fail_msg("%.17g instead of %.17g", value, right);
}

static void known_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        draw(known[i].name, 0x123456789abcdefull, 5, 7, &first);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(first.words[33 * COUNT + k], known[i].words[k]);
            assert_near(first.floats[33 * COUNT + k], known[i].floats[k], 1e-6);
            assert_near(first.doubles[33 * COUNT + k], known[i].doubles[k], 1e-14);
        }
    }
}

/* A state that is set up at a place, and one that jumps there. */
static void jumps(void **state)
{
    static const char *const names[][2] = {
        {"xorwow", "xorwow_skip"}, {"mrg32k3a", "mrg32k3a_skip"}, {"philox", "philox_skip"}};
    static const unsigned long long places[][2] = {
        {0, 0}, {3, 5}, {0xfedcba9876543210ull, 0x123456789abcdefull}, {1ull << 63, ~0ull}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            draw(names[i][0], k, places[k][0], places[k][1], &first);
            draw(names[i][1], k, places[k][0], places[k][1], &second);
            assert_memory_equal(&first, &second, sizeof first);
        }
}

/* Adds offset numbers one by one: the words from offset on are those of a state that was set up there. */
static void small_offsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        draw(known[i].name, 99, 1, 0, &first);
        for (unsigned offset = 1; offset < 8; offset++) {
            draw(known[i].name, 99, 1, offset, &second);
            assert_memory_equal(first.words + offset, second.words, (COUNT - offset) * sizeof *first.words);
        }
    }
}

static void philox_groups(void **state)
{
    static const unsigned words[] = {0x644af2c9u, 0x0aab6850u, 0x81064203u, 0x05721106u};
    static const float floats[] = {0.771717668f, 0.384809941f,  0.46377629f, 0.343105763f, 0.210760295f, -0.26309821f,
                                   -1.4337647f,  -0.712735951f, 3.34387732f, 1.55611217f,  2.40504384f,  2.39466143f};
    static const double doubles[] = {0.2882466902286745, 0.63242806104775529, -0.64881247471903136,
                                     0.67790686939935385};
    (void)state;
    draw("philox_groups", 0x123456789abcdefull, 5, 7, &first);
    assert_memory_equal(first.words + COUNT, words, sizeof words);
    for (int i = 0; i < 12; i++)
        assert_near(first.floats[COUNT + i], floats[i], 1e-6);
    for (int i = 0; i < 4; i++)
        assert_near(first.doubles[COUNT + i], doubles[i], 1e-14);
}

/* What an H200 counted by cuRAND's header for seed 0x123456789abcdef: generator, mean, COUNT counts on each line.
 * Thread 20 is one where no last bit of an approximate instruction decides about a proposal: those differ from
 * hardware's. */
static void poisson_known(void **state)
{
    static double means[256];
    static unsigned counts[256 * THREADS * COUNT], right[6][256][COUNT];
    unsigned long long seed = 0x123456789abcdefull;
    int lines[6] = {0}, kind, many = 0;
    double mean;
    CUdeviceptr out, at;
    CUfunction function;
    FILE *file = fopen(getenv("DEVICE_POISSON_H200"), "r");
    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%d %lf", &kind, &mean) == 2) {
        assert_in_range(kind, 0, 5);
        assert_in_range(lines[kind], 0, 255);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(fscanf(file, "%u", &right[kind][lines[kind]][i]), 1);
        means[lines[kind]++] = mean;   /* the same for each generator */
    }
    fclose(file);
    OK(cuModuleGetFunction(&function, module, "poisson"));
    OK(cuMemAlloc(&out, sizeof counts));
    OK(cuMemAlloc(&at, sizeof means));
    OK(cuMemcpyHtoD(at, means, sizeof means));
    for (kind = 0; kind < 6; kind++) {
        assert_in_range(lines[kind], 20, 256);
        OK(cuLaunchKernel(function, (unsigned)lines[kind], 1, 1, THREADS, 1, 1, 0, NULL,
                          (void *[]){&out, &at, &kind, &seed}, NULL));
        OK(cuMemcpyDtoH(counts, out, sizeof counts));
        for (int line = 0; line < lines[kind]; line++)
            for (int i = 0; i < COUNT; i++, many++)
                if (counts[(line * THREADS + 20) * COUNT + i] != right[kind][line][i])
                    fail_msg("generator %d, mean %g, number %d: %u instead of %u", kind, means[line], i,
                             counts[(line * THREADS + 20) * COUNT + i], right[kind][line][i]);
    }
    assert_true(many >= 6 * 20 * COUNT);
    OK(cuMemFree(out));
    OK(cuMemFree(at));
}

/* Mean and variance of Poisson numbers are the parameter, up to six standard errors of 512 numbers. */
static void poisson(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        draw(known[i].name, 2026, 0, 0, &first);
        for (int half = 0; half < 2; half++) {
            double mean = half ? 5000.0 : 13.0, sum = 0, squares = 0, count = THREADS * COUNT / 2;
            for (int k = 0; k < THREADS * COUNT; k++)
                if (k % COUNT / (COUNT / 2) == half) {
                    sum += first.counts[k];
                    squares += (first.counts[k] - mean) * (first.counts[k] - mean);
                }
            assert_true(fabs(sum / count - mean) < 6 * sqrt(mean / count));
            assert_true(fabs(squares / count - mean) < 6 * mean * sqrt(2.2 / count));
        }
    }
}

static int load(void **state)
{
    CUcontext context;
    (void)state;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoad(&module, getenv("DEVICE_RANDOM_PTX")));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers), cmocka_unit_test(jumps),   cmocka_unit_test(small_offsets),
        cmocka_unit_test(philox_groups), cmocka_unit_test(poisson), cmocka_unit_test(poisson_known),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
