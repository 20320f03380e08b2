/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose streams have work of the libraries of mathematics: library_cases NAME [mended]. What each one is found
 * guilty of stands in test_library_cases.py. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>

#include <cstring>

#include "cases.h"

enum { SIDE = 64, COUNT = SIDE * SIDE };

static bool mended;
static float *a, *b, *c, *pinned;
static const float factor = 0.5f, none = 0;
static cudaStream_t one, two;
static cudaEvent_t event;
static cublasHandle_t blas;

__global__ void fill(float *to, float value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

/* What comes in the second stream waits for the first one, or should. */
static void cross()
{
    CHECK(cudaEventRecord(event, one));
    if (mended)
        CHECK(cudaStreamWaitEvent(two, event));
}

static void product()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, SIDE, SIDE, SIDE, &factor, a, SIDE, b, SIDE, &none, c, SIDE));
    cross();
    CHECK(cublasSetStream(blas, two));
    CHECK(cublasSaxpy(blas, COUNT, &factor, c, 1, pinned, 1));
}

/* Halves of one matrix, which no byte joins: in order, unless they overlap by a row. */
static void halves()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE / 2, SIDE, SIDE, &factor, a, SIDE, b, SIDE, &factor, c, SIDE));
    CHECK(cublasSetStream(blas, two));
    float *rest = c + SIDE / 2 - (mended ? 0 : 1);
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE / 2, SIDE, SIDE, &factor, a, SIDE, b, SIDE, &factor, rest, SIDE));
}

/* Only one triangle is read: the other one may change. */
static void triangle()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasStrsv(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, SIDE, a, SIDE, c, 1));
    CHECK(cudaMemsetAsync(a + (SIDE - 1) * SIDE + (mended ? SIDE - 1 : 0), 0, 4, two)); /* the diagonal isn't read */
    CHECK(cudaMemsetAsync(a + (mended ? SIDE : 1), 0, 4, two));
}

/* The factor is read when the work runs. */
static void scalar()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    CHECK(cublasSdot(blas, COUNT, a, 1, b, 1, c));
    cross();
    CHECK(cublasSetStream(blas, two));
    CHECK(cublasSscal(blas, COUNT, c, pinned, 1));
}

/* Not told: pointers in memory. */
static void by_pointers()
{
    float **pointers;
    float *hosts[3] = {a, b, c};
    CHECK(cudaMalloc(&pointers, sizeof hosts));
    CHECK(cudaMemcpy(pointers, hosts, sizeof hosts, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSgemmBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &factor, pointers, SIDE, pointers + 1, SIDE,
                             &none, pointers + 2, SIDE, 1));
    fill<<<SIDE, SIDE, 0, two>>>(c, 1);
}

static void transform()
{
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, SIDE, CUFFT_C2C, SIDE / 2));
    CHECK(cufftSetStream(plan, one));
    CHECK(cufftExecC2C(plan, reinterpret_cast<cufftComplex *>(a), reinterpret_cast<cufftComplex *>(b), CUFFT_FORWARD));
    cross();
    CHECK(cudaMemcpyAsync(pinned, b + COUNT - 1, 4, cudaMemcpyDeviceToHost, two)); /* the last byte that it writes */
}

static void numbers()
{
    curandGenerator_t generator;
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    CHECK(curandSetStream(generator, one));
    CHECK(curandGenerateUniform(generator, a, COUNT));
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(a, 1);
}

static void light()
{
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t layout;
    CHECK(cublasLtCreate(&handle));
    CHECK(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, SIDE, SIDE, SIDE));
    CHECK(cublasLtMatmul(handle, how, &factor, a, layout, b, layout, &none, c, layout, c, layout, NULL, NULL, 0, one));
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(c, 1);
}

/* Two nodes of a graph. */
static void captured()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t joined;
    CHECK(cudaEventCreate(&joined));
    CHECK(cublasSetStream(blas, one));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event));
    CHECK(cublasSaxpy(blas, COUNT, &factor, a, 1, b, 1));
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(b, 1);
    CHECK(cudaEventRecord(joined, two));
    CHECK(cudaStreamWaitEvent(one, joined));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
}

/* The end of a library's work tells the host nothing. */
static void unknown_end()
{
    CHECK(cublasSetStream(blas, one));
    fill<<<SIDE, SIDE, 0, one>>>(a, 1);
    CHECK(cublasSscal(blas, COUNT, &factor, b, 1));
    cudaStream_t third;
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    CHECK(cudaLaunchHostFunc(third, [](void *) {}, nullptr));
    while (cudaStreamQuery(third) == cudaErrorNotReady)
        continue;
    if (mended)
        CHECK(cudaStreamSynchronize(one));
    fill<<<SIDE, SIDE, 0, two>>>(a, 1);
}

/* For the tool mem: one element too many. */
static void beyond()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSscal(blas, COUNT + (mended ? 0 : 1), &factor, c, 1));
}

/* For the tool init: what nothing has written is read, and what a library writes is written. */
static void unwritten()
{
    float *fresh, result[2];
    CHECK(cudaMalloc(&fresh, COUNT * sizeof(float)));
    if (mended)
        CHECK(cudaMemset(fresh, 0, COUNT * sizeof(float)));
    CHECK(cublasScopy(blas, COUNT - 1, a, 1, fresh, 1));
    CHECK(cudaMemcpy(result, fresh + COUNT - 2, sizeof result, cudaMemcpyDeviceToHost));
}

int main(int count, char **words)
{
    static const one_case cases[] = {{"product", product},   {"halves", halves},           {"triangle", triangle}, {"scalar", scalar},
                 {"transform", transform}, {"numbers", numbers},         {"light", light},       {"captured", captured},
                 {"by_pointers", by_pointers}, {"unknown_end", unknown_end}, {"beyond", beyond},     {"unwritten", unwritten}};
    mended = count > 2;
    for (float **memory : {&a, &b, &c}) {
        CHECK(cudaMalloc(memory, COUNT * sizeof(float)));
        CHECK(cudaMemset(*memory, 0, COUNT * sizeof(float)));
    }
    CHECK(cudaMallocHost(&pinned, COUNT * sizeof(float)));
    std::memset(pinned, 0, COUNT * sizeof(float));
    CHECK(cublasCreate(&blas));
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaDeviceSynchronize());
    return run_case(cases, words[1]);
}
