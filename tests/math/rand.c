/* SPDX-License-Identifier: Apache-2.0 */
/* libcurand beside plain loops: the generators' published algorithms give the numbers in the order that the library
 * promises, whatever the calls are cut into; distributions have their mean and spread; works of several streams and
 * threads don't disturb each other; what is wrong is refused. */
#include <cuda_runtime_api.h>
#include <curand.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, CURAND_STATUS_SUCCESS)
#define RUN(call) assert_int_equal(call, cudaSuccess)
#define MOST 400000

static curandGenerator_t device(curandRngType_t type)
{
    curandGenerator_t g = NULL;
    OK(curandCreateGenerator(&g, type));
    return g;
}

static void *memory(size_t bytes)
{
    void *at = NULL;
    RUN(cudaMalloc(&at, bytes));
    return at;
}

/* ---- the words of each generator, by loops of their own ---- */

static uint32_t xorwow(uint32_t *s)
{
    uint32_t t = s[0] ^ s[0] >> 2;
    memmove(s, s + 1, 4 * sizeof *s);
    s[4] = s[3] ^ s[3] << 4 ^ t ^ t << 1;
    s[5] += 362437;
    return s[4] + s[5];
}

/* Lane 0 of XORWOW is the sequence of the seed itself: every 4096th number of the output. */
static void lane_0_of_xorwow(void **state)
{
    static unsigned host[MOST];
    uint32_t s[6] = {123456789, 362436069, 521288629, 88675123, 5783321, 6615241};
    uint32_t low = (77u ^ 0xaad26b49u) * 1099087573u, high = 0xf7dcefddu * 2591861531u;
    unsigned *at = memory(sizeof host);
    curandGenerator_t g = device(CURAND_RNG_PSEUDO_XORWOW);
    (void)state;
    s[0] += low;
    s[1] ^= low;
    s[2] += high;
    s[3] ^= high;
    s[4] += low;
    s[5] += low + high;
    OK(curandSetPseudoRandomGeneratorSeed(g, 77));
    OK(curandGenerate(g, at, MOST));
    RUN(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
    for (size_t i = 0; i < MOST; i += 4096)
        assert_int_equal(host[i], xorwow(s));
    OK(curandDestroyGenerator(g));
    RUN(cudaFree(at));
}

/* Lane 0 of MT19937 is the published sequence: it gives eight words of each 65,536, all of its state in 78 such
 * rounds. */
static void lane_0_of_mt19937(void **state)
{
    enum { ROUND = 65536, SIZE = 624 };
    static uint32_t x[3 * SIZE], word[2 * SIZE];
    uint32_t row[8];
    unsigned *at = memory(ROUND * sizeof *at);
    curandGenerator_t g = device(CURAND_RNG_PSEUDO_MT19937);
    unsigned long long sum[2] = {0, 0}, right[2] = {0, 0};
    (void)state;
    x[0] = 77;
    for (unsigned i = 1; i < SIZE; i++)
        x[i] = 1812433253u * (x[i - 1] ^ x[i - 1] >> 30) + i;
    for (unsigned i = 0; i < 2 * SIZE; i++) {
        uint32_t y = (x[i] & 0x80000000u) | (x[i + 1] & 0x7fffffffu);
        x[SIZE + i] = y = x[i + 397] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680u;
        y ^= y << 15 & 0xefc60000u;
        word[i] = y ^ y >> 18;
        right[i / SIZE] += word[i];
    }
    OK(curandSetPseudoRandomGeneratorSeed(g, 77));
    for (unsigned i = 0; i < 2 * 78; i++) {
        OK(curandGenerate(g, at, ROUND));
        RUN(cudaMemcpy(row, at, sizeof row, cudaMemcpyDefault));
        for (unsigned k = 0; k < 8; k++)
            sum[i / 78] += row[k];
        if (i % 78 == 0)
            assert_int_equal(row[0], word[i / 78 * SIZE]);
        if (i % 78 == 8)
            for (unsigned k = 0; k < 8; k++)
                assert_int_equal(row[k], word[i / 78 * SIZE + 57 + 7 * k]);
    }
    assert_true(sum[0] == right[0] && sum[1] == right[1]);
    OK(curandDestroyGenerator(g));
    RUN(cudaFree(at));
}

static void sobol_of_one_dimension(void **state)
{
    static unsigned host[3 * 1000];
    unsigned *at = memory(sizeof host);
    curandGenerator_t g = device(CURAND_RNG_QUASI_SOBOL32);
    (void)state;
    OK(curandSetQuasiRandomGeneratorDimensions(g, 3));
    OK(curandGenerate(g, at, 3 * 1000));
    RUN(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
    for (unsigned i = 0; i < 1000; i++) { /* the first dimension is a Gray code, turned round */
        unsigned gray = i ^ i >> 1, turned = 0;
        for (int bit = 0; bit < 32; bit++)
            turned |= (gray >> bit & 1) << (31 - bit);
        assert_int_equal(host[i], turned);
    }
    OK(curandDestroyGenerator(g));
    RUN(cudaFree(at));
}

/* Every 2^k numbers of any dimension hit every interval of 2^-k once. */
static void is_even(curandRngType_t type)
{
    enum { DIMENSIONS = 2000, POINTS = 256 };
    static unsigned host[DIMENSIONS * POINTS];
    unsigned *at = memory(sizeof host);
    curandGenerator_t g = device(type);
    OK(curandSetQuasiRandomGeneratorDimensions(g, DIMENSIONS));
    OK(curandGenerate(g, at, DIMENSIONS * POINTS));
    RUN(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        unsigned char hit[POINTS] = {0};
        for (unsigned i = 0; i < POINTS; i++)
            hit[host[d * POINTS + i] >> 24]++;
        for (unsigned i = 0; i < POINTS; i++)
            assert_int_equal(hit[i], 1);
    }
    OK(curandDestroyGenerator(g));
    RUN(cudaFree(at));
}

static void sobol_is_even(void **state)
{
    (void)state;
    is_even(CURAND_RNG_QUASI_SOBOL32);
    is_even(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32);
}

/* The generator's numbers are those of the tables, in Gray code from the constant on. Scrambling leaves boxes as full
 * as they were: of the first two dimensions' 2^10 points every box of 2^-5 by 2^-5 has one. */
static void sobol_scrambled(void **state)
{
    enum { DIMENSIONS = 300, POINTS = 1024 };
    static unsigned host[DIMENSIONS * POINTS];
    static unsigned long long wide[DIMENSIONS * POINTS];
    static unsigned char hit[32][32];
    curandDirectionVectors32_t *vectors;
    curandDirectionVectors64_t *wide_vectors;
    unsigned *constants;
    unsigned long long *wide_constants;
    void *at = memory(sizeof wide);
    (void)state;
    OK(curandGetDirectionVectors32(&vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6));
    OK(curandGetDirectionVectors64(&wide_vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6));
    OK(curandGetScrambleConstants32(&constants));
    OK(curandGetScrambleConstants64(&wide_constants));
    curandGenerator_t g = device(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32), h = device(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64);
    OK(curandSetQuasiRandomGeneratorDimensions(g, DIMENSIONS));
    OK(curandSetQuasiRandomGeneratorDimensions(h, DIMENSIONS));
    OK(curandGenerate(g, at, DIMENSIONS * POINTS));
    RUN(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
    OK(curandGenerateLongLong(h, at, DIMENSIONS * POINTS));
    RUN(cudaMemcpy(wide, at, sizeof wide, cudaMemcpyDefault));
    for (unsigned d = 0; d < DIMENSIONS; d++)
        for (unsigned i = 0; i < POINTS; i++) {
            unsigned x = constants[d];
            unsigned long long y = wide_constants[d];
            for (int bit = 0; bit < 10; bit++)
                if ((i ^ i >> 1) >> bit & 1) {
                    x ^= vectors[d][bit];
                    y ^= wide_vectors[d][bit];
                }
            assert_int_equal(host[d * POINTS + i], x);
            assert_true(wide[d * POINTS + i] == y);
        }
    for (unsigned i = 0; i < POINTS; i++)
        hit[host[i] >> 27][host[POINTS + i] >> 27]++;
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++)
            assert_int_equal(hit[i][j], 1);
    OK(curandDestroyGenerator(g));
    OK(curandDestroyGenerator(h));
    RUN(cudaFree(at));
}

/* ---- calls that are cut ---- */

static const curandRngType_t all[] = {
    CURAND_RNG_PSEUDO_XORWOW,           CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
    CURAND_RNG_PSEUDO_PHILOX4_32_10,    CURAND_RNG_PSEUDO_MT19937,  CURAND_RNG_QUASI_SOBOL32,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
};
#define ALL (sizeof all / sizeof *all)

/* The same numbers come on the device in one call, in calls of odd lengths, and on the host. */
static void cuts(void **state)
{
    static unsigned whole[MOST], cut[MOST];
    unsigned *at = memory(sizeof whole);
    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        curandGenerator_t g = device(all[i]), host = NULL;
        OK(curandGenerate(g, at, MOST));
        RUN(cudaMemcpy(whole, at, sizeof whole, cudaMemcpyDefault));
        OK(curandDestroyGenerator(g));
        g = device(all[i]);
        for (size_t done = 0, length = 1; done < MOST; done += length, length = length * 7 % 30011 + 1) {
            length = length < MOST - done ? length : MOST - done;
            OK(curandGenerate(g, at + done, length));
        }
        RUN(cudaMemcpy(cut, at, sizeof cut, cudaMemcpyDefault));
        assert_memory_equal(whole, cut, sizeof whole);
        OK(curandDestroyGenerator(g));
        OK(curandCreateGeneratorHost(&host, all[i]));
        OK(curandGenerate(host, cut, MOST));
        assert_memory_equal(whole, cut, sizeof whole);
        OK(curandDestroyGenerator(host));
    }
    RUN(cudaFree(at));
}

/* Nothing is written behind the last result. */
static void ends(void **state)
{
    static unsigned char host[5000];
    unsigned char *at = memory(sizeof host);
    (void)state;
    for (size_t i = 0; i < ALL; i++)
        for (size_t n = 2; n < 300; n += 34) {
            curandGenerator_t g = device(all[i]);
            RUN(cudaMemset(at, 0xa5, sizeof host));
            OK(curandGenerate(g, (unsigned *)(void *)at, 3));
            OK(curandGenerateUniform(g, (float *)(void *)at + 3, n));
            OK(curandGenerateNormalDouble(g, (double *)(void *)(at + 2400), n, 0, 1));
            RUN(cudaMemcpy(host, at, sizeof host, cudaMemcpyDefault));
            for (size_t k = 12 + 4 * n; k < 2400; k++)
                assert_int_equal(host[k], 0xa5);
            for (size_t k = 2400 + 8 * n; k < sizeof host; k++)
                assert_int_equal(host[k], 0xa5);
            OK(curandDestroyGenerator(g));
        }
    RUN(cudaFree(at));
}

/* ---- distributions ---- */

static void assert_moments(const double *x, size_t n, double mean, double deviation)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    sum /= (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - sum) * (x[i] - sum);
    squares = sqrt(squares / (double)n);
    if (fabs(sum - mean) > 6 * deviation / sqrt((double)n) || fabs(squares / deviation - 1) > 0.03)
        fail_msg("mean %g and deviation %g in place of %g and %g", sum, squares, mean, deviation);
}

/* Normal floats of the device are those of the host within some units of the last place of their factors, whose
 * logarithm and sine are the C library's; the smallest fractions, the largest numbers, are among them. */
static void normals_beside_host(void **state)
{
    enum { N = 1 << 19 };
    static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                            CURAND_RNG_PSEUDO_PHILOX4_32_10};
    static float ours[N], wanted[N];
    float *at = memory(sizeof ours);
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int moved = 0; moved < 2; moved++) {
            curandGenerator_t g = device(types[i]), host;
            OK(curandGenerateNormal(g, at, N, (float)moved, moved ? 0.5f : 1));
            RUN(cudaMemcpy(ours, at, sizeof ours, cudaMemcpyDefault));
            OK(curandCreateGeneratorHost(&host, types[i]));
            OK(curandGenerateNormal(host, wanted, N, (float)moved, moved ? 0.5f : 1));
            float most = 0;
            for (int k = 0; k < N; k++) {
                most = fmaxf(most, fabsf(wanted[k]));
                if (!(fabsf(ours[k] - wanted[k]) <= 1.2e-6f))
                    fail_msg("number %d of generator %d is %.9g on the device, %.9g on the host", k, types[i],
                             (double)ours[k], (double)wanted[k]);
            }
            assert_true(most > 3);
            OK(curandDestroyGenerator(g));
            OK(curandDestroyGenerator(host));
        }
    RUN(cudaFree(at));
}

static void moments(void **state)
{
    enum { N = 100000 };
    static double x[N], d[N];
    static float f[N];
    static unsigned u[N];
    void *at = memory(sizeof x);
    (void)state;
    for (size_t i = 0; i < ALL; i++) {
        curandGenerator_t g = device(all[i]);
        OK(curandGenerateUniform(g, at, N));
        RUN(cudaMemcpy(f, at, sizeof f, cudaMemcpyDefault));
        for (int k = 0; k < N; k++)
            x[k] = f[k];
        assert_moments(x, N, 0.5, sqrt(1.0 / 12));
        OK(curandGenerateUniformDouble(g, at, N));
        RUN(cudaMemcpy(d, at, sizeof d, cudaMemcpyDefault));
        assert_moments(d, N, 0.5, sqrt(1.0 / 12));
        OK(curandGenerateNormal(g, at, N, -3, 2));
        RUN(cudaMemcpy(f, at, sizeof f, cudaMemcpyDefault));
        for (int k = 0; k < N; k++)
            x[k] = f[k];
        assert_moments(x, N, -3, 2);
        OK(curandGenerateNormalDouble(g, at, N, 1, 0.5));
        RUN(cudaMemcpy(d, at, sizeof d, cudaMemcpyDefault));
        assert_moments(d, N, 1, 0.5);
        OK(curandGenerateLogNormalDouble(g, at, N, 0, 0.25));
        RUN(cudaMemcpy(d, at, sizeof d, cudaMemcpyDefault));
        assert_moments(d, N, exp(1.0 / 32), sqrt((exp(1.0 / 16) - 1) * exp(1.0 / 16)));
        static const double means[] = {0.3, 7, 40, 900, 3000, 200000};
        for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
            OK(curandGeneratePoisson(g, at, N, means[m]));
            RUN(cudaMemcpy(u, at, sizeof u, cudaMemcpyDefault));
            for (int k = 0; k < N; k++)
                x[k] = u[k];
            assert_moments(x, N, means[m], sqrt(means[m]));
        }
        OK(curandDestroyGenerator(g));
    }
    RUN(cudaFree(at));
}

/* Tables for kernels, read as curand_discrete reads them: a fraction chooses a column, which has two counts. */
static void tables(void **state)
{
    enum { N = 100000 };
    static const double means[] = {0.3, 7, 900, 200000};
    static double x[N];
    struct {
        void *self, *m2, *host_m2;
        double deviation, mean;
        curandMethod_t method;
        unsigned on_host;
    } head;
    struct {
        void *histogram, *host_histogram;
        unsigned shift, length, on_host;
    } columns;
    struct {
        double *v, *host_v;
        unsigned *k, *host_k;
        unsigned on_host;
    } histogram;
    (void)state;
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        curandDiscreteDistribution_t table = NULL;
        OK(curandCreatePoissonDistribution(means[m], &table));
        RUN(cudaMemcpy(&head, table, sizeof head, cudaMemcpyDeviceToHost));
        assert_int_equal(head.method, CURAND_M2);
        assert_true(head.mean == means[m]);
        RUN(cudaMemcpy(&columns, head.m2, sizeof columns, cudaMemcpyDeviceToHost));
        RUN(cudaMemcpy(&histogram, columns.histogram, sizeof histogram, cudaMemcpyDeviceToHost));
        double *v = malloc(columns.length * sizeof *v);
        unsigned *k = malloc(columns.length * sizeof *k);
        assert_true(v && k);
        RUN(cudaMemcpy(v, histogram.v, columns.length * sizeof *v, cudaMemcpyDeviceToHost));
        RUN(cudaMemcpy(k, histogram.k, columns.length * sizeof *k, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) {
            double u = (i + 0.5) / N;
            unsigned j = (unsigned)(u * columns.length);
            x[i] = columns.shift + (u < v[j] ? j : k[j]);
        }
        assert_moments(x, N, means[m], sqrt(means[m]));
        free(v);
        free(k);
        OK(curandDestroyDistribution(table));
        assert_int_equal(curandDestroyDistribution(table), CURAND_STATUS_NOT_INITIALIZED);
    }
}

/* ---- streams, graphs, threads ---- */

static void *one_thread(void *seed)
{
    enum { N = 5000, CALLS = 40 };
    static _Thread_local unsigned host[N], right[N];
    curandGenerator_t g = NULL, plain = NULL;
    cudaStream_t stream;
    unsigned *at = NULL;
    curandRngType_t type = all[(uintptr_t)seed % 5];
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) || cudaMalloc((void **)&at, sizeof host) ||
        curandCreateGenerator(&g, type) || curandCreateGeneratorHost(&plain, type) || curandSetStream(g, stream) ||
        curandSetPseudoRandomGeneratorSeed(g, (uintptr_t)seed) ||
        curandSetPseudoRandomGeneratorSeed(plain, (uintptr_t)seed))
        return "set-up";
    for (int i = 0; i < CALLS; i++)
        if (curandGenerate(g, at, N) || curandGenerate(plain, right, N) ||
            cudaMemcpyAsync(host, at, sizeof host, cudaMemcpyDefault, stream) || cudaStreamSynchronize(stream) ||
            memcmp(host, right, sizeof host) != 0)
            return "numbers";
    /* Work that still runs keeps what it needs. */
    if (curandGenerate(g, at, N) || curandDestroyGenerator(g) || curandDestroyGenerator(plain) ||
        cudaStreamSynchronize(stream) || cudaStreamDestroy(stream) || cudaFree(at))
        return "end";
    return NULL;
}

static void threads(void **state)
{
    pthread_t thread[8];
    (void)state;
    for (uintptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, one_thread, (void *)(i + 1)), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong = NULL;
        pthread_join(thread[i], &wrong);
        if (wrong)
            fail_msg("thread %d: %s", i, (const char *)wrong);
    }
}

/* A captured call draws anew at each launch, and the graph outlives the generator. Launch i draws the numbers that
 * stand i times `round` behind the first. */
static void replay(curandRngType_t type, size_t round)
{
    enum { N = 4096, ROUND = 65536 };
    static unsigned host[3][N], right[2 * ROUND + N];
    unsigned *at = memory(sizeof *host);
    curandGenerator_t g = device(type), plain = NULL;
    cudaStream_t stream;
    cudaGraph_t made;
    cudaGraphExec_t exec;
    RUN(cudaStreamCreate(&stream));
    OK(curandSetStream(g, stream));
    RUN(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(curandGenerate(g, at, N));
    RUN(cudaStreamEndCapture(stream, &made));
    OK(curandDestroyGenerator(g));
    RUN(cudaGraphInstantiate(&exec, made, 0));
    for (int i = 0; i < 3; i++) {
        RUN(cudaGraphLaunch(exec, stream));
        RUN(cudaMemcpyAsync(host[i], at, sizeof *host, cudaMemcpyDefault, stream));
    }
    RUN(cudaStreamSynchronize(stream));
    OK(curandCreateGeneratorHost(&plain, type));
    OK(curandGenerate(plain, right, 2 * round + N));
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(host[i], right + i * round, sizeof *host);
    OK(curandDestroyGenerator(plain));
    RUN(cudaGraphExecDestroy(exec));
    RUN(cudaGraphDestroy(made));
    RUN(cudaStreamDestroy(stream));
    RUN(cudaFree(at));
}

static void graph(void **state)
{
    (void)state;
    replay(CURAND_RNG_PSEUDO_XORWOW, 4096);
    replay(CURAND_RNG_PSEUDO_MT19937, 65536);
}

/* ---- bad input ---- */

static void refusals(void **state)
{
    unsigned *at = memory(64);
    curandGenerator_t g = device(CURAND_RNG_PSEUDO_XORWOW), other = NULL;
    (void)state;
    assert_int_equal(curandCreateGenerator(NULL, CURAND_RNG_PSEUDO_XORWOW), CURAND_STATUS_NOT_INITIALIZED);
    assert_int_equal(curandCreateGenerator(&other, (curandRngType_t)7), CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandGenerate((curandGenerator_t)at, at, 4), CURAND_STATUS_NOT_INITIALIZED);
    assert_int_equal(curandGenerateNormal(g, (float *)(void *)at, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    assert_int_equal(curandGenerateLongLong(g, (unsigned long long *)(void *)at, 4), CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandGeneratePoisson(g, at, 4, 0), CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandGeneratePoisson(g, at, 4, 1e9), CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT), CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandSetQuasiRandomGeneratorDimensions(g, 2), CURAND_STATUS_TYPE_ERROR);
    OK(curandDestroyGenerator(g));
    assert_int_equal(curandDestroyGenerator(g), CURAND_STATUS_NOT_INITIALIZED);
    assert_int_equal(curandGenerate(g, at, 4), CURAND_STATUS_NOT_INITIALIZED);
    RUN(cudaFree(at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lane_0_of_xorwow),
        cmocka_unit_test(lane_0_of_mt19937),
        cmocka_unit_test(sobol_of_one_dimension),
        cmocka_unit_test(sobol_is_even),
        cmocka_unit_test(sobol_scrambled),
        cmocka_unit_test(cuts),
        cmocka_unit_test(ends),
        cmocka_unit_test(normals_beside_host),
        cmocka_unit_test(moments),
        cmocka_unit_test(tables),
        cmocka_unit_test(threads),
        cmocka_unit_test(graph),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
