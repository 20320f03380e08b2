/* SPDX-License-Identifier: Apache-2.0 */
/* Programs whose streams have work of the libraries of mathematics: library_cases NAME [mended]. What each one is found
 * guilty of stands in test_library_cases.py. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nccl.h>

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

/* A library's work is the first one of a default stream. */
static void own_stream()
{
    CHECK(cublasSetStream(blas, cudaStreamPerThread));
    if (!mended)
        CHECK(cudaEventRecord(event, cudaStreamPerThread));
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, SIDE, SIDE, SIDE, &factor, a, SIDE, b, SIDE, &none, c, SIDE));
    if (mended)
        CHECK(cudaEventRecord(event, cudaStreamPerThread));
    CHECK(cudaStreamWaitEvent(two, event));
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

/* Matrices by pointers, which are read when the work runs. */
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
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(c, 1);
}

/* A band of a matrix. */
static void banded()
{
    CHECK(cublasSetStream(blas, one));
    CHECK(cublasSgbmv(blas, CUBLAS_OP_N, SIDE, SIDE, 1, 1, &factor, a, SIDE, b, 1, &none, c, 1));
    cross();
    fill<<<1, SIDE, 0, two>>>(c, 1);
}

/* A diagonal matrix in compressed rows. */
struct diagonal {
    int *offsets, *columns;
    float *values;
    cusparseHandle_t handle;

    diagonal()
    {
        int host[SIDE + 1];
        for (int i = 0; i <= SIDE; i++)
            host[i] = i;
        CHECK(cudaMalloc(&offsets, sizeof host));
        CHECK(cudaMalloc(&columns, sizeof host));
        CHECK(cudaMalloc(&values, sizeof host));
        CHECK(cudaMemcpy(offsets, host, sizeof host, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(columns, host, sizeof host, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(values, 0, sizeof host));
        CHECK(cusparseCreate(&handle));
        CHECK(cusparseSetStream(handle, one));
        CHECK(cudaDeviceSynchronize());
    }
};

static void sparse()
{
    diagonal d;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t from, to;
    CHECK(cusparseCreateCsr(&matrix, SIDE, SIDE, SIDE, d.offsets, d.columns, d.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&from, SIDE, a, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&to, SIDE, b, CUDA_R_32F));
    CHECK(cusparseSpMV(d.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &factor, matrix, from, &none, to, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, NULL));
    cross();
    fill<<<1, SIDE, 0, two>>>(b, 1);
}

/* Elements that indices name: the others may change. */
static void scattered()
{
    diagonal d;
    cusparseSpVecDescr_t from;
    cusparseDnVecDescr_t to;
    CHECK(cusparseCreateSpVec(&from, COUNT, 4, d.columns, d.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&to, COUNT, b, CUDA_R_32F));
    CHECK(cusparseScatter(d.handle, from, to));
    CHECK(cudaMemsetAsync(b + (mended ? 4 : 3), 0, 4, two));
}

/* Not told: colours. */
static void coloured()
{
    diagonal d;
    cusparseMatDescr_t how;
    cusparseColorInfo_t info;
    int count;
    CHECK(cusparseCreateMatDescr(&how));
    CHECK(cusparseCreateColorInfo(&info));
    CHECK(cusparseScsrcolor(d.handle, SIDE, SIDE, how, d.values, d.offsets, d.columns, &factor, &count,
                            reinterpret_cast<int *>(a), reinterpret_cast<int *>(b), info));
    fill<<<1, SIDE, 0, two>>>(a, 1);
}

/* As many entries as the last offset says. */
static void added()
{
    diagonal d;
    cusparseMatDescr_t how;
    CHECK(cusparseCreateMatDescr(&how));
    CHECK(cusparseScsrgeam2(d.handle, SIDE, SIDE, &factor, how, SIDE, d.values, d.offsets, d.columns, &factor, how, SIDE,
                            d.values, d.offsets, d.columns, how, c, d.offsets, reinterpret_cast<int *>(b), a));
    CHECK(cudaMemsetAsync(c + SIDE - (mended ? 0 : 1), 0, 4, two));
}

/* Only one triangle is factorised. */
static void cholesky()
{
    cusolverDnHandle_t solver;
    float *work;
    int *info, size;
    CHECK(cusolverDnCreate(&solver));
    CHECK(cusolverDnSetStream(solver, one));
    CHECK(cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, SIDE, a, SIDE, &size));
    CHECK(cudaMalloc(&work, size * sizeof(float)));
    CHECK(cudaMalloc(&info, sizeof(int)));
    CHECK(cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, SIDE, a, SIDE, work, size, info));
    CHECK(cudaMemsetAsync(a + (mended ? SIDE : 1), 0, 4, two));
}

/* A workspace belongs to one work at a time, whatever that does with it. */
static void workspace()
{
    cusolverDnHandle_t solver;
    float *work[2];
    int *info, size;
    CHECK(cusolverDnCreate(&solver));
    CHECK(cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, SIDE, a, SIDE, &size));
    CHECK(cudaMalloc(&work[0], size * sizeof(float)));
    CHECK(cudaMalloc(&work[1], size * sizeof(float)));
    CHECK(cudaMalloc(&info, 2 * sizeof(int)));
    CHECK(cusolverDnSetStream(solver, one));
    CHECK(cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, SIDE, a, SIDE, work[0], size, info));
    CHECK(cusolverDnSetStream(solver, two));
    CHECK(cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, SIDE, b, SIDE, work[mended], size, info + 1));
}

/* A factorisation in many works. */
static void blocks()
{
    enum { LARGE = 520 };
    cusolverDnHandle_t solver;
    float *matrix, *work;
    int *pivots, size;
    CHECK(cusolverDnCreate(&solver));
    CHECK(cusolverDnSetStream(solver, one));
    CHECK(cudaMalloc(&matrix, LARGE * LARGE * sizeof(float)));
    CHECK(cudaMalloc(&pivots, (LARGE + 1) * sizeof(int)));
    CHECK(cudaMemset(matrix, 0, LARGE * LARGE * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    CHECK(cusolverDnSgetrf_bufferSize(solver, LARGE, LARGE, matrix, LARGE, &size));
    CHECK(cudaMalloc(&work, size * sizeof(float)));
    CHECK(cusolverDnSgetrf(solver, LARGE, LARGE, matrix, LARGE, work, pivots, pivots + LARGE));
    cross();
    CHECK(cudaMemcpyAsync(pinned, pivots + LARGE, sizeof(int), cudaMemcpyDeviceToHost, two));
}

/* A tensor with holes, which may change. */
static void network()
{
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t tensor;
    cudnnActivationDescriptor_t relu;
    CHECK(cudnnCreate(&handle));
    CHECK(cudnnSetStream(handle, one));
    CHECK(cudnnCreateTensorDescriptor(&tensor));
    CHECK(cudnnSetTensor4dDescriptorEx(tensor, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 128, 32, 8, 1));
    CHECK(cudnnCreateActivationDescriptor(&relu));
    CHECK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    CHECK(cudnnActivationForward(handle, relu, &factor, tensor, a, &none, tensor, b));
    CHECK(cudaMemsetAsync(b + 128 + 64 + 24 + (mended ? 5 : 4), 0, 4, two)); /* behind the last element, or itself */
}

/* An operation of a graph of cuDNN's. */
static cudnnBackendDescriptor_t described(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made;
    CHECK(cudnnBackendCreateDescriptor(type, &made));
    return made;
}

template <typename type>
static void attribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t kind, const type &value)
{
    CHECK(cudnnBackendSetAttribute(of, name, kind, sizeof value / (kind == CUDNN_TYPE_INT64 ? 8 : sizeof value), &value));
}

static cudnnBackendDescriptor_t graph_tensor(int64_t number, bool is_virtual = false)
{
    cudnnBackendDescriptor_t made = described(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t dimensions[3] = {1, SIDE, SIDE}, strides[3] = {COUNT, SIDE, 1}, alignment = 16;
    attribute(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual);
    attribute(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    attribute(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dimensions);
    attribute(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides);
    attribute(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, number);
    attribute(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
    CHECK(cudnnBackendFinalize(made));
    return made;
}

static cudnnBackendDescriptor_t relu_operation(cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y)
{
    cudnnBackendDescriptor_t relu = described(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    attribute(relu, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
    attribute(relu, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    CHECK(cudnnBackendFinalize(relu));
    cudnnBackendDescriptor_t operation = described(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, relu);
    attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    attribute(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    CHECK(cudnnBackendFinalize(operation));
    return operation;
}

static cudnnBackendDescriptor_t product_operation(cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t z)
{
    cudnnBackendDescriptor_t product = described(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    attribute(product, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    CHECK(cudnnBackendFinalize(product));
    cudnnBackendDescriptor_t operation = described(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, product);
    attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
    attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
    attribute(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, z);
    CHECK(cudnnBackendFinalize(operation));
    return operation;
}

/* In stream one. Tensors 1, 2 and 3 are a, b and c. */
static void run_graph(cudnnHandle_t handle, cudnnBackendDescriptor_t *operations, int count)
{
    cudnnBackendDescriptor_t graph = described(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    attribute(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
    CHECK(cudnnBackendSetAttribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operations));
    CHECK(cudnnBackendFinalize(graph));
    cudnnBackendDescriptor_t engine = described(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t first = 0;
    attribute(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, graph);
    attribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, first);
    CHECK(cudnnBackendFinalize(engine));
    cudnnBackendDescriptor_t choice = described(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    attribute(choice, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, engine);
    CHECK(cudnnBackendFinalize(choice));
    cudnnBackendDescriptor_t plan = described(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    attribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    attribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, choice);
    CHECK(cudnnBackendFinalize(plan));
    cudnnBackendDescriptor_t pack = described(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    void *pointers[3] = {a, b, c}, *space = nullptr;
    int64_t numbers[3] = {1, 2, 3};
    CHECK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers));
    CHECK(cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, numbers));
    attribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, space);
    CHECK(cudnnBackendFinalize(pack));
    CHECK(cudnnBackendExecute(handle, plan, pack));
}

static void network_graph()
{
    cudnnHandle_t handle;
    CHECK(cudnnCreate(&handle));
    CHECK(cudnnSetStream(handle, one));
    cudnnBackendDescriptor_t operation = relu_operation(graph_tensor(1), graph_tensor(2));
    run_graph(handle, &operation, 1);
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(a, 1);
}

/* What is between the two operations lies in memory of the library's own. */
static void network_products()
{
    cudnnHandle_t handle;
    CHECK(cudnnCreate(&handle));
    CHECK(cudnnSetStream(handle, one));
    cudnnBackendDescriptor_t x = graph_tensor(1), y = graph_tensor(2), between = graph_tensor(7, true), z = graph_tensor(3);
    cudnnBackendDescriptor_t operations[] = {product_operation(x, y, between), relu_operation(between, z)};
    run_graph(handle, operations, 2);
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(c, 1);
}

/* A collective operation. */
static void all_reduce()
{
    ncclComm_t comm;
    CHECK(ncclCommInitAll(&comm, 1, NULL));
    CHECK(ncclAllReduce(a, b, COUNT, ncclFloat, ncclSum, comm, one));
    cross();
    fill<<<SIDE, SIDE, 0, two>>>(b, 1);
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
    static const one_case cases[] = {{"product", product}, {"own_stream", own_stream}, {"halves", halves},           {"triangle", triangle}, {"scalar", scalar},
                 {"transform", transform}, {"numbers", numbers},         {"light", light},       {"captured", captured},
                 {"by_pointers", by_pointers}, {"banded", banded}, {"coloured", coloured}, {"sparse", sparse}, {"scattered", scattered}, {"added", added},
                 {"cholesky", cholesky}, {"workspace", workspace}, {"blocks", blocks}, {"network", network}, {"network_graph", network_graph}, {"network_products", network_products}, {"all_reduce", all_reduce}, {"unknown_end", unknown_end}, {"beyond", beyond},     {"unwritten", unwritten}};
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
