/* SPDX-License-Identifier: Apache-2.0 */
/* The same programs as somebody writes them in C who has cores and no device: the same steps, in loops that go over
 * memory in order. */
#include <omp.h>

#include "../kernels/rounds.h"
#include "fill.h"

#define MEMORY (64u << 20)

static union memory {
    u32 words[MEMORY / 4];
    int wholes[MEMORY / 4];
    float reals[MEMORY / 4];
    signed char bytes[MEMORY];
} a, b, c, d, e;

static void run_records(void)
{
    fill_words(a.words, RECORDS * RECORD_WORDS, 1);
    REPEAT(5)
    {
#pragma omp parallel for
        for (int i = 0; i < RECORDS; i++)
            b.words[i] = hash_record(a.words + (size_t)i * RECORD_WORDS);
    }
    kernels_print("records", timing.best, sum_words(b.words, RECORDS));
}

static void insert(u32 key)
{
    for (u32 at = mixed(key) % SLOTS;; at = (at + 1) % SLOTS) {
        u32 found = 0;
        if (__atomic_compare_exchange_n(&b.words[at], &found, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            found == key)
            return;
    }
}

static void run_table(void)
{
    fill_words(a.words, KEYS, 2);
    REPEAT(5)
    {
        memset(b.words, 0, SLOTS * 4);
#pragma omp parallel for
        for (int i = 0; i < KEYS; i++)
            insert(a.words[i] | 1);
#pragma omp parallel for
        for (int i = 0; i < KEYS; i++) {
            u32 key = a.words[i] | 1, at = mixed(key) % SLOTS;
            while (b.words[at] != key)
                at = (at + 1) % SLOTS;
            c.words[i] = b.words[at];
        }
    }
    kernels_print("table", timing.best, sum_words(c.words, KEYS));
}

static void wave(const float *before, const float *now, float *next)
{
#pragma omp parallel for
    for (int y = 0; y < WAVE_SIDE; y++) {
        if (y == 0 || y == WAVE_SIDE - 1) {
            memset(next + y * WAVE_SIDE, 0, WAVE_SIDE * 4);
            continue;
        }
        next[y * WAVE_SIDE] = next[y * WAVE_SIDE + WAVE_SIDE - 1] = 0;
#pragma omp simd
        for (int i = y * WAVE_SIDE + 1; i < y * WAVE_SIDE + WAVE_SIDE - 1; i++) {
            float bend = now[i - 1] + now[i + 1] + now[i - WAVE_SIDE] + now[i + WAVE_SIDE] - 4.0f * now[i];
            next[i] = 2.0f * now[i] - before[i] + 0.25f * bend;
        }
    }
}

static void run_wave(void)
{
    float *all[3] = {a.reals, b.reals, c.reals};
    for (int round = 0; round < 5; round++) {
        kernels_fill(a.reals, WAVE_SIDE * WAVE_SIDE, 3);
        kernels_fill(b.reals, WAVE_SIDE * WAVE_SIDE, 3);
        double best = round ? timing.best : 1e9;
        REPEAT(1)
        for (int step = 0; step < WAVE_STEPS; step++)
            wave(all[step % 3], all[(step + 1) % 3], all[(step + 2) % 3]);
        timing.best = timing.best < best ? timing.best : best;
    }
    kernels_print("wave", timing.best, sum_sizes(all[(WAVE_STEPS + 1) % 3], WAVE_SIDE * WAVE_SIDE));
}

static void heat(const float *now, float *next)
{
    const int last = HEAT_SIDE - 1, plane = HEAT_SIDE * HEAT_SIDE;
#pragma omp parallel for collapse(2)
    for (int z = 0; z < HEAT_SIDE; z++)
        for (int y = 0; y < HEAT_SIDE; y++) {
            const float *row = now + z * plane + y * HEAT_SIDE;
            const float *up = y > 0 ? row - HEAT_SIDE : row, *down = y < last ? row + HEAT_SIDE : row;
            const float *front = z > 0 ? row - plane : row, *back = z < last ? row + plane : row;
            float *to = next + z * plane + y * HEAT_SIDE;
            to[0] = row[0] + 0.1f * (row[0] + row[1] + up[0] + down[0] + front[0] + back[0] - 6.0f * row[0]);
            to[last] = row[last] + 0.1f * (row[last - 1] + row[last] + up[last] + down[last] + front[last] +
                                           back[last] - 6.0f * row[last]);
#pragma omp simd
            for (int x = 1; x < last; x++)
                to[x] =
                    row[x] + 0.1f * (row[x - 1] + row[x + 1] + up[x] + down[x] + front[x] + back[x] - 6.0f * row[x]);
        }
}

static void run_heat(void)
{
    for (int round = 0; round < 5; round++) {
        kernels_fill(a.reals, HEAT_SIDE * HEAT_SIDE * HEAT_SIDE, 4);
        double best = round ? timing.best : 1e9;
        REPEAT(1)
        for (int step = 0; step < HEAT_STEPS; step++)
            heat(step % 2 ? b.reals : a.reals, step % 2 ? a.reals : b.reals);
        timing.best = timing.best < best ? timing.best : best;
    }
    kernels_print("heat", timing.best,
                  kernels_sum(HEAT_STEPS % 2 ? b.reals : a.reals, HEAT_SIDE * HEAT_SIDE * HEAT_SIDE));
}

static int inside(int x)
{
    return x < 0 ? 0 : x > IMAGE_SIDE - 1 ? IMAGE_SIDE - 1 : x;
}

static void run_smooth(void)
{
    kernels_fill(a.reals, IMAGE_SIDE * IMAGE_SIDE, 5);
    REPEAT(5)
    {
#pragma omp parallel for
        for (int y = 0; y < IMAGE_SIDE; y++)
            for (int x = 0; x < IMAGE_SIDE; x++) {
                float here = a.reals[y * IMAGE_SIDE + x], sum = 0, weights = 0;
                for (int dy = -IMAGE_REACH; dy <= IMAGE_REACH; dy++)
                    for (int dx = -IMAGE_REACH; dx <= IMAGE_REACH; dx++) {
                        float there = a.reals[inside(y + dy) * IMAGE_SIDE + inside(x + dx)], difference = there - here;
                        float weight = expf(-0.2f * (float)(dx * dx + dy * dy) - 30.0f * difference * difference);
                        sum += weight * there;
                        weights += weight;
                    }
                b.reals[y * IMAGE_SIDE + x] = sum / weights;
            }
    }
    kernels_print("smooth", timing.best, kernels_sum(b.reals, IMAGE_SIDE * IMAGE_SIDE));
}

static void run_graph(void)
{
    fill_edges(a.words);
    REPEAT(5)
    {
        memset(b.wholes, 0xff, NODES * 4);
        b.wholes[0] = 0;
        int more = 1;
        for (int now = 0; more; now++) {
            more = 0;
#pragma omp parallel for reduction(| : more)
            for (int node = 0; node < NODES; node++) {
                if (b.wholes[node] != now)
                    continue;
                for (int i = 0; i < EDGES; i++) {
                    u32 other = a.words[node * EDGES + i];
                    if (b.wholes[other] < 0) {
                        b.wholes[other] = now + 1;
                        more = 1;
                    }
                }
            }
        }
    }
    double sum = 0;
    for (int i = 0; i < NODES; i++)
        sum += b.wholes[i];
    kernels_print("graph", timing.best, sum);
}

/* A stretch of a size's steps from a distance on; both are less than the stretch. */
static void compare(u32 *values, unsigned first, unsigned end, unsigned distance, unsigned size)
{
    for (unsigned base = first; base < end; base += 2 * distance) {
        int rises = (base & size) == 0;
#pragma omp simd
        for (unsigned i = base; i < base + distance; i++) {
            u32 x = values[i], y = values[i + distance], low = x < y ? x : y, high = x < y ? y : x;
            values[i] = rises ? low : high;
            values[i + distance] = rises ? high : low;
        }
    }
}

static void sort(u32 *values)
{
    for (unsigned size = 2; size <= SORTED; size *= 2) {
        unsigned distance = size / 2;
        for (; distance >= 512; distance /= 2) {
#pragma omp parallel for
            for (unsigned first = 0; first < SORTED; first += 2 * distance)
                compare(values, first, first + 2 * distance, distance, size);
        }
#pragma omp parallel for
        for (unsigned first = 0; first < SORTED; first += 1024)
            for (unsigned near = distance; near; near /= 2)
                compare(values, first, first + 1024, near, size);
    }
}

static void run_sort(void)
{
    for (int round = 0; round < 5; round++) {
        fill_words(a.words, SORTED, 6);
        double best = round ? timing.best : 1e9;
        REPEAT(1)
        sort(a.words);
        timing.best = timing.best < best ? timing.best : best;
    }
    kernels_print("sort", timing.best, sum_in_order(a.words, SORTED));
}

static void run_sparse(void)
{
    fill_sparse(a.wholes, b.wholes, c.reals);
    kernels_fill(d.reals, ROWS, 7);
    REPEAT(5)
    {
#pragma omp parallel for
        for (int row = 0; row < ROWS; row++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int i = a.wholes[row]; i < a.wholes[row + 1]; i++)
                sum += c.reals[i] * d.reals[b.wholes[i]];
            e.reals[row] = sum;
        }
    }
    kernels_print("sparse", timing.best, kernels_sum(e.reals, ROWS));
}

static void align_tile(const signed char *one, const signed char *two, int *table, int row, int col)
{
    const int pitch = GENES + 1;
    for (int y = row + 1; y <= row + GENE_TILE; y++)
        for (int x = col + 1; x <= col + GENE_TILE; x++) {
            int same = table[(y - 1) * pitch + x - 1] + (one[y - 1] == two[x - 1] ? 3 : -1);
            int up = table[(y - 1) * pitch + x] - 2, left = table[y * pitch + x - 1] - 2;
            int best = up > left ? up : left;
            table[y * pitch + x] = same > best ? same : best;
        }
}

static void run_align(void)
{
    static signed char one[GENES], two[GENES];
    const int tiles = GENES / GENE_TILE;
    fill_genes(one, two, a.wholes);
    REPEAT(5)
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int first = diagonal < tiles ? 0 : diagonal - tiles + 1, end = diagonal < tiles ? diagonal + 1 : tiles;
#pragma omp parallel for
        for (int ty = first; ty < end; ty++)
            align_tile(one, two, a.wholes, ty * GENE_TILE, (diagonal - ty) * GENE_TILE);
    }
    double sum = 0;
    for (int i = 0; i < (GENES + 1) * (GENES + 1); i++)
        sum += a.wholes[i];
    kernels_print("align", timing.best, sum);
}

static void forces_of_cell(int cx, int cy, int cz)
{
    int cell = (cz * CELL_SIDE + cy) * CELL_SIDE + cx;
    const float *own = a.reals + cell * CELL_ROOM * 3;
    for (int at = 0; at < CELL_ROOM; at++) {
        float x = own[at * 3], y = own[at * 3 + 1], z = own[at * 3 + 2], fx = 0, fy = 0, fz = 0;
        for (int n = 0; n < 27; n++) {
            int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1, ox = cx + dx, oy = cy + dy, oz = cz + dz;
            if (ox < 0 || oy < 0 || oz < 0 || ox >= CELL_SIDE || oy >= CELL_SIDE || oz >= CELL_SIDE)
                continue;
            const float *others = a.reals + ((oz * CELL_SIDE + oy) * CELL_SIDE + ox) * CELL_ROOM * 3;
#pragma omp simd reduction(+ : fx, fy, fz)
            for (int i = 0; i < CELL_ROOM; i++) {
                float force[3] = {0, 0, 0};
                add_force(force, (x + (float)cx) - (others[i * 3] + (float)ox),
                          (y + (float)cy) - (others[i * 3 + 1] + (float)oy),
                          (z + (float)cz) - (others[i * 3 + 2] + (float)oz));
                fx += force[0];
                fy += force[1];
                fz += force[2];
            }
        }
        float *to = b.reals + (cell * CELL_ROOM + at) * 3;
        to[0] = fx;
        to[1] = fy;
        to[2] = fz;
    }
}

static void run_forces(void)
{
    const size_t count = (size_t)CELL_SIDE * CELL_SIDE * CELL_SIDE * CELL_ROOM * 3;
    kernels_fill(a.reals, count, 8);
    REPEAT(5)
    {
#pragma omp parallel for collapse(3)
        for (int z = 0; z < CELL_SIDE; z++)
            for (int y = 0; y < CELL_SIDE; y++)
                for (int x = 0; x < CELL_SIDE; x++)
                    forces_of_cell(x, y, z);
    }
    kernels_print("forces", timing.best, sum_sizes(b.reals, count));
}

static void run_paths(void)
{
    REPEAT(5)
    {
#pragma omp parallel for
        for (int i = 0; i < PATHS; i++)
            a.reals[i] = walked((u32)i);
    }
    kernels_print("paths", timing.best, kernels_sum(a.reals, PATHS));
}

static float turns[LINE];

static void transform(const float *in, float *out)
{
    float re[2][LINE], im[2][LINE];
    int from = 0;
    for (int i = 0; i < LINE; i++) {
        re[0][i] = in[2 * i];
        im[0][i] = in[2 * i + 1];
    }
    for (int size = 1; size < LINE; size *= 2) {
        for (int at = 0; at < LINE / 2; at++) {
            int within = at & (size - 1), turn = within * (LINE / 2 / size), to = (at - within) * 2 + within;
            float c = turns[2 * turn], s = turns[2 * turn + 1], ar = re[from][at], ai = im[from][at];
            float br = re[from][at + LINE / 2], bi = im[from][at + LINE / 2], tr = br * c - bi * s,
                  ti = br * s + bi * c;
            re[1 - from][to] = ar + tr;
            im[1 - from][to] = ai + ti;
            re[1 - from][to + size] = ar - tr;
            im[1 - from][to + size] = ai - ti;
        }
        from = 1 - from;
    }
    for (int i = 0; i < LINE; i++) {
        out[2 * i] = re[from][i];
        out[2 * i + 1] = im[from][i];
    }
}

static void run_transform(void)
{
    kernels_fill(a.reals, (size_t)LINES * LINE * 2, 9);
    fill_turns(turns);
    REPEAT(5)
    {
#pragma omp parallel for
        for (int i = 0; i < LINES; i++)
            transform(a.reals + (size_t)i * LINE * 2, b.reals + (size_t)i * LINE * 2);
    }
    kernels_print("transform", timing.best, sum_sizes(b.reals, (size_t)LINES * LINE * 2));
}

static void run_cluster(void)
{
    static float sums[CENTRES * POINT_SIZE];
    static int counts[CENTRES];
    kernels_fill(a.reals, POINTS * POINT_SIZE, 10);
    kernels_fill(b.reals, CENTRES * POINT_SIZE, 11);
    REPEAT(5)
    {
        memset(sums, 0, sizeof sums);
        memset(counts, 0, sizeof counts);
#pragma omp parallel for reduction(+ : sums, counts)
        for (int first = 0; first < POINTS; first += 64) {
            float best[64];
            int nearest[64];
            for (int c = 0; c < CENTRES; c++) {
                float distance[64] = {0};
                for (int k = 0; k < POINT_SIZE; k++)
#pragma omp simd
                    for (int i = 0; i < 64; i++) {
                        float difference = a.reals[k * POINTS + first + i] - b.reals[c * POINT_SIZE + k];
                        distance[i] += difference * difference;
                    }
                for (int i = 0; i < 64; i++)
                    if (c == 0 || distance[i] < best[i]) {
                        best[i] = distance[i];
                        nearest[i] = c;
                    }
            }
            for (int i = 0; i < 64; i++) {
                counts[nearest[i]]++;
                for (int k = 0; k < POINT_SIZE; k++)
                    sums[nearest[i] * POINT_SIZE + k] += a.reals[k * POINTS + first + i];
            }
        }
    }
    kernels_print("cluster", timing.best, kernels_sum(sums, CENTRES * POINT_SIZE));
}

static void ways(float *table)
{
    for (int by = 0; by < TOWNS; by++) {
#pragma omp parallel for
        for (int y = 0; y < TOWNS; y++) {
            float to = table[y * TOWNS + by];
#pragma omp simd
            for (int x = 0; x < TOWNS; x++) {
                float through = to + table[by * TOWNS + x], now = table[y * TOWNS + x];
                table[y * TOWNS + x] = through < now ? through : now;
            }
        }
    }
}

static void run_ways(void)
{
    for (int round = 0; round < 5; round++) {
        kernels_fill(a.reals, TOWNS * TOWNS, 12);
        double best = round ? timing.best : 1e9;
        REPEAT(1)
        ways(a.reals);
        timing.best = timing.best < best ? timing.best : best;
    }
    kernels_print("ways", timing.best, kernels_sum(a.reals, TOWNS * TOWNS));
}

static void sweep(signed char *spins, u32 *states, int colour)
{
#pragma omp parallel for
    for (int y = 0; y < SPINS; y++) {
        const signed char *up = spins + (y + SPINS - 1) % SPINS * SPINS, *down = spins + (y + 1) % SPINS * SPINS;
        signed char *row = spins + y * SPINS;
        for (int x = (y + colour) & 1; x < SPINS; x += 2) {
            int sum = up[x] + down[x] + row[(x + SPINS - 1) % SPINS] + row[(x + 1) % SPINS];
            if (turns_over(row[x], sum, next_random(&states[y * SPINS + x])))
                row[x] = (signed char)-row[x];
        }
    }
}

static void run_spins(void)
{
    for (int round = 0; round < 5; round++) {
        fill_spins(a.bytes, b.words);
        double best = round ? timing.best : 1e9;
        REPEAT(1)
        for (int half = 0; half < 2 * SWEEPS; half++)
            sweep(a.bytes, b.words, half % 2);
        timing.best = timing.best < best ? timing.best : best;
    }
    double sum = 0;
    for (int i = 0; i < SPINS * SPINS; i++)
        sum += a.bytes[i] * (i % 3 + 1);
    kernels_print("spins", timing.best, sum + 1e6);
}

static void run_search(void)
{
    unsigned char word[WORD_LENGTH];
    const unsigned char *text = (const unsigned char *)a.bytes;
    int count = 0;
    fill_text((unsigned char *)a.bytes, word);
    REPEAT(5)
    {
        count = 0;
#pragma omp parallel for reduction(+ : count)
        for (int i = 0; i < TEXT - WORD_LENGTH + 1; i++) {
            int wrong = 0;
            for (int k = 0; k < WORD_LENGTH && wrong < 2; k++)
                wrong += text[i + k] != word[k];
            count += wrong < 2;
        }
    }
    kernels_print("search", timing.best, count);
}

int main(void)
{
    run_records();
    run_table();
    run_wave();
    run_heat();
    run_smooth();
    run_graph();
    run_sort();
    run_sparse();
    run_align();
    run_forces();
    run_paths();
    run_transform();
    run_cluster();
    run_ways();
    run_spins();
    run_search();
    return 0;
}
