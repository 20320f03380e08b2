/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL on four devices of one process, beside plain loops: every type and operation, every collective, sends and
 * receives that cross, streams, events, graphs, threads, splits, and what happens when a rank fails. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <nccl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RANKS 4
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, ncclGetLastError(NULL)); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == ncclSuccess)
#define RT(call) CHECK((call) == cudaSuccess)

static ncclComm_t comm[RANKS];
static cudaStream_t stream[RANKS];
static unsigned seed = 5;

static int draw(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 9) % (unsigned)n);
}

static void begin(void)
{
    OK(ncclCommInitAll(comm, RANKS, NULL));
    for (int i = 0; i < RANKS; i++) {
        RT(cudaSetDevice(i));
        RT(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    }
}

static void *device_memory(int rank, size_t bytes)
{
    void *at;
    RT(cudaSetDevice(rank));
    RT(cudaMalloc(&at, bytes));
    return at;
}

static void wait_all(void)
{
    for (int i = 0; i < RANKS; i++)
        RT(cudaStreamSynchronize(stream[i]));
}

/* ---- elements as numbers ---- */

static const size_t sizes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/* A small float's value, by its bits. */
static double small(unsigned bits, int exponent, int mantissa)
{
    int power = (int)(bits >> mantissa & ((1u << exponent) - 1)), bias = (1 << (exponent - 1)) - 1;
    double part = (double)(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
    double value = power == 0 ? ldexp(part, 1 - bias) : ldexp(1 + part, power - bias);
    return bits >> (exponent + mantissa) & 1 ? -value : value;
}

/* The small float that is nearest to the value; values here are in range. */
static unsigned to_small(double value, int exponent, int mantissa)
{
    unsigned best = 0, all = 1u << (exponent + mantissa);
    double best_error = INFINITY;
    for (unsigned bits = 0; bits < all; bits++) {
        double error = fabs(small(bits, exponent, mantissa) - fabs(value));
        if (error < best_error || (error == best_error && !(bits & 1))) {
            best_error = error;
            best = bits;
        }
    }
    return best | (value < 0 ? all : 0);
}

union element {
    int8_t i8;
    uint8_t u8;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
};

static double get(int type, const void *at)
{
    union element e;
    memcpy(&e, at, sizes[type]);
    switch (type) {
    case ncclInt8:
        return e.i8;
    case ncclUint8:
        return e.u8;
    case ncclInt32:
        return e.i32;
    case ncclUint32:
        return e.u32;
    case ncclInt64:
        return (double)e.i64;
    case ncclUint64:
        return (double)e.u64;
    case ncclFloat32:
        return (double)e.f32;
    case ncclFloat64:
        return e.f64;
    case ncclFloat16:
        return small(e.u16, 5, 10);
    case ncclBfloat16:
        return small(e.u16, 8, 7);
    case ncclFloat8e4m3:
        return small(e.u8, 4, 3);
    default:
        return small(e.u8, 5, 2);
    }
}

static void put(int type, void *at, double value)
{
    union element e;
    memset(&e, 0, sizeof e);
    switch (type) {
    case ncclInt8:
    case ncclUint8:
        e.i8 = (int8_t)value;
        break;
    case ncclInt32:
    case ncclUint32:
        e.i32 = (int32_t)value;
        break;
    case ncclInt64:
    case ncclUint64:
        e.i64 = (int64_t)value;
        break;
    case ncclFloat32:
        e.f32 = (float)value;
        break;
    case ncclFloat64:
        e.f64 = value;
        break;
    case ncclFloat16:
        e.u16 = (uint16_t)to_small(value, 5, 10);
        break;
    case ncclBfloat16:
        e.u16 = (uint16_t)(to_small(value, 8, 7));
        break;
    case ncclFloat8e4m3:
        e.u8 = (uint8_t)to_small(value, 4, 3);
        break;
    default:
        e.u8 = (uint8_t)to_small(value, 5, 2);
    }
    memcpy(at, &e, sizes[type]);
}

/* ---- every type and operation ---- */

#define OWN 5 /* an operation of the program's own: each rank multiplies by its number plus one */

static bool has_sign(int type)
{
    return type != ncclUint8 && type != ncclUint32 && type != ncclUint64;
}

static double expected(int op, int type, const double x[RANKS])
{
    double result = op == OWN ? 0 : x[0];
    for (int r = op == OWN ? 0 : 1; r < RANKS; r++) {
        if (op == ncclSum || op == ncclAvg)
            result += x[r];
        else if (op == ncclProd)
            result *= x[r];
        else if (op == ncclMax)
            result = x[r] > result ? x[r] : result;
        else if (op == ncclMin)
            result = x[r] < result ? x[r] : result;
        else
            result += x[r] * (r + 1);
    }
    if (op == ncclAvg)
        result = type <= ncclUint64 ? trunc(result / RANKS) : result / RANKS;
    return result;
}

static void check_op(int type, int op, size_t count)
{
    char *send[RANKS], *recv[RANKS];
    ncclRedOp_t ops[RANKS];
    for (int r = 0; r < RANKS; r++) {
        send[r] = device_memory(r, count * sizes[type] + 8);
        recv[r] = device_memory(r, count * sizes[type] + 8);
        for (size_t i = 0; i < count; i++)
            put(type, send[r] + i * sizes[type], 1 + draw(2) - (has_sign(type) && draw(4) == 0 ? 3 : 0));
        memset(recv[r], 0x55, count * sizes[type] + 8);
        ops[r] = (ncclRedOp_t)op;
        if (op == OWN) {
            union element factor;
            put(type, &factor, r + 1);
            OK(ncclRedOpCreatePreMulSum(&ops[r], &factor, (ncclDataType_t)type, ncclScalarHostImmediate, comm[r]));
        }
    }
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        OK(ncclAllReduce(send[r], recv[r], count, (ncclDataType_t)type, ops[r], comm[r], stream[r]));
    OK(ncclGroupEnd());
    wait_all();
    for (size_t i = 0; i < count; i++) {
        double x[RANKS];
        for (int r = 0; r < RANKS; r++)
            x[r] = get(type, send[r] + i * sizes[type]);
        double wanted = expected(op, type, x);
        if (type >= ncclFloat8e4m3) { /* of few bits */
            union element rounded;
            put(type, &rounded, wanted);
            wanted = get(type, &rounded);
        }
        for (int r = 0; r < RANKS; r++)
            CHECK(get(type, recv[r] + i * sizes[type]) == wanted);
    }
    for (int r = 0; r < RANKS; r++) {
        CHECK((unsigned char)recv[r][count * sizes[type]] == 0x55);
        if (op == OWN)
            OK(ncclRedOpDestroy(ops[r], comm[r]));
        RT(cudaFree(send[r]));
        RT(cudaFree(recv[r]));
    }
}

static void all_types(void)
{
    for (int type = 0; type < ncclNumTypes; type++)
        for (int op = 0; op <= OWN; op++)
            check_op(type, op, (size_t)(1 + draw(60)));
    check_op(ncclFloat32, ncclSum, 3000001);
    check_op(ncclInt8, ncclMax, 100003);
}

/* ---- collectives ---- */

static unsigned value_of(int rank, size_t i)
{
    return (unsigned)rank * 1000003u + (unsigned)i * 7u + 1;
}

enum { BROADCAST, REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, GATHER, SCATTER, WAYS };

static ncclResult_t go(int way, const unsigned *send, unsigned *recv, size_t n, int root, int r)
{
    const ncclDataType_t type = ncclUint32;
    switch (way) {
    case BROADCAST:
        return ncclBroadcast(send, recv, n, type, root, comm[r], stream[r]);
    case REDUCE:
        return ncclReduce(send, recv, n, type, ncclSum, root, comm[r], stream[r]);
    case REDUCE_SCATTER:
        return ncclReduceScatter(send, recv, n, type, ncclSum, comm[r], stream[r]);
    case ALL_GATHER:
        return ncclAllGather(send, recv, n, type, comm[r], stream[r]);
    case ALL_TO_ALL:
        return ncclAlltoAll(send, recv, n, type, comm[r], stream[r]);
    case GATHER:
        return ncclGather(send, recv, n, type, root, comm[r], stream[r]);
    default:
        return ncclScatter(send, recv, n, type, root, comm[r], stream[r]);
    }
}

/* Element i of what rank r receives; false if it receives none there. */
static bool wanted_of(int way, size_t n, int root, int r, size_t i, unsigned *value)
{
    int block = (int)(i / n);
    *value = 0;
    switch (way) {
    case BROADCAST:
        *value = value_of(root, i);
        return i < n;
    case REDUCE:
        for (int k = 0; k < RANKS; k++)
            *value += value_of(k, i);
        return i < n && r == root;
    case REDUCE_SCATTER:
        for (int k = 0; k < RANKS; k++)
            *value += value_of(k, (size_t)r * n + i);
        return i < n;
    case ALL_GATHER:
        *value = value_of(block, i % n);
        return true;
    case ALL_TO_ALL:
        *value = value_of(block, (size_t)r * n + i % n);
        return true;
    case GATHER:
        *value = value_of(block, i % n);
        return r == root;
    default:
        *value = value_of(root, (size_t)r * n + i);
        return i < n;
    }
}

static void check_way(int way, size_t n, bool in_place)
{
    unsigned *send[RANKS], *recv[RANKS];
    int root = draw(RANKS);
    for (int r = 0; r < RANKS; r++) {
        unsigned *own = device_memory(r, 2 * n * RANKS * sizeof *own);
        memset(own, 0, 2 * n * RANKS * sizeof *own);
        send[r] = own;
        recv[r] = own + n * RANKS;
        if (in_place) {
            bool gathers = way == ALL_GATHER || (way == GATHER && r == root);
            bool scatters = way == REDUCE_SCATTER || (way == SCATTER && r == root);
            send[r] = gathers ? own + (size_t)r * n : own;
            recv[r] = scatters ? own + (size_t)r * n : own;
        }
        for (size_t i = 0; i < n * RANKS && (i < n || send[r] == own); i++)
            send[r][i] = value_of(r, i);
    }
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        OK(go(way, send[r], recv[r], n, root, r));
    OK(ncclGroupEnd());
    wait_all();
    for (int r = 0; r < RANKS; r++) {
        unsigned value;
        for (size_t i = 0; i < n * RANKS; i++)
            if (wanted_of(way, n, root, r, i, &value))
                CHECK(recv[r][i] == value);
            else if (!in_place)
                CHECK(recv[r][i] == 0);
        RT(cudaFree(in_place ? (send[r] < recv[r] ? send[r] : recv[r]) : send[r]));
    }
}

static void all_ways(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int round = 0; round < 6; round++)
            check_way(way, round == 5 ? 200003 : (size_t)(1 + draw(300)), round % 2 == 1 && way != ALL_TO_ALL);
}

/* ---- sends and receives ---- */

/* Each rank sends to each other at once, some pairs twice. */
static void cross(void)
{
    enum { N = 1000 };
    unsigned *send[RANKS], *recv[RANKS];
    for (int r = 0; r < RANKS; r++) {
        send[r] = device_memory(r, sizeof(unsigned) * 2 * RANKS * N);
        recv[r] = device_memory(r, sizeof(unsigned) * 2 * RANKS * N);
        for (size_t i = 0; i < (size_t)2 * RANKS * N; i++)
            send[r][i] = value_of(r, i);
        memset(recv[r], 0, sizeof(unsigned) * 2 * RANKS * N);
    }
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < 2 * RANKS; k++) {
            OK(ncclSend(send[r] + k * N, N, ncclUint32, k / 2, comm[r], stream[r]));
            OK(ncclRecv(recv[r] + k * N, N, ncclUint32, k / 2, comm[r], stream[r]));
        }
    OK(ncclGroupEnd());
    wait_all();
    for (int r = 0; r < RANKS; r++) {
        for (int k = 0; k < 2 * RANKS; k++)
            for (size_t i = 0; i < N; i++)
                CHECK(recv[r][(size_t)k * N + i] == value_of(k / 2, (size_t)(2 * r + k % 2) * N + i));
        RT(cudaFree(send[r]));
        RT(cudaFree(recv[r]));
    }
}

/* A rank's receive is over before the send of the same group is matched: the sender needs that to go on. Also called in
 * an order in which each waits for a rank that comes later. */
static void no_false_deadlock(void)
{
    unsigned *at[3];
    for (int r = 0; r < 3; r++) {
        at[r] = device_memory(r, 4 * sizeof(unsigned));
        memset(at[r], 0, 4 * sizeof(unsigned));
        at[r][0] = (unsigned)r + 1;
    }
    OK(ncclGroupStart());
    OK(ncclRecv(at[1] + 1, 1, ncclUint32, 0, comm[1], stream[1]));
    OK(ncclSend(at[1], 1, ncclUint32, 2, comm[1], stream[1]));
    OK(ncclGroupEnd());
    OK(ncclSend(at[0], 1, ncclUint32, 1, comm[0], stream[0]));
    OK(ncclSend(at[0], 1, ncclUint32, 2, comm[0], stream[0]));
    OK(ncclRecv(at[2] + 1, 1, ncclUint32, 0, comm[2], stream[2]));
    OK(ncclRecv(at[2] + 2, 1, ncclUint32, 1, comm[2], stream[2]));
    wait_all();
    CHECK(at[1][1] == 1 && at[2][1] == 1 && at[2][2] == 2);
    for (int r = 0; r < 3; r++)
        RT(cudaFree(at[r]));
}

/* ---- streams, graphs, threads ---- */

/* A thousand operations of each rank, enqueued by its own thread, each ordered behind a copy. */
static void *run_rank(void *data)
{
    int r = (int)(intptr_t)data;
    RT(cudaSetDevice(r));
    unsigned *at;
    RT(cudaMalloc((void **)&at, 3 * sizeof *at));
    at[0] = 1;
    for (int i = 0; i < 300; i++) {
        OK(ncclAllReduce(at, at + 1, 1, ncclUint32, ncclMax, comm[r], stream[r]));
        RT(cudaMemcpyAsync(at, at + 1, sizeof *at, cudaMemcpyDeviceToDevice, stream[r]));
        if (i % 3 == 0) {
            OK(ncclGroupStart());
            OK(ncclSend(at, 1, ncclUint32, (r + 1) % RANKS, comm[r], stream[r]));
            OK(ncclRecv(at + 1, 1, ncclUint32, (r + RANKS - 1) % RANKS, comm[r], stream[r]));
            OK(ncclAllReduce(at, at + 2, 1, ncclUint32, ncclMax, comm[r], stream[r]));
            OK(ncclGroupEnd());
        }
    }
    RT(cudaStreamSynchronize(stream[r]));
    CHECK(at[0] == 1 && at[1] == 1 && at[2] == 1);
    RT(cudaFree(at));
    return NULL;
}

static void threads(void)
{
    pthread_t thread[RANKS];
    for (int r = 0; r < RANKS; r++)
        CHECK(pthread_create(&thread[r], NULL, run_rank, (void *)(intptr_t)r) == 0);
    for (int r = 0; r < RANKS; r++)
        CHECK(pthread_join(thread[r], NULL) == 0);
}

/* Graphs with operations, launched many times, and operations outside of graphs between. */
static void graphs(void)
{
    unsigned *at[RANKS];
    cudaGraph_t graph[RANKS];
    cudaGraphExec_t exec[RANKS];
    for (int r = 0; r < RANKS; r++) {
        at[r] = device_memory(r, 100000 * sizeof(unsigned));
        for (size_t i = 0; i < 100000; i++)
            at[r][i] = 1;
        RT(cudaStreamBeginCapture(stream[r], cudaStreamCaptureModeRelaxed));
    }
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        OK(ncclAllReduce(at[r], at[r], 100000, ncclUint32, ncclSum, comm[r], stream[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++) {
        RT(cudaStreamEndCapture(stream[r], &graph[r]));
        RT(cudaGraphInstantiate(&exec[r], graph[r], 0));
    }
    for (int round = 0; round < 5; round++) {
        for (int r = 0; r < RANKS; r++)
            RT(cudaGraphLaunch(exec[r], stream[r]));
        for (int r = 0; r < RANKS; r++)
            OK(ncclAllReduce(at[r], at[r], 1, ncclUint32, ncclSum, comm[r], stream[r]));
    }
    wait_all();
    for (int r = 0; r < RANKS; r++) {
        CHECK(at[r][0] == 1u << 20 && at[r][99999] == 1u << 10);
        RT(cudaGraphExecDestroy(exec[r]));
        RT(cudaGraphDestroy(graph[r]));
        RT(cudaFree(at[r]));
    }
}

/* ---- other communicators ---- */

static void splits(void)
{
    ncclComm_t half[RANKS], again[RANKS];
    unsigned *at[RANKS];
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        OK(ncclCommSplit(comm[r], r % 2, -r, &half[r], NULL));
        OK(ncclCommSplit(comm[r], r == 3 ? NCCL_SPLIT_NOCOLOR : 0, 0, &again[r], NULL));
    }
    OK(ncclGroupEnd());
    CHECK(!again[3]);
    for (int r = 0; r < RANKS; r++) {
        int rank, count;
        OK(ncclCommUserRank(half[r], &rank));
        OK(ncclCommCount(half[r], &count));
        CHECK(count == 2 && rank == (r < 2 ? 1 : 0));
        at[r] = device_memory(r, sizeof(unsigned));
        at[r][0] = 1u << r;
    }
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        OK(ncclAllReduce(at[r], at[r], 1, ncclUint32, ncclSum, half[r], stream[r]));
    for (int r = 0; r < 3; r++)
        OK(ncclAllReduce(at[r], at[r], 1, ncclUint32, ncclSum, again[r], stream[r]));
    OK(ncclGroupEnd());
    wait_all();
    CHECK(at[0][0] == 5 + 10 + 5 && at[1][0] == 20 && at[2][0] == 20 && at[3][0] == 10);
    for (int r = 0; r < RANKS; r++) {
        OK(ncclCommDestroy(half[r]));
        if (again[r])
            OK(ncclCommDestroy(again[r]));
        RT(cudaFree(at[r]));
    }
}

/* Calls that don't block; then one rank aborts, and what the others wait for ends with an error. */
static ncclResult_t settled(ncclComm_t of)
{
    ncclResult_t state = ncclInProgress;
    for (int i = 0; i < 20000 && state == ncclInProgress; i++) {
        OK(ncclCommGetAsyncError(of, &state));
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return state;
}

static void not_blocking(bool aborts)
{
    ncclComm_t own[2];
    ncclUniqueId id;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    unsigned *at[2];
    config.blocking = 0;
    OK(ncclGetUniqueId(&id));
    for (int r = 0; r < 2; r++) {
        RT(cudaSetDevice(r));
        ncclResult_t begun = ncclCommInitRankConfig(&own[r], 2, id, r, &config);
        CHECK(begun == ncclSuccess || begun == ncclInProgress);
        at[r] = device_memory(r, sizeof(unsigned));
        at[r][0] = 3;
    }
    for (int r = 0; r < 2; r++)
        CHECK(settled(own[r]) == ncclSuccess);
    OK(ncclAllReduce(at[0], at[0], 1, ncclUint32, ncclSum, own[0], stream[0]));
    if (aborts) {
        CHECK(cudaStreamQuery(stream[0]) == cudaErrorNotReady);
        OK(ncclCommAbort(own[1]));
        RT(cudaStreamSynchronize(stream[0])); /* ends */
        ncclResult_t state;
        OK(ncclCommGetAsyncError(own[0], &state));
        CHECK(state == ncclRemoteError);
        CHECK(ncclAllReduce(at[0], at[0], 1, ncclUint32, ncclSum, own[0], stream[0]) == ncclRemoteError);
        OK(ncclCommAbort(own[0]));
    } else {
        OK(ncclAllReduce(at[1], at[1], 1, ncclUint32, ncclSum, own[1], stream[1]));
        for (int r = 0; r < 2; r++) {
            ncclResult_t ended = ncclCommFinalize(own[r]);
            CHECK(ended == ncclSuccess || ended == ncclInProgress);
            CHECK(settled(own[r]) == ncclSuccess && at[r][0] == 6);
            OK(ncclCommDestroy(own[r]));
        }
    }
    for (int r = 0; r < 2; r++)
        RT(cudaFree(at[r]));
}

/* Ranks that don't agree get an error, not a wrong result or a wait without end. */
static void disagree(void)
{
    ncclComm_t own[2];
    ncclResult_t state;
    OK(ncclCommInitAll(own, 2, NULL));
    unsigned *a = device_memory(0, 64), *b = device_memory(1, 64);
    memset(a, 0, 64);
    memset(b, 0, 64);
    OK(ncclAllReduce(a, a, 2, ncclUint32, ncclSum, own[0], stream[0]));
    OK(ncclAllReduce(b, b, 3, ncclUint32, ncclSum, own[1], stream[1]));
    wait_all();
    OK(ncclCommGetAsyncError(own[1], &state));
    CHECK(state == ncclInvalidUsage);
    OK(ncclCommAbort(own[0]));
    OK(ncclCommAbort(own[1]));
    RT(cudaFree(a));
    RT(cudaFree(b));
}

/* Sanitizers see a fault before the driver does. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A rank's context fails: the other's stream goes on, and its communicator says why. */
static void context_fails(void)
{
    ncclComm_t own[2];
    ncclResult_t state;
    OK(ncclCommInitAll(own, 2, NULL));
    unsigned *b = device_memory(1, 64), *wild = (unsigned *)(uintptr_t)0xdead0000beef0;
    RT(cudaSetDevice(0));
    OK(ncclAllReduce(b, b, 2, ncclUint32, ncclSum, own[1], stream[1]));
    state = ncclAllReduce(wild, wild, 2, ncclUint32, ncclSum, own[0], stream[0]);
    CHECK(state == ncclSuccess || state == ncclUnhandledCudaError); /* it may have run before all was submitted */
    RT(cudaStreamSynchronize(stream[1]));
    CHECK(cudaStreamSynchronize(stream[0]) == cudaErrorIllegalAddress);
    OK(ncclCommGetAsyncError(own[1], &state));
    CHECK(state == ncclUnhandledCudaError);
    OK(ncclCommAbort(own[1]));
    OK(ncclCommAbort(own[0]));
}

/* Functions of later versions, which PyTorch's wheel names: they are there, and say that they can't. */
ncclResult_t ncclCommMemStats(ncclComm_t comm, int stat, uint64_t *value);
ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags);
ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream);
ncclResult_t pncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer, void **outPtr);

static void of_later_versions(void)
{
    uint64_t value = 7;
    void *pointer = &value;
    CHECK(ncclCommMemStats(comm[0], 0, &value) == ncclInvalidUsage && value == 7);
    CHECK(ncclCommSuspend(comm[0], 0) == ncclInvalidUsage);
    CHECK(ncclSignal(1, 0, 0, 0, comm[0], stream[0]) == ncclInvalidUsage);
    CHECK(pncclGetPeerDevicePointer(NULL, 0, 1, &pointer) == ncclInvalidUsage && pointer == &value);
}

int main(void)
{
    begin();
    all_types();
    all_ways();
    cross();
    no_false_deadlock();
    threads();
    graphs();
    splits();
    for (int i = 0; i < 5; i++) {
        not_blocking(false);
        not_blocking(true);
    }
    of_later_versions();
    disagree();
    for (int r = 0; r < RANKS; r++)
        OK(ncclCommDestroy(comm[r]));
    if (!SANITIZED)
        context_fails(); /* last: device 0 is of no use any more */
    puts("NCCL on four devices is right");
    return 0;
}
