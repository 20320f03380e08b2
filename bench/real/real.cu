// SPDX-License-Identifier: Apache-2.0
// Sixteen small programs as people write them for devices: hashes of records, a table of keys, waves and heat in steps
// of time, a picture smoothed between its edges, a walk over a graph, a sorting network, a sparse product, two texts
// aligned, particles in cells, random paths, transforms by hand, points and centres, shortest ways, spins, a search.
#define BENCH_DEVICE
#include "real.h"

#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL records(const u32 *in, u32 *out)
{
    u32 i = INDEX;
    out[i] = hash_record(in + i * RECORD_WORDS);
}

KERNEL insert(const u32 *keys, u32 *table)
{
    u32 key = keys[INDEX] | 1, at = mixed(key) % SLOTS;
    for (;;) {
        u32 found = atomicCAS(&table[at], 0, key);
        if (found == 0 || found == key)
            return;
        at = (at + 1) % SLOTS;
    }
}

KERNEL find(const u32 *keys, const u32 *table, u32 *steps)
{
    u32 key = keys[INDEX] | 1, at = mixed(key) % SLOTS, count = 0;
    while (table[at] != key) {
        count++;
        at = (at + 1) % SLOTS;
    }
    steps[INDEX] = key;
}

KERNEL wave(const float *before, const float *now, float *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * WAVE_SIDE + x;
    if (x == 0 || y == 0 || x == WAVE_SIDE - 1 || y == WAVE_SIDE - 1) {
        next[i] = 0;
        return;
    }
    float bend = now[i - 1] + now[i + 1] + now[i - WAVE_SIDE] + now[i + WAVE_SIDE] - 4.0f * now[i];
    next[i] = 2.0f * now[i] - before[i] + 0.25f * bend;
}

KERNEL heat(const float *now, float *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    int i = (z * HEAT_SIDE + y) * HEAT_SIDE + x, last = HEAT_SIDE - 1, plane = HEAT_SIDE * HEAT_SIDE;
    float here = now[i];
    float left = x > 0 ? now[i - 1] : here, right = x < last ? now[i + 1] : here;
    float up = y > 0 ? now[i - HEAT_SIDE] : here, down = y < last ? now[i + HEAT_SIDE] : here;
    float front = z > 0 ? now[i - plane] : here, back = z < last ? now[i + plane] : here;
    next[i] = here + 0.1f * (left + right + up + down + front + back - 6.0f * here);
}

KERNEL smooth(const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float here = in[y * IMAGE_SIDE + x], sum = 0, weights = 0;
    for (int dy = -IMAGE_REACH; dy <= IMAGE_REACH; dy++)
        for (int dx = -IMAGE_REACH; dx <= IMAGE_REACH; dx++) {
            int px = min(max(x + dx, 0), IMAGE_SIDE - 1), py = min(max(y + dy, 0), IMAGE_SIDE - 1);
            float there = in[py * IMAGE_SIDE + px], difference = there - here;
            float weight = expf(-0.2f * (float)(dx * dx + dy * dy) - 30.0f * difference * difference);
            sum += weight * there;
            weights += weight;
        }
    out[y * IMAGE_SIDE + x] = sum / weights;
}

// A level of the search: nodes of this level give those of their neighbours that have none the next.
KERNEL level(const u32 *edges, int *levels, int now, int *more)
{
    u32 node = INDEX;
    if (levels[node] != now)
        return;
    for (int i = 0; i < EDGES; i++) {
        u32 other = edges[node * EDGES + i];
        if (levels[other] < 0) {
            levels[other] = now + 1;
            *more = 1;
        }
    }
}

KERNEL compare(u32 *values, u32 distance, u32 size)
{
    u32 i = INDEX, other = i ^ distance;
    if (other <= i)
        return;
    u32 a = values[i], b = values[other];
    if ((a > b) == ((i & size) == 0)) {
        values[i] = b;
        values[other] = a;
    }
}

// All steps of distances below a block's size, in shared memory.
KERNEL compare_near(u32 *values, u32 distance, u32 size)
{
    __shared__ u32 near[512];
    u32 i = INDEX, at = threadIdx.x;
    near[at] = values[i];
    for (; distance; distance /= 2) {
        __syncthreads();
        u32 other = at ^ distance;
        if (other > at && (near[at] > near[other]) == ((i & size) == 0)) {
            u32 kept = near[at];
            near[at] = near[other];
            near[other] = kept;
        }
    }
    __syncthreads();
    values[i] = near[at];
}

KERNEL sparse(const int *starts, const int *columns, const float *entries, const float *x, float *y)
{
    u32 row = INDEX;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += entries[i] * x[columns[i]];
    y[row] = sum;
}

// A diagonal of tiles of the table of two texts' alignment; within a tile, diagonal by diagonal.
KERNEL align(const signed char *one, const signed char *two, int *table, int diagonal)
{
    __shared__ int tile[GENE_TILE + 1][GENE_TILE + 1];
    const int pitch = GENES + 1, tiles = GENES / GENE_TILE;
    int first = diagonal < tiles ? 0 : diagonal - tiles + 1, ty = first + blockIdx.x, tx = diagonal - ty;
    int row = ty * GENE_TILE, col = tx * GENE_TILE, at = threadIdx.x;
    tile[0][at + 1] = table[row * pitch + col + at + 1];
    tile[at + 1][0] = table[(row + at + 1) * pitch + col];
    if (at == 0)
        tile[0][0] = table[row * pitch + col];
    __syncthreads();
    for (int d = 0; d < 2 * GENE_TILE - 1; d++) {
        int x = d - at;
        if (x >= 0 && x < GENE_TILE) {
            int same = one[row + at] == two[col + x] ? 3 : -1;
            tile[at + 1][x + 1] = max(tile[at][x] + same, max(tile[at][x + 1], tile[at + 1][x]) - 2);
        }
        __syncthreads();
    }
    for (int y = 0; y < GENE_TILE; y++)
        table[(row + y + 1) * pitch + col + at + 1] = tile[y + 1][at + 1];
}

// A block is a cell, a thread one of its particles; neighbours by way of shared memory.
KERNEL forces(const float *places, float *out)
{
    __shared__ float near[3][CELL_ROOM];
    int cx = blockIdx.x, cy = blockIdx.y, cz = blockIdx.z, at = threadIdx.x;
    int cell = (cz * CELL_SIDE + cy) * CELL_SIDE + cx;
    const float *own = places + cell * CELL_ROOM * 3;
    float x = own[at * 3] + cx, y = own[at * 3 + 1] + cy, z = own[at * 3 + 2] + cz, force[3] = {0, 0, 0};
    for (int n = 0; n < 27; n++) {
        int ox = cx + n % 3 - 1, oy = cy + n / 3 % 3 - 1, oz = cz + n / 9 - 1;
        if (ox < 0 || oy < 0 || oz < 0 || ox >= CELL_SIDE || oy >= CELL_SIDE || oz >= CELL_SIDE)
            continue;
        const float *others = places + ((oz * CELL_SIDE + oy) * CELL_SIDE + ox) * CELL_ROOM * 3;
        __syncthreads();
        near[0][at] = others[at * 3] + ox;
        near[1][at] = others[at * 3 + 1] + oy;
        near[2][at] = others[at * 3 + 2] + oz;
        __syncthreads();
        for (int i = 0; i < CELL_ROOM; i++)
            add_force(force, x - near[0][i], y - near[1][i], z - near[2][i]);
    }
    for (int i = 0; i < 3; i++)
        out[(cell * CELL_ROOM + at) * 3 + i] = force[i];
}

KERNEL paths(float *out)
{
    out[INDEX] = walked(INDEX);
}

// A transform of 256 complex numbers a block of 128 threads: Stockham's, two numbers a thread and step.
KERNEL transform(const float *in, const float *turns, float *out)
{
    __shared__ float re[2][LINE], im[2][LINE];
    int at = threadIdx.x, from = 0;
    const float *line = in + (long long)blockIdx.x * LINE * 2;
    for (int i = at; i < LINE; i += LINE / 2) {
        re[0][i] = line[2 * i];
        im[0][i] = line[2 * i + 1];
    }
    for (int size = 1; size < LINE; size *= 2) {
        __syncthreads();
        int within = at % size;
        int turn = within * (LINE / 2 / size);
        float c = turns[2 * turn], s = turns[2 * turn + 1];
        float br = re[from][at + LINE / 2], bi = im[from][at + LINE / 2], tr = br * c - bi * s, ti = br * s + bi * c;
        float ar = re[from][at], ai = im[from][at];
        int to = (at - within) * 2 + within;
        re[1 - from][to] = ar + tr;
        im[1 - from][to] = ai + ti;
        re[1 - from][to + size] = ar - tr;
        im[1 - from][to + size] = ai - ti;
        from = 1 - from;
    }
    __syncthreads();
    for (int i = at; i < LINE; i += LINE / 2) {
        out[(long long)blockIdx.x * LINE * 2 + 2 * i] = re[from][i];
        out[(long long)blockIdx.x * LINE * 2 + 2 * i + 1] = im[from][i];
    }
}

// Each point's nearest centre, and the sums of the points of each: a block's own first.
KERNEL cluster(const float *points, const float *centres, float *sums, int *counts)
{
    __shared__ float own[CENTRES * POINT_SIZE];
    __shared__ int own_counts[CENTRES];
    u32 i = INDEX, at = threadIdx.x;
    float best = 1e30f;
    int nearest = 0;
    own[at] = 0;
    if (at < CENTRES)
        own_counts[at] = 0;
    __syncthreads();
    for (int c = 0; c < CENTRES; c++) {
        float distance = 0;
        for (int d = 0; d < POINT_SIZE; d++) {
            float difference = points[d * POINTS + i] - centres[c * POINT_SIZE + d];
            distance += difference * difference;
        }
        if (distance < best) {
            best = distance;
            nearest = c;
        }
    }
    atomicAdd(&own_counts[nearest], 1);
    for (int d = 0; d < POINT_SIZE; d++)
        atomicAdd(&own[nearest * POINT_SIZE + d], points[d * POINTS + i]);
    __syncthreads();
    atomicAdd(&sums[at], own[at]);
    if (at < CENTRES)
        atomicAdd(&counts[at], own_counts[at]);
}

KERNEL ways(float *table, int by)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float through = table[y * TOWNS + by] + table[by * TOWNS + x];
    if (through < table[y * TOWNS + x])
        table[y * TOWNS + x] = through;
}

KERNEL sweep(signed char *spins, u32 *states, int colour)
{
    int y = blockIdx.y, x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
    int up = (y + SPINS - 1) % SPINS, down = (y + 1) % SPINS, left = (x + SPINS - 1) % SPINS, right = (x + 1) % SPINS;
    int i = y * SPINS + x;
    int sum = spins[up * SPINS + x] + spins[down * SPINS + x] + spins[y * SPINS + left] + spins[y * SPINS + right];
    u32 state = states[i], random = next_random(&state);
    states[i] = state;
    if (turns_over(spins[i], sum, random))
        spins[i] = -spins[i];
}

// Where a word stands in a text, with one letter wrong at most.
KERNEL search(const unsigned char *text, const unsigned char *word, int *count)
{
    u32 i = INDEX;
    int wrong = 0;
    if (i + WORD_LENGTH > TEXT)
        return;
    for (int k = 0; k < WORD_LENGTH && wrong < 2; k++)
        wrong += text[i + k] != word[k];
    if (wrong < 2)
        atomicAdd(count, 1);
}
