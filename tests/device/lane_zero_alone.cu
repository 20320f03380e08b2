/* SPDX-License-Identifier: Apache-2.0 */
/* lane_zero.cu for libnvrtc: in the lanes that don't set it, the variable has no value. */
extern "C" __global__ void kernel(int *result)
{
    __shared__ int counter;
    int lane = threadIdx.x, base;
    if (lane == 0)
        counter = 7;
    __syncwarp();
    if (lane == 0)
        base = atomicAdd(&counter, 32);
    base = __shfl_sync(0xffffffffu, base, 0);
    __syncwarp();
    if (lane == 0) {
        result[0] = counter == 39 && base == 7 ? 0 : __LINE__;
        result[1] = counter;
    }
}
