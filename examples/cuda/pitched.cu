/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in two and three dimensions: rows with a pitch, a window copied out of an image, a stencil, and a box of three dimensions. */
#include "check.h"

static const int width = 100, height = 60;

__global__ void blur(int *to, const int *from, size_t pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                sum += *((const int *)((const char *)from + (y + dy) * pitch) + x + dx);
    *((int *)((char *)to + y * pitch) + x) = sum;
}

__global__ void number(cudaPitchedPtr box)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    *((int *)((char *)box.ptr + (z * box.ysize + y) * box.pitch) + x) = x + 100 * y + 10000 * z;
}

int main()
{
    static int image[height][width], back[height][width];
    int *from, *to;
    size_t pitch = 0, other = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            image[y][x] = x * y % 17;
    CHECK(cudaMallocPitch(&from, &pitch, width * sizeof(int), height));
    CHECK(cudaMallocPitch(&to, &other, width * sizeof(int), height));
    EXPECT(pitch >= width * sizeof(int) && pitch == other);
    CHECK(cudaMemcpy2D(from, pitch, image, sizeof image[0], sizeof image[0], height, cudaMemcpyHostToDevice));
    CHECK(cudaMemset2D(to, pitch, 0xff, width * sizeof(int), height));
    blur<<<dim3(7, 8), dim3(16, 8)>>>(to, from, pitch);
    CHECK(cudaMemcpy2D(back, sizeof back[0], to, pitch, sizeof back[0], height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                        sum += image[y + dy][x + dx];
            EXPECT(back[y][x] == sum);
        }
    /* A window of 8 by 4, from the middle. */
    int window[4][8];
    CHECK(cudaMemcpy2D(window, sizeof window[0], (char *)from + 20 * pitch + 30 * sizeof(int), pitch, sizeof window[0], 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            EXPECT(window[y][x] == image[20 + y][30 + x]);

    static int cube[3][5][7];
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(7 * sizeof(int), 5, 3)));
    number<<<dim3(5, 3), 7>>>(box);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(2 * sizeof(int), 1, 1); /* without the first layer, row and two columns */
    copy.dstPtr = make_cudaPitchedPtr(cube, 7 * sizeof(int), 7, 5);
    copy.extent = make_cudaExtent(5 * sizeof(int), 4, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                EXPECT(cube[z][y][x] == (x + 2) + 100 * (y + 1) + 10000 * (z + 1));
    EXPECT(cube[2][0][0] == 0);
    CHECK(cudaFree(box.ptr));
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    std::printf("pitched: %d x %d, a window and a box\n", width, height);
    return 0;
}
