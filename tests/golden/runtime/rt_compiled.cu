/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In place of rt_register.c where there is nvcc: the kernels and variables of the host that cases name, registered by the compiler's own code and
 * with machine code beside their PTX. record.sh makes the variables' symbols global, which nvcc keeps to the file.
 */
extern "C" {

__device__ unsigned rt_host_counter = 7;
__device__ unsigned char rt_host_table[64];
__constant__ unsigned rt_host_constants[4] = {1, 2, 3, 4};

/* What no compiler registered. */
char rt_host_missing, rt_host_missing_variable;

__global__ void rt_host_empty()
{
}

__global__ void rt_host_store(unsigned *target, unsigned value)
{
    *target = value;
}

__global__ void __launch_bounds__(64) rt_host_bounded(unsigned *target)
{
    __shared__ volatile unsigned fixed[256];
    fixed[0] = 5;
    *target = fixed[0];
}

/* A launch as programs write it, so that the stub is nvcc's. */
cudaError_t rt_stub_launch(dim3 grid, dim3 block, size_t shared)
{
    rt_host_empty<<<grid, block, shared>>>();
    return cudaGetLastError();
}

}
