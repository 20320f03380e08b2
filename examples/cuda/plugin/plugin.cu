/* SPDX-License-Identifier: Apache-2.0 */
/* A library with a kernel. It is compiled twice with different macros: both have a kernel and a variable of these names. */
__device__ int operand = OPERAND;

static __global__ void change(int *data)
{
    data[threadIdx.x] = data[threadIdx.x] OPERATOR operand;
}

extern "C" cudaError_t apply(int *host, int count)
{
    int *data;
    cudaError_t status = cudaMalloc(&data, count * sizeof(int));
    if (status != cudaSuccess)
        return status;
    status = cudaMemcpy(data, host, count * sizeof(int), cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        change<<<1, count>>>(data);
        status = cudaMemcpy(host, data, count * sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaFree(data);
    return status;
}
