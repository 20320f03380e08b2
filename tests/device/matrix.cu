/* SPDX-License-Identifier: Apache-2.0 */
/* mma.h and cuda_pipeline.h as programs use them. test_matrix.c knows the answers. */
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

/* C = A * B of n by n halves, a warp for each tile of 16 by 16; rows of A, columns of B. */
extern "C" __global__ void gemm(const __half *a, const __half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    int row = blockIdx.y * 16, col = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + col * n + k, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2.0f;
    wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
}

/* The other types, a product of one tile each, with C in memory. */
template <int m, int n, int k, class T, class C, class La, class Lb, class Memory>
__device__ void one(const Memory *a, unsigned pitch_a, const Memory *b, unsigned pitch_b, const C *c, C *d)
{
    wmma::fragment<wmma::matrix_a, m, n, k, T, La> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, Lb> fb;
    wmma::fragment<wmma::accumulator, m, n, k, C> sum;
    wmma::load_matrix_sync(fa, a, pitch_a);
    wmma::load_matrix_sync(fb, b, pitch_b);
    wmma::load_matrix_sync(sum, c, n, wmma::mem_row_major);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, m, wmma::mem_col_major);
}

extern "C" __global__ void bytes(const signed char *a, const signed char *b, const int *c, int *d)
{
    one<16, 16, 16, signed char, int, wmma::row_major, wmma::row_major>(a, 16, b, 16, c, d);
    one<32, 8, 16, signed char, int, wmma::col_major, wmma::col_major>(a, 32, b, 16, c, d + 256);
}

extern "C" __global__ void doubles(const double *a, const double *b, const double *c, double *d)
{
    one<8, 8, 4, double, double, wmma::row_major, wmma::col_major>(a, 4, b, 4, c, d);
}

extern "C" __global__ void singles(const float *a, const float *b, const float *c, float *d)
{
    one<16, 16, 8, wmma::precision::tf32, float, wmma::row_major, wmma::row_major>(a, 8, b, 16, c, d);
}

extern "C" __global__ void bits(const unsigned *a, const unsigned *b, const int *c, int *d)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
    wmma::bmma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}

/* Sums of 256 numbers at a time, the next ones on their way; what lies past the end counts as zeros. */
extern "C" __global__ void stages(const int4 *in, int count, int *out)
{
    __shared__ int4 tile[2][256];
    int me = threadIdx.x, sum = 0, rounds = (count + 255) / 256;
    for (int round = 0; round <= rounds; round++) {
        if (round < rounds)
            __pipeline_memcpy_async(&tile[round % 2][me], &in[round * 256 + me < count ? round * 256 + me : 0], 16, round * 256 + me < count ? 0 : 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        if (round > 0) {
            int4 got = tile[(round - 1) % 2][me ^ 1];
            sum += got.x + 2 * got.y + 3 * got.z + 4 * got.w;
        }
        __syncthreads();
    }
    out[me] = sum;
}

extern "C" __global__ void staged_objects(const double *in, double *out)
{
    __shared__ double tile[64];
    __shared__ __mbarrier_t barrier;
    nvcuda::experimental::pipeline pipe;
    if (threadIdx.x == 0)
        __mbarrier_init(&barrier, 64);
    __syncthreads();
    nvcuda::experimental::memcpy_async(tile[threadIdx.x], in[threadIdx.x], pipe);
    pipe.commit_and_wait();
    __pipeline_arrive_on(&barrier);
    __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[threadIdx.x] = tile[63 - threadIdx.x] + __mbarrier_token_pending_count(token) * 0.0;
}
