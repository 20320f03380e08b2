/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL over four processes: results beside plain loops, ranks that are killed or end at a bad moment, an id whose maker
 * has gone. */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 4
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: rank %d: %s: %s\n", __FILE__, __LINE__, self, #condition, ncclGetLastError(NULL)); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == ncclSuccess)
#define RT(call) CHECK((call) == cudaSuccess)

static int self;
static int pipes[RANKS][2]; /* to each rank */
static ncclComm_t comm;
static cudaStream_t stream;

static unsigned value_of(int rank, size_t i)
{
    return (unsigned)rank * 1000003u + (unsigned)i * 7u + 1;
}

static unsigned *filled(size_t count)
{
    unsigned *at;
    RT(cudaMalloc((void **)&at, count * sizeof *at));
    for (size_t i = 0; i < count; i++)
        at[i] = value_of(self, i);
    return at;
}

static void reduce(size_t count)
{
    unsigned *send = filled(count), *recv = filled(count);
    OK(ncclAllReduce(send, recv, count, ncclUint32, ncclSum, comm, stream));
    OK(ncclAllReduce(send, send, count, ncclUint32, ncclSum, comm, stream)); /* in place */
    RT(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < count; i++) {
        unsigned wanted = 0;
        for (int r = 0; r < RANKS; r++)
            wanted += value_of(r, i);
        CHECK(recv[i] == wanted && send[i] == wanted);
    }
    RT(cudaFree(send));
    RT(cudaFree(recv));
}

static void exchange(size_t count)
{
    unsigned *send = filled(count * RANKS), *recv = filled(count * RANKS);
    OK(ncclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        OK(ncclSend(send + (size_t)r * count, count, ncclUint32, r, comm, stream));
        OK(ncclRecv(recv + (size_t)r * count, count, ncclUint32, r, comm, stream));
    }
    OK(ncclGroupEnd());
    RT(cudaStreamSynchronize(stream));
    for (int r = 0; r < RANKS; r++)
        for (size_t i = 0; i < count; i++)
            CHECK(recv[(size_t)r * count + i] == value_of(r, (size_t)self * count + i));
    memset(recv, 0, count * RANKS * sizeof *recv);
    OK(ncclAlltoAll(send, recv, count, ncclUint32, comm, stream));
    RT(cudaStreamSynchronize(stream));
    for (int r = 0; r < RANKS; r++)
        CHECK(recv[(size_t)r * count] == value_of(r, (size_t)self * count));
    OK(ncclAllGather(send, recv, count, ncclUint32, comm, stream));
    RT(cudaStreamSynchronize(stream));
    for (int r = 0; r < RANKS; r++)
        CHECK(recv[(size_t)(r + 1) * count - 1] == value_of(r, count - 1));
    OK(ncclBroadcast(send, recv, count, ncclUint32, 2, comm, stream));
    OK(ncclReduceScatter(send, recv + count, count, ncclUint32, ncclMax, comm, stream));
    RT(cudaStreamSynchronize(stream));
    CHECK(recv[0] == value_of(2, 0) && recv[count] == value_of(RANKS - 1, (size_t)self * count));
    RT(cudaFree(send));
    RT(cudaFree(recv));
}

/* A captured operation, launched often; and a communicator of half the ranks. */
static void graph_and_split(void)
{
    unsigned *at = filled(1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    ncclComm_t half;
    at[0] = 1;
    RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(ncclAllReduce(at, at, 1, ncclUint32, ncclSum, comm, stream));
    RT(cudaStreamEndCapture(stream, &graph));
    RT(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 6; i++)
        RT(cudaGraphLaunch(exec, stream));
    RT(cudaStreamSynchronize(stream));
    CHECK(at[0] == 1u << 12);
    RT(cudaGraphExecDestroy(exec));
    RT(cudaGraphDestroy(graph));
    at[0] = 1u << self;
    OK(ncclCommSplit(comm, self % 2, self, &half, NULL));
    OK(ncclAllReduce(at, at, 1, ncclUint32, ncclSum, half, stream));
    RT(cudaStreamSynchronize(stream));
    CHECK(at[0] == (self % 2 ? 10 : 5));
    OK(ncclCommDestroy(half));
    RT(cudaFree(at));
}

static void work(unsigned seed)
{
    (void)seed;
    reduce(1);
    reduce(1000);
    reduce(1500007);
    exchange(3);
    exchange(70001);
    graph_and_split();
    for (int i = 0; i < 100; i++)
        reduce(10);
    OK(ncclCommDestroy(comm));
}

/* Waits until all have their communicator, without NCCL: an operation of a rank that dies may fail. */
static void meet(void)
{
    char byte = 0;
    for (int r = 0; r < RANKS; r++)
        CHECK(write(pipes[r][1], &byte, 1) == 1);
    for (int r = 0; r < RANKS; r++)
        CHECK(read(pipes[self][0], &byte, 1) == 1);
}

/* Rank 2 dies at some moment while all work; the others get an error and end. */
static void work_until_death(unsigned seed)
{
    unsigned *at = filled(100000);
    meet();
    if (self == 2 && fork() == 0) {
        /* A child that kills its parent: at any moment. */
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000L * (long)(seed % 60)}, NULL);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    for (;;) {
        size_t count = 1 + (seed = seed * 1664525u + 1013904223u) % 100000;
        ncclResult_t state = ncclAllReduce(at, at, seed % 3 ? 5 : 5000, ncclUint32, ncclMax, comm, stream);
        (void)count;
        if (state == ncclSuccess) {
            RT(cudaStreamSynchronize(stream));
            OK(ncclCommGetAsyncError(comm, &state));
        }
        if (state != ncclSuccess) {
            CHECK(self != 2 && (state == ncclRemoteError || state == ncclSystemError));
            break;
        }
    }
    ncclComm_t rest = NULL;
    int gone = 2, count = 0;
    OK(ncclCommShrink(comm, &gone, 1, &rest, NULL, NCCL_SHRINK_ABORT));
    OK(ncclCommCount(rest, &count));
    CHECK(count == RANKS - 1);
    at[0] = (unsigned)self;
    OK(ncclAllReduce(at, at, 1, ncclUint32, ncclSum, rest, stream));
    RT(cudaStreamSynchronize(stream));
    CHECK(at[0] == 0 + 1 + 3);
    OK(ncclCommAbort(comm));
    OK(ncclCommDestroy(rest));
}

/* Rank 2 ends as soon as it has its communicator. What the others are doing ends, with an error or without. */
static void die_at_once(unsigned seed)
{
    (void)seed;
    if (self == 2)
        (void)raise(SIGKILL);
    unsigned *at = filled(1);
    ncclResult_t state = comm ? ncclAllReduce(at, at, 1, ncclUint32, ncclMax, comm, stream) : ncclRemoteError;
    RT(cudaStreamSynchronize(stream));
    if (state == ncclSuccess)
        OK(ncclCommGetAsyncError(comm, &state));
    CHECK(state == ncclRemoteError || state == ncclSystemError);
    ncclComm_t rest = NULL;
    int gone = 2;
    if (!comm)
        return;
    state = ncclCommShrink(comm, &gone, 1, &rest, NULL, NCCL_SHRINK_ABORT);
    CHECK(state == ncclSuccess || state == ncclRemoteError);
    OK(ncclCommAbort(comm));
    if (state == ncclSuccess)
        OK(ncclCommDestroy(rest));
}

/* Ranks 1 and 2 end, and the others count on rank 1: the new communicator is not made. */
static void miss_one(unsigned seed)
{
    (void)seed;
    meet();
    if (self == 2)
        (void)raise(SIGKILL);
    if (self == 1)
        exit(0);
    ncclComm_t rest = comm;
    int gone = 2;
    CHECK(ncclCommShrink(comm, &gone, 1, &rest, NULL, NCCL_SHRINK_ABORT) == ncclRemoteError && !rest);
    OK(ncclCommAbort(comm));
}

/* A process of a rank: gets the id from rank 0 by the pipes. */
static void run_rank(void (*with)(unsigned seed), unsigned seed)
{
    ncclUniqueId id;
    (void)alarm(600); /* a rank that waits for ever fails the test */
    RT(cudaSetDevice(self));
    RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (self == 0) {
        OK(ncclGetUniqueId(&id));
        for (int r = 1; r < RANKS; r++)
            CHECK(write(pipes[r][1], &id, sizeof id) == (ssize_t)sizeof id);
    } else {
        CHECK(read(pipes[self][0], &id, sizeof id) == (ssize_t)sizeof id);
    }
    ncclResult_t made = ncclCommInitRank(&comm, RANKS, id, self);
    CHECK(made == ncclSuccess || (with == die_at_once && self != 2 && !comm));
    with(seed);
    exit(0);
}

static void run_all(void (*with)(unsigned seed), unsigned seed)
{
    pid_t child[RANKS];
    for (int r = 0; r < RANKS; r++)
        CHECK(pipe(pipes[r]) == 0);
    for (int r = 0; r < RANKS; r++) {
        child[r] = fork();
        if (child[r] == 0) {
            self = r;
            run_rank(with, seed);
        }
    }
    for (int r = 0; r < RANKS; r++) {
        int status = -1;
        CHECK(waitpid(child[r], &status, 0) == child[r]);
        if (with != work && r == 2)
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        close(pipes[r][0]);
        close(pipes[r][1]);
    }
}

/* The process that made the id has gone. */
static void orphaned(void)
{
    int ends[2];
    ncclUniqueId id;
    CHECK(pipe(ends) == 0);
    pid_t maker = fork();
    if (maker == 0) {
        OK(ncclGetUniqueId(&id));
        _exit(write(ends[1], &id, sizeof id) != (ssize_t)sizeof id);
    }
    CHECK(waitpid(maker, NULL, 0) == maker);
    CHECK(read(ends[0], &id, sizeof id) == (ssize_t)sizeof id);
    CHECK(ncclCommInitRank(&comm, 2, id, 0) == ncclSystemError && !comm);
}

int main(void)
{
    const char *kills = getenv("MILLRACE_TEST_KILLS");
    run_all(work, 0);
    run_all(die_at_once, 0);
    run_all(miss_one, 0);
    for (int i = 0; i < (kills ? atoi(kills) : 4); i++)
        run_all(work_until_death, (unsigned)i * 17 + 3);
    orphaned(); /* last: from here on this process has a driver */
    puts("NCCL over processes is right");
    return 0;
}
