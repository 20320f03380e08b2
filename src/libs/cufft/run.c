/* SPDX-License-Identifier: Apache-2.0 */
/* Running lines of a step: some at a time they are moved to scratch, transformed by FFTW, multiplied by roots
 * where the step has them, and moved to where they belong. Where the memory is as FFTW wants it, FFTW reads or
 * writes it itself. */
#include "libs/cufft/move.h"
#include "libs/cufft/program.h"
#include "libs/math/work.h"

#define ROW 32 /* roots that are computed one by one; the others are products of two */

/* A line by its number: the index in each loop. */
struct line {
    int64_t at[MR_FFT_LOOPS];
};

static struct line line_at(const struct mr_fft_step *step, int64_t number)
{
    struct line line;
    for (int i = step->loops - 1; i >= 0; i--) {
        line.at[i] = number % step->count[i];
        number /= step->count[i];
    }
    return line;
}

static int64_t offset_of(const struct mr_fft_step *step, const struct mr_fft_end *end, const struct line *line)
{
    int64_t offset = end->offset;
    for (int i = 0; i < step->loops; i++)
        offset += end->loop[i] * line->at[i];
    return offset;
}

/* How many lines from this one on are evenly apart. */
static int64_t run_of(const struct mr_fft_step *step, const struct line *line)
{
    return step->loops ? step->count[step->loops - 1] - line->at[step->loops - 1] : 1;
}

static void advance(const struct mr_fft_step *step, struct line *line, int64_t lines)
{
    int last = step->loops - 1;
    if (last < 0)
        return;
    line->at[last] += lines;
    for (int i = last; i > 0 && line->at[i] == step->count[i]; i--) {
        line->at[i] = 0;
        line->at[i - 1]++;
    }
}

/* Moves lines from `first` on between memory and scratch. */
static void move(const struct mr_fft_step *step, const struct mr_fft_end *end, char *base, const struct line *first,
                 int64_t lines, void *scratch, int64_t n, int64_t room, bool in)
{
    struct line line = *first;
    struct mr_move move = {.type = end->type, .stride = end->stride, .gap = end->gap, .n = n};
    move.apart = step->loops ? end->loop[step->loops - 1] : 0;
    while (lines > 0) {
        int64_t run = run_of(step, &line);
        move.lines = run < lines ? run : lines;
        char *memory = base + offset_of(step, end, &line);
        if (in)
            mr_move_in(&move, memory, scratch, room);
        else
            mr_move_out(&move, memory, scratch, room);
        scratch = (char *)scratch + move.lines * room * mr_move_bytes(end->type);
        lines -= move.lines;
        advance(step, &line, move.lines);
    }
}

/* ---- roots ---- */

#define MULTIPLY(type, name) \
    static void name(type *line, int64_t n, const struct mr_roots *roots, int64_t power, bool inverse) \
    { \
        type row[ROW][2]; \
        double root[2]; \
        int64_t width = n < ROW ? n : ROW; \
        for (int64_t k = 0; k < width; k++) { \
            mr_root(roots, power *k, root); \
            row[k][0] = (type)root[0]; \
            row[k][1] = (type)(inverse ? -root[1] : root[1]); \
        } \
        for (int64_t first = 0; first < n; first += ROW) { \
            int64_t some = n - first < ROW ? n - first : ROW; \
            mr_root(roots, power *first, root); \
            type a = (type)root[0], b = (type)(inverse ? -root[1] : root[1]), *at = line + 2 * first; \
            for (int64_t k = 0; k < some; k++) { \
                type c = row[k][0] * a - row[k][1] * b, d = row[k][0] * b + row[k][1] * a; \
                type x = at[2 * k], y = at[2 * k + 1]; \
                at[2 * k] = x * c - y * d; \
                at[2 * k + 1] = x * d + y * c; \
            } \
        } \
    }
MULTIPLY(float, multiply_float)
MULTIPLY(double, multiply_double)

static void multiply(const struct mr_fft_program *program, const struct mr_fft_step *step, const struct line *first,
                     int64_t lines, void *scratch, bool inverse)
{
    struct line line = *first;
    for (int64_t l = 0; l < lines; l++) {
        int64_t power = line.at[step->root_loop];
        if (program->wide)
            multiply_double((double *)scratch + 2 * l * step->to_room, step->n, step->roots, power, inverse);
        else
            multiply_float((float *)scratch + 2 * l * step->to_room, step->n, step->roots, power, inverse);
        advance(step, &line, 1);
    }
}

/* ---- lines ---- */

static int64_t from_elements(const struct mr_fft_step *step)
{
    return step->sort == MR_FFT_REAL_OUT ? step->n / 2 + 1 : step->n;
}

static int64_t to_elements(const struct mr_fft_step *step)
{
    return step->sort == MR_FFT_REAL_IN ? step->n / 2 + 1 : step->n;
}

/* The next lines, as one call of FFTW takes them: what is known of them, and how many there are. */
struct batch {
    struct line line;
    int64_t lines;
    char *from, *to; /* memory for FFTW itself; NULL: scratch */
    const struct mr_lines *plan;
};

static bool is_aligned(const char *at)
{
    return ((uintptr_t)at & 15) == 0;
}

static struct batch next_batch(const struct mr_fft_step *step, const struct mr_fft_bases *bases, int64_t first,
                               int64_t left)
{
    struct batch batch = {.line = line_at(step, first)};
    int level = 0;
    if (step->direct_from)
        batch.from = bases->at[step->from.where] + offset_of(step, &step->from, &batch.line);
    if (step->direct_to)
        batch.to = bases->at[step->to.where] + offset_of(step, &step->to, &batch.line);
    if ((batch.from && !is_aligned(batch.from)) || (batch.to && !is_aligned(batch.to))) {
        batch.from = batch.to = NULL;
        batch.lines = 1;
        batch.plan = step->one[bases->inverse];
        return batch;
    }
    if (batch.from || batch.to) {
        int64_t run = run_of(step, &batch.line);
        left = run < left ? run : left;
    }
    while (step->counts[level] > left)
        level++;
    batch.lines = step->counts[level];
    batch.plan = step->ladder[bases->inverse][level];
    return batch;
}

static bool run_lines(const struct mr_fft_program *program, const struct mr_fft_step *step,
                      const struct mr_fft_bases *bases, int64_t first, int64_t end)
{
    size_t size = (program->wide ? 16 : 8) * (size_t)step->block;
    void *in = mr_math_scratch(0, size * (size_t)step->from_room);
    void *out = in ? mr_math_scratch(1, size * (size_t)step->to_room) : NULL;
    if (!out)
        return false;
    while (first < end) {
        struct batch batch = next_batch(step, bases, first, end - first);
        if (!batch.from)
            move(step, &step->from, bases->at[step->from.where], &batch.line, batch.lines, in, from_elements(step),
                 step->from_room, true);
        mr_lines_run(batch.plan, batch.from ? batch.from : in, batch.to ? batch.to : out);
        if (step->roots)
            multiply(program, step, &batch.line, batch.lines, out, bases->inverse);
        if (!batch.to)
            move(step, &step->to, bases->at[step->to.where], &batch.line, batch.lines, out, to_elements(step),
                 step->to_room, false);
        first += batch.lines;
    }
    return true;
}

static bool copy_lines(const struct mr_fft_program *program, const struct mr_fft_step *step,
                       const struct mr_fft_bases *bases, int64_t first, int64_t end)
{
    void *scratch = mr_math_scratch(0, (program->wide ? 16 : 8) * (size_t)step->from_room);
    if (!scratch)
        return false;
    for (; first < end; first++) {
        struct line line = line_at(step, first);
        move(step, &step->from, bases->at[step->from.where], &line, 1, scratch, step->n, step->from_room, true);
        move(step, &step->to, bases->at[step->to.where], &line, 1, scratch, step->n, step->to_room, false);
    }
    return true;
}

/* ---- real lines as complex ones of half the length ---- */

/* With E and O the spectra of the elements at even and odd places, Z = E + iO is the half's; a real spectrum is
 * X[k] = E[k] + w^k O[k], w = exp(-2 pi i / n). E and O come from Z[k] and Z[n / 2 - k]. */
static void unpack_pair(const double z[2], const double mirror[2], const double w[2], double x[2])
{
    double even[2] = {(z[0] + mirror[0]) / 2, (z[1] - mirror[1]) / 2};
    double odd[2] = {(z[1] + mirror[1]) / 2, (mirror[0] - z[0]) / 2};
    x[0] = even[0] + odd[0] * w[0] - odd[1] * w[1];
    x[1] = even[1] + odd[0] * w[1] + odd[1] * w[0];
}

/* Z[k] = (X[k] + conj X[m - k]) + i w^-k (X[k] - conj X[m - k]), which is twice E + iO: no result is scaled. */
static void pack_pair(const double x[2], const double mirror[2], const double w[2], double z[2])
{
    double even[2] = {x[0] + mirror[0], x[1] - mirror[1]}, odd[2] = {x[0] - mirror[0], x[1] + mirror[1]};
    double turned[2] = {odd[0] * w[0] + odd[1] * w[1], odd[1] * w[0] - odd[0] * w[1]}; /* times w^-k */
    z[0] = even[0] - turned[1];
    z[1] = even[1] + turned[0];
}

/* Elements k and n / 2 - k for the k of a chunk. */
static void run_chunk(const struct mr_fft_step *step, const char *from, char *to, int64_t chunk)
{
    int64_t half = step->n / 2, k = chunk * MR_FFT_CHUNK, end = k + MR_FFT_CHUNK;
    const struct mr_fft_end *a = &step->from, *b = &step->to;
    for (end = end < half / 2 + 1 ? end : half / 2 + 1; k < end; k++) {
        double low[2], high[2], w[2], v[2], first[2], second[2];
        int64_t other = half - k;
        bool unpack = step->action == MR_FFT_UNPACK;
        mr_move_load(a->type, from + k * a->stride, a->gap, low);
        mr_move_load(a->type, from + (unpack && k == 0 ? 0 : other) * a->stride, a->gap, high);
        mr_root(step->roots, k, w);
        mr_root(step->roots, other, v);
        if (unpack) {
            unpack_pair(low, high, w, first);
            unpack_pair(high, low, v, second);
        } else {
            if (k == 0) /* the first and the last are always real */
                low[1] = high[1] = 0;
            pack_pair(low, high, w, first);
            pack_pair(high, low, v, second);
        }
        mr_move_store(b->type, to + k * b->stride, b->gap, first);
        if (unpack || k > 0)
            mr_move_store(b->type, to + other * b->stride, b->gap, second);
    }
}

static void run_chunks(const struct mr_fft_step *step, const struct mr_fft_bases *bases, int64_t first, int64_t end)
{
    for (; first < end; first++) {
        struct line line = line_at(step, first / step->chunks);
        run_chunk(step, bases->at[step->from.where] + offset_of(step, &step->from, &line),
                  bases->at[step->to.where] + offset_of(step, &step->to, &line), first % step->chunks);
    }
}

bool mr_fft_step_run(const struct mr_fft_program *program, const struct mr_fft_step *step,
                     const struct mr_fft_bases *bases, int64_t first, int64_t end)
{
    switch (step->action) {
    case MR_FFT_LINES:
        return run_lines(program, step, bases, first, end);
    case MR_FFT_COPY:
        return copy_lines(program, step, bases, first, end);
    default:
        run_chunks(step, bases, first, end);
        return true;
    }
}
