/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of kernels.cu as OpenCL programmers write them: the same work-groups, local memory and barriers. Sizes come from kernels.h by way of opencl.c. */
#define TILE 16
#define SCAN_BLOCK 256

__kernel void vector_add(__global const float *a, __global const float *b, __global float *c, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

__kernel void saxpy(float k, __global const float *x, __global float *y, int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        y[i] = k * x[i] + y[i];
}

__kernel void stencil(__global const float *in, __global float *out, int side)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < side - 1 && y < side - 1)
        out[y * side + x] = 0.2f * (in[y * side + x] + in[y * side + x - 1] + in[y * side + x + 1] + in[(y - 1) * side + x] +
                                    in[(y + 1) * side + x]);
}

__kernel void reduce(__global const float *in, __global float *out, int n)
{
    __local float part[256];
    int me = get_local_id(0);
    float sum = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    part[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (me < half_size)
            part[me] += part[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        out[get_group_id(0)] = part[0];
}

/* Running sums within each stretch of SCAN_BLOCK. PoCL 3.1 has no sub-groups, and so no shuffles: what a lane gets from another of its 32 goes through
 * local memory, with a barrier before it is read and one before it is written again. */
__kernel void scan(__global const float *in, __global float *out, int n)
{
    __local float values[SCAN_BLOCK], warps[SCAN_BLOCK / 32];
    int i = get_global_id(0), me = get_local_id(0), lane = me % 32, warp = me / 32;
    float value = i < n ? in[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        values[me] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane >= step)
            value += values[me - step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 31)
        warps[warp] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < warp; k++)
        value += warps[k];
    if (i < n)
        out[i] = value;
}

__kernel void matrix(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float left[TILE][TILE], right[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (int at = 0; at < n; at += TILE) {
        left[y][x] = a[row * n + at + x];
        right[y][x] = b[(at + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

__kernel void transpose(__global const float *in, __global float *out, int side)
{
    __local float tile[TILE][TILE + 1];
    int across = get_local_id(0), down = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    tile[down][across] = in[y * side + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + across;
    y = get_group_id(0) * TILE + down;
    out[y * side + x] = tile[across][down];
}

__kernel void bodies(__global const float4 *at, __global float4 *pull, int n)
{
    int i = get_global_id(0);
    float4 me = at[i];
    float x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k++) {
        float4 other = at[k];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float square = dx * dx + dy * dy + dz * dz + 0.01f, inverse = rsqrt(square), force = other.w * inverse * inverse * inverse;
        x += dx * force;
        y += dy * force;
        z += dz * force;
    }
    pull[i] = (float4)(x, y, z, 0);
}

__kernel void fractal(__global float *out, int side, int rounds)
{
    int px = get_global_id(0), py = get_global_id(1);
    float cx = -2.0f + 3.0f * px / side, cy = -1.5f + 3.0f * py / side, x = 0, y = 0;
    int k = 0;
    while (k < rounds && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        k++;
    }
    out[py * side + px] = k;
}

float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float tail = 0.39894228f * exp(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__kernel void options(__global const float *price, __global const float *strike, __global const float *years, __global float *call,
    __global float *put, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 5.0f + 25.0f * price[i], x = 1.0f + 99.0f * strike[i], t = 0.25f + 9.75f * years[i], rate = 0.02f, swing = 0.30f;
    float root = sqrt(t), d1 = (log(s / x) + (rate + 0.5f * swing * swing) * t) / (swing * root), d2 = d1 - swing * root;
    float n1 = normal(d1), n2 = normal(d2), discount = exp(-rate * t);
    call[i] = s * n1 - x * discount * n2;
    put[i] = x * discount * (1.0f - n2) - s * (1.0f - n1);
}

__kernel void histogram(__global const uchar *in, __global uint *bins, int n)
{
    __local uint mine[BINS];
    int me = get_local_id(0);
    mine[me] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_add(&mine[in[i]], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[me], mine[me]);
}
