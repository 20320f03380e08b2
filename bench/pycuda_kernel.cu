// SPDX-License-Identifier: Apache-2.0
// The kernel of the part "pycuda": read as text by bench_pycuda.py, compiled to PTX at build time for pycuda.c.
// One block walks the array; fifty times, every element is doubled and halved, in double precision as the seed's programs write it.
extern "C" __global__ void double_and_halve(float *array, int length)
{
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        for (int round = 0; round < 50; round++) {
            array[i] *= 2.0;
            array[i] /= 2.0;
        }
    }
}
