/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that hand memory of their heap on to each other, each with a mended twin: heap_cases CASE [mended].
 *
 * A case prints done, or the status that its kernels end with. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

static cudaStream_t one, other;
static cudaEvent_t ready;
static int **place; /* where kernels leave pointers */
static int *seen;
static bool mended;

static void check(cudaError_t status)
{
    if (status) {
        std::printf("%s\n", cudaGetErrorName(status));
        std::exit(0);
    }
}

__global__ void make(int **to, int count)
{
    int *mine = (int *)malloc(count * sizeof(int));
    for (int i = 0; i < count; i++)
        mine[i] = i;
    *to = mine;
}

__global__ void set(int **to, int value)
{
    (*to)[threadIdx.x] = value;
}

__global__ void sum(int **from, int *out, int first)
{
    atomicAdd(out, (*from)[first + threadIdx.x]);
}

__global__ void drop(int **from)
{
    free(*from);
}

/* Each thread has memory for a moment, and what one gives back another one may get. */
__global__ void churn(int *out, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int *volatile mine = (int *)malloc(4 + 4 * (threadIdx.x % 8));
        mine[0] = i;
        atomicAdd(out, mine[0]);
        free(mine);
    }
}

/* The second stream comes after the first one's work, or, in the fault, doesn't. */
static void meet()
{
    if (mended) {
        check(cudaEventRecord(ready, one));
        check(cudaStreamWaitEvent(other, ready));
    }
}

/* Both kernels know the memory, and nothing orders what they do to it. */
static void race()
{
    make<<<1, 1, 0, one>>>(place, 32);
    check(cudaDeviceSynchronize());
    set<<<1, 32, 0, one>>>(place, 7);
    meet();
    sum<<<1, 32, 0, other>>>(place, seen, 0);
}

/* A kernel frees what another one uses. */
static void early()
{
    make<<<1, 1, 0, one>>>(place, 32);
    check(cudaDeviceSynchronize());
    set<<<1, 32, 0, one>>>(place, 7);
    meet();
    drop<<<1, 1, 0, other>>>(place);
}

/* A kernel uses what another one has freed before it. */
static void late()
{
    make<<<1, 1, 0, one>>>(place, 32);
    if (!mended)
        drop<<<1, 1, 0, one>>>(place);
    sum<<<1, 32, 0, one>>>(place, seen, 0);
    if (mended)
        drop<<<1, 1, 0, one>>>(place);
}

/* It reads one element behind the last. */
static void past()
{
    make<<<1, 1, 0, one>>>(place, 31);
    sum<<<1, 31, 0, one>>>(place, seen, mended ? 0 : 1);
}

static void twice()
{
    make<<<1, 1, 0, one>>>(place, 32);
    drop<<<1, 1, 0, one>>>(place);
    if (!mended)
        drop<<<1, 1, 0, one>>>(place);
}

/* free() gets a pointer of cudaMalloc's. */
static void foreign()
{
    int *a;
    check(cudaMalloc(&a, 64));
    check(cudaMemcpy(place, &a, sizeof a, cudaMemcpyHostToDevice));
    check(cudaDeviceSynchronize());
    if (!mended)
        drop<<<1, 1, 0, one>>>(place);
    check(cudaDeviceSynchronize());
    check(cudaFree(a));
}

/* Nothing is wrong here, with or without an order: the two streams' kernels have memory of their own. */
static void apart()
{
    for (int i = 0; i < 4; i++) {
        churn<<<4, 64, 0, one>>>(seen, 8);
        churn<<<4, 64, 0, other>>>(seen, 8);
    }
    meet();
}

/* Many come and go, many stay, and all of them are known. */
__global__ void keep(int **to)
{
    int *mine = (int *)malloc(16);
    mine[0] = 1;
    to[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

__global__ void use(int *const *from, int *out)
{
    atomicAdd(out, from[blockIdx.x * blockDim.x + threadIdx.x][0]);
}

__global__ void drop_all(int *const *from)
{
    free(from[blockIdx.x * blockDim.x + threadIdx.x]);
}

static void many()
{
    int **all, count = 0;
    check(cudaMalloc(&all, 128 * 256 * sizeof *all));
    for (int i = 0; i < 2; i++) {
        churn<<<128, 256, 0, one>>>(seen, 2);
        keep<<<128, 256, 0, one>>>(all);
        use<<<128, 256, 0, one>>>(all, seen);
        meet();
        drop_all<<<128, 256, 0, one>>>(all);
    }
    check(cudaMemcpyAsync(&count, seen, sizeof count, cudaMemcpyDeviceToHost, one));
    check(cudaStreamSynchronize(one));
    if (count != 2 * 2 * 128 * 256)
        std::printf("%d\n", count);
    check(cudaFree(all));
}

/* More than the heap has at once goes through it: it is as large as without an observer. */
__global__ void large(int *out, size_t bytes, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        char *volatile mine = (char *)malloc(bytes), *volatile more = (char *)malloc(bytes); // the compiler leaves them
        if (!mine || more)
            atomicAdd(out, 1000);
        mine[i] = 1;
        mine[bytes - 1] = 2;
        free(mine);
    }
}

static void bound()
{
    int count = 0;
    size_t heap = 0;
    check(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    large<<<1, 1, 0, one>>>(seen, heap / 2 + 4096, 200);
    check(cudaMemcpyAsync(&count, seen, sizeof count, cudaMemcpyDeviceToHost, one));
    check(cudaStreamSynchronize(one));
    if (count)
        std::printf("%d rounds were wrong\n", count / 1000);
}

int main(int count, char **words)
{
    const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"race", race},   {"early", early},     {"late", late},   {"past", past},
                 {"twice", twice}, {"foreign", foreign}, {"apart", apart}, {"bound", bound}, {"many", many}};
    mended = count > 2 && std::strcmp(words[2], "mended") == 0;
    check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    check(cudaMalloc(&place, sizeof *place));
    check(cudaMalloc(&seen, sizeof *seen));
    check(cudaMemset(seen, 0, sizeof *seen));
    check(cudaDeviceSynchronize());
    for (const auto &each : cases)
        if (count > 1 && std::strcmp(words[1], each.name) == 0)
            each.run();
    check(cudaDeviceSynchronize());
    std::puts("done");
    return 0;
}
