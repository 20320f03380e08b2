/* SPDX-License-Identifier: Apache-2.0 */
/* Making programs: which steps, in which order, and where their lines lie.
 *
 * From complex to complex, and from real to complex, the last axis is transformed first, from the input to the output,
 * then the others in the output. From complex to real the last axis comes last; the others are transformed into the
 * work area, so that the input stays as it is. In place, input, output and work area are one. */
#include "libs/cufft/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "libs/math/convert.h"

#define CUT_FROM 65536 /* lines that are at least as long are cut in two */
#define CUT_LEAST 16 /* into halves of at least this length */
#define PART 32768 /* elements of a part, about */
#define BLOCK 16384 /* elements that are transformed at a time, about */
#define WHOLE 4096 /* elements of members that FFTW transforms whole, at most */
#define LIMIT ((int64_t)1 << 60)

/* An array: where elements lie, in bytes. */
struct array {
    enum mr_fft_where where;
    cudaDataType type;
    int64_t offset, axis[MR_FFT_RANK], batch;
};

/* What is known while a program is made. */
struct making {
    const struct mr_fft_problem *problem;
    struct mr_fft_program *program;
    int64_t complex[MR_FFT_RANK]; /* lengths of the complex side */
    struct array in, out, keep, cut; /* keep: the work area's first half; cut: between the halves of cut lines */
    int64_t region; /* bytes of one of these */
    bool uses_keep, uses_cut;
    enum mr_fft_made made;
};

static bool is_16_bits(cudaDataType type)
{
    return type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_R_16F || type == CUDA_R_16BF;
}

static bool is_real(cudaDataType type)
{
    return !mr_element_is_complex(type);
}

/* Whether elements of that type are computed as they are. */
static bool is_plain(cudaDataType type)
{
    return !is_16_bits(type);
}

static int64_t real_bytes(cudaDataType type)
{
    return mr_element_size(type) / (is_real(type) ? 1 : 2);
}

static struct array array_of(const struct mr_fft_problem *problem, const struct mr_fft_side *side,
                             enum mr_fft_where where)
{
    int64_t bytes = mr_element_size(side->type), stride = side->stride * bytes;
    struct array array = {.where = where, .type = side->type, .batch = side->distance * bytes};
    for (int i = problem->rank - 1; i >= 0; i--) {
        array.axis[i] = stride;
        stride *= side->embed[i];
    }
    return array;
}

/* A region of the work area: complex elements, one behind the other. */
static struct array region_of(const struct making *m, int index)
{
    cudaDataType type = m->program->wide ? CUDA_C_64F : CUDA_C_32F;
    int64_t stride = mr_element_size(type);
    struct array array = {.where = MR_FFT_WORK, .type = type, .offset = index * m->region};
    for (int i = m->problem->rank - 1; i >= 0; i--) {
        array.axis[i] = stride;
        stride *= m->complex[i];
    }
    array.batch = stride;
    return array;
}

/* ---- loops ---- */

struct loop {
    int64_t count, from, to;
    bool fixed; /* the loop of roots: it stays by itself */
};

static int64_t least(const struct loop *loop)
{
    return loop->from < loop->to ? loop->from : loop->to;
}

/* Puts loops into the step: the largest strides first, those that follow on from each other as one. With parts by
 * members the batch stays first. */
static void set_loops(const struct making *m, struct mr_fft_step *step, struct loop *loops, int count)
{
    int first = m->program->by_member ? 1 : 0, kept = 0;
    for (int i = first + 1; i < count; i++)
        for (int k = i; k > first && least(&loops[k]) > least(&loops[k - 1]); k--) {
            struct loop other = loops[k];
            loops[k] = loops[k - 1];
            loops[k - 1] = other;
        }
    for (int i = 0; i < count; i++) {
        struct loop *last = kept ? &loops[kept - 1] : NULL;
        if (loops[i].count == 1 && i >= first && !loops[i].fixed)
            continue;
        if (last && !last->fixed && !loops[i].fixed && last->from == loops[i].from * loops[i].count &&
            last->to == loops[i].to * loops[i].count) {
            last->count *= loops[i].count;
            last->from = loops[i].from;
            last->to = loops[i].to;
        } else {
            loops[kept++] = loops[i];
        }
    }
    step->loops = kept;
    step->lines = 1;
    for (int i = 0; i < kept; i++) {
        step->count[i] = loops[i].count;
        step->from.loop[i] = loops[i].from;
        step->to.loop[i] = loops[i].to;
        step->lines *= loops[i].count;
        if (loops[i].fixed)
            step->root_loop = i;
    }
}

/* The batch and the axes other than `axis`. */
static int loops_around(const struct making *m, const struct array *from, const struct array *to, int axis,
                        struct loop loops[MR_FFT_LOOPS])
{
    int count = 0;
    loops[count++] = (struct loop){m->problem->batch, from->batch, to->batch, false};
    for (int i = 0; i < m->problem->rank; i++)
        if (i != axis)
            loops[count++] = (struct loop){m->complex[i], from->axis[i], to->axis[i], false};
    return count;
}

/* ---- how FFTW is called ---- */

static bool same_memory(const struct making *m, const struct mr_fft_step *step)
{
    enum mr_fft_where a = step->from.where, b = step->to.where;
    if (a == MR_FFT_WORK || b == MR_FFT_WORK)
        return a == b && step->from.offset == step->to.offset;
    return a == b || m->problem->in_place;
}

/* Whether FFTW can have that side's memory itself: elements follow each other, and lines are whole elements apart. */
static bool is_direct(const struct mr_fft_step *step, const struct mr_fft_end *end)
{
    int64_t bytes = mr_element_size(end->type), apart = step->loops ? end->loop[step->loops - 1] : 0;
    assert(bytes > 0);
    return is_plain(end->type) && end->stride == bytes && end->gap == real_bytes(end->type) && apart % bytes == 0 &&
           apart / bytes < ((int64_t)1 << 31);
}

static int64_t distance(const struct mr_fft_step *step, const struct mr_fft_end *end, bool direct, int64_t room)
{
    if (!direct)
        return room;
    return step->loops ? end->loop[step->loops - 1] / mr_element_size(end->type) : 0;
}

static void plan_lines(struct making *m, struct mr_fft_step *step, bool inverse)
{
    struct mr_lines_key key = {.wide = m->program->wide, .length = step->n, .rank = step->rank};
    if (step->rank)
        memcpy(key.n, m->problem->n, sizeof key.n);
    key.kind = step->sort == MR_FFT_REAL_IN    ? MR_LINE_REAL_IN
               : step->sort == MR_FFT_REAL_OUT ? MR_LINE_REAL_OUT
               : inverse                       ? MR_LINE_INVERSE
                                               : MR_LINE_FORWARD;
    key.count = 1;
    key.from_distance = step->from_room;
    key.to_distance = step->to_room;
    step->one[inverse] = mr_lines_get(&key);
    key.in_place = step->direct_from && step->direct_to && same_memory(m, step);
    key.from_distance = distance(step, &step->from, step->direct_from, step->from_room);
    key.to_distance = distance(step, &step->to, step->direct_to, step->to_room);
    bool all = step->one[inverse] != NULL;
    for (int i = 0; i < MR_FFT_LADDER && step->counts[i] && all; i++) {
        key.count = step->counts[i];
        step->ladder[inverse][i] = mr_lines_get(&key);
        all = step->ladder[inverse][i] != NULL;
    }
    if (!all)
        m->made = MR_FFT_NO_MEMORY;
}

/* Finishes a step whose ends, loops and length are set. */
static void finish_lines(struct making *m, struct mr_fft_step *step)
{
    int64_t spectrum = step->n / 2 + 1, block = 1;
    step->from_room = mr_fft_room(step->sort == MR_FFT_REAL_OUT ? spectrum : step->n);
    step->to_room = mr_fft_room(step->sort == MR_FFT_REAL_IN ? spectrum : step->n);
    step->direct_from = step->sort != MR_FFT_REAL_OUT && is_direct(step, &step->from);
    step->direct_to = !step->roots && is_direct(step, &step->to);
    if (step->sort != MR_FFT_COMPLEX && same_memory(m, step))
        step->direct_to = false;
    while (block < step->lines && block < 2048 && (block < 8 || block * 2 * step->n <= BLOCK))
        block *= 2;
    step->block = block;
    step->part = block * (block * step->n < PART ? PART / (block * step->n) : 1);
    int level = 0;
    for (int64_t count = block; level < MR_FFT_LADDER; count /= 4) {
        step->counts[level++] = count ? count : 1;
        if (count <= 1)
            break;
    }
    if (step->n > INT32_MAX) {
        m->made = MR_FFT_TOO_LARGE;
        return;
    }
    if (m->problem->sort != MR_FFT_REAL_OUT)
        plan_lines(m, step, false);
    if (m->problem->sort != MR_FFT_REAL_IN && m->made == MR_FFT_MADE)
        plan_lines(m, step, true);
}

static struct mr_fft_step *add(struct making *m, enum mr_fft_action action, const struct array *from,
                               const struct array *to)
{
    struct mr_fft_step *step = &m->program->steps[m->program->count++];
    step->action = action;
    step->sort = MR_FFT_COMPLEX;
    step->from = (struct mr_fft_end){
        .where = from->where, .type = from->type, .offset = from->offset, .gap = real_bytes(from->type)};
    step->to =
        (struct mr_fft_end){.where = to->where, .type = to->type, .offset = to->offset, .gap = real_bytes(to->type)};
    return step;
}

static void *or_short(struct making *m, void *memory)
{
    if (!memory)
        m->made = MR_FFT_NO_MEMORY;
    return memory;
}

/* ---- steps ---- */

static void add_lines(struct making *m, const struct array *from, const struct array *to, int axis,
                      enum mr_fft_sort sort)
{
    struct loop loops[MR_FFT_LOOPS];
    struct mr_fft_step *step = add(m, MR_FFT_LINES, from, to);
    step->sort = sort;
    step->n = m->problem->n[axis];
    step->from.stride = from->axis[axis];
    step->to.stride = to->axis[axis];
    set_loops(m, step, loops, loops_around(m, from, to, axis, loops));
    finish_lines(m, step);
}

static void add_copy(struct making *m, const struct array *from, const struct array *to)
{
    struct loop loops[MR_FFT_LOOPS];
    int axis = m->problem->rank - 1;
    struct mr_fft_step *step = add(m, MR_FFT_COPY, from, to);
    step->n = m->complex[axis];
    step->from.stride = from->axis[axis];
    step->to.stride = to->axis[axis];
    set_loops(m, step, loops, loops_around(m, from, to, axis, loops));
    step->from_room = step->to_room = mr_fft_room(step->n);
    step->block = 1;
    step->part = step->n < PART ? PART / step->n : 1;
}

/* The shorter half of a cut line; 0 if n is not cut. */
static int64_t half_of(int64_t n)
{
    int64_t best = 0;
    if (n < CUT_FROM)
        return 0;
    for (int64_t d = CUT_LEAST; d * d <= n; d++)
        if (n % d == 0)
            best = d;
    return best;
}

/* A pair of real elements as a complex one. */
static struct array pairs_of(const struct array *real, cudaDataType type, int axis)
{
    struct array pairs = *real;
    pairs.type = type;
    pairs.axis[axis] *= 2;
    return pairs;
}

/* A cut line of n complex elements: columns into the region `cut`, and rows out of it. The gaps are those between real
 * and imaginary parts. */
static void add_cut(struct making *m, const struct array *from, int64_t from_gap, const struct array *to,
                    int64_t to_gap, int axis, int64_t n)
{
    int64_t small = half_of(n), large = n / small;
    struct loop loops[MR_FFT_LOOPS];
    struct mr_fft_step *step = add(m, MR_FFT_LINES, from, &m->cut);
    m->uses_cut = true;
    step->n = small;
    step->from.gap = from_gap;
    step->from.stride = from->axis[axis] * large;
    step->to.stride = m->cut.axis[axis] * large;
    int count = loops_around(m, from, &m->cut, axis, loops);
    loops[count++] = (struct loop){large, from->axis[axis], m->cut.axis[axis], true};
    set_loops(m, step, loops, count);
    step->roots = or_short(m, mr_roots_new(n));
    if (m->made == MR_FFT_MADE)
        finish_lines(m, step);
    if (m->made != MR_FFT_MADE)
        return;
    step = add(m, MR_FFT_LINES, &m->cut, to);
    step->n = large;
    step->to.gap = to_gap;
    step->from.stride = m->cut.axis[axis];
    step->to.stride = to->axis[axis] * small;
    count = loops_around(m, &m->cut, to, axis, loops);
    loops[count++] = (struct loop){small, m->cut.axis[axis] * large, to->axis[axis], false};
    set_loops(m, step, loops, count);
    finish_lines(m, step);
}

static void add_axis(struct making *m, const struct array *from, const struct array *to, int axis)
{
    if (half_of(m->problem->n[axis]))
        add_cut(m, from, real_bytes(from->type), to, real_bytes(to->type), axis, m->problem->n[axis]);
    else
        add_lines(m, from, to, axis, MR_FFT_COMPLEX);
}

static void add_packing(struct making *m, enum mr_fft_action action, const struct array *from, const struct array *to)
{
    struct loop loops[MR_FFT_LOOPS];
    int axis = m->problem->rank - 1;
    struct mr_fft_step *step = add(m, action, from, to);
    step->n = m->problem->n[axis];
    step->from.stride = from->axis[axis];
    step->to.stride = to->axis[axis];
    set_loops(m, step, loops, loops_around(m, from, to, axis, loops));
    step->chunks = (step->n / 4 + MR_FFT_CHUNK) / MR_FFT_CHUNK;
    step->lines *= step->chunks;
    step->block = step->part = 1;
    step->roots = or_short(m, mr_roots_new(step->n));
}

/* Whether a real line is computed as a complex one of half the length, which is cut. */
static bool is_halved(const struct making *m)
{
    int64_t n = m->problem->n[m->problem->rank - 1];
    return n % 2 == 0 && half_of(n / 2) && !is_16_bits(m->problem->in.type);
}

static void add_real_in(struct making *m)
{
    int axis = m->problem->rank - 1;
    if (!is_halved(m)) {
        add_lines(m, &m->in, &m->out, axis, MR_FFT_REAL_IN);
        return;
    }
    struct array pairs = pairs_of(&m->in, m->out.type, axis);
    add_cut(m, &pairs, m->in.axis[axis], &m->out, real_bytes(m->out.type), axis, m->problem->n[axis] / 2);
    if (m->made == MR_FFT_MADE)
        add_packing(m, MR_FFT_UNPACK, &m->out, &m->out);
}

static void add_real_out(struct making *m, const struct array *from)
{
    int axis = m->problem->rank - 1;
    if (!is_halved(m)) {
        add_lines(m, from, &m->out, axis, MR_FFT_REAL_OUT);
        return;
    }
    struct array pairs = pairs_of(&m->out, m->in.type, axis);
    add_packing(m, MR_FFT_PACK, from, &m->cut);
    if (m->made == MR_FFT_MADE)
        add_cut(m, &m->cut, real_bytes(m->cut.type), &pairs, m->out.axis[axis], axis, m->problem->n[axis] / 2);
}

/* Whether a member's elements follow each other without gaps, and need no conversion. */
static bool is_packed(const struct making *m, const struct array *array)
{
    int64_t stride = mr_element_size(array->type);
    for (int i = m->problem->rank - 1; i >= 0; i--) {
        if (array->axis[i] != stride)
            return false;
        stride *= m->problem->n[i];
    }
    return is_plain(array->type);
}

/* Small members as FFTW's own boxes. */
static void add_whole(struct making *m, int64_t elements)
{
    struct loop batch = {m->problem->batch, m->in.batch, m->out.batch, false};
    struct mr_fft_step *step = add(m, MR_FFT_LINES, &m->in, &m->out);
    step->n = elements;
    step->rank = m->problem->rank;
    step->from.stride = step->to.stride = mr_element_size(m->in.type);
    set_loops(m, step, &batch, 1);
    finish_lines(m, step);
}

static void add_complex(struct making *m)
{
    const struct array *from = &m->in;
    int64_t elements = m->problem->n[0];
    for (int i = 1; i < m->problem->rank; i++)
        elements *= m->problem->n[i];
    if (m->problem->rank > 1 && elements <= WHOLE && is_packed(m, &m->in) && is_packed(m, &m->out)) {
        add_whole(m, elements);
        return;
    }
    for (int i = m->problem->rank - 1; i >= 0 && m->made == MR_FFT_MADE; i--)
        if (m->problem->n[i] > 1) {
            add_axis(m, from, &m->out, i);
            from = &m->out;
        }
    if (from == &m->in)
        add_copy(m, &m->in, &m->out);
}

static void add_steps(struct making *m)
{
    const struct mr_fft_problem *problem = m->problem;
    if (problem->sort == MR_FFT_COMPLEX) {
        add_complex(m);
        return;
    }
    const struct array *from = &m->in, *to = problem->in_place ? &m->in : &m->keep;
    if (problem->sort == MR_FFT_REAL_IN) {
        add_real_in(m);
        from = to = &m->out;
    }
    for (int i = problem->rank - 2; i >= 0 && m->made == MR_FFT_MADE; i--)
        if (problem->n[i] > 1) {
            m->uses_keep |= to == &m->keep;
            add_axis(m, from, to, i);
            from = to;
        }
    if (problem->sort == MR_FFT_REAL_OUT && m->made == MR_FFT_MADE)
        add_real_out(m, from);
}

/* ---- the whole ---- */

/* Whether lines of the two sides lie in the same bytes, so that they can be transformed in place. */
static bool fits_in_place(const struct making *m)
{
    const struct mr_fft_problem *p = m->problem;
    int last = p->rank - 1;
    if (p->batch > 1 && m->in.batch != m->out.batch)
        return false;
    for (int i = 0; i < last; i++)
        if (p->n[i] > 1 && m->in.axis[i] != m->out.axis[i])
            return false;
    if (p->sort == MR_FFT_COMPLEX)
        return p->n[last] == 1 || (m->in.axis[last] == m->out.axis[last] && p->in.type == p->out.type);
    return p->n[last] == 1 || (p->in.stride == 1 && p->out.stride == 1);
}

/* Multiplies sizes that are not negative; LIMIT if the product is beyond. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) || product > LIMIT ? LIMIT : product;
}

/* Sets what does not need FFTW. False if sizes are beyond all memory. */
static bool begin(struct making *m)
{
    const struct mr_fft_problem *p = m->problem;
    int64_t elements = 1, reach = p->batch;
    m->program->wide = p->in.type == CUDA_C_64F || p->in.type == CUDA_R_64F;
    m->program->batch = p->batch;
    for (int i = 0; i < p->rank; i++) {
        m->complex[i] = i == p->rank - 1 && p->sort != MR_FFT_COMPLEX ? p->n[i] / 2 + 1 : p->n[i];
        elements = times(elements, p->n[i]);
        reach = times(reach, p->n[i]);
    }
    for (int i = 0; i < 2; i++) {
        const struct mr_fft_side *side = i ? &p->out : &p->in;
        int64_t bytes = times(side->stride, 32);
        for (int d = 0; d < p->rank; d++)
            bytes = times(times(bytes, side->embed[d]), 1);
        if (bytes >= LIMIT || times(times(side->distance, 32), p->batch) >= LIMIT)
            return false;
    }
    if (times(reach, 64) >= LIMIT)
        return false;
    m->region = (m->program->wide ? 16 : 8) * p->batch;
    for (int i = 0; i < p->rank; i++)
        m->region *= m->complex[i];
    m->region = (m->region + 255) & ~(int64_t)255;
    m->in = array_of(p, &p->in, MR_FFT_IN);
    m->out = array_of(p, &p->out, MR_FFT_OUT);
    m->keep = region_of(m, 0);
    m->cut = region_of(m, 1);
    m->program->by_member =
        elements <= PART && (p->batch == 1 || (m->in.batch >= m->in.axis[0] && m->out.batch >= m->out.axis[0]));
    m->program->members = elements < PART ? PART / elements : 1;
    return true;
}

/* How many bytes of work area there are, by the rules of add_steps. */
static size_t work_of(const struct making *m)
{
    const struct mr_fft_problem *p = m->problem;
    bool keep = false, cut = p->sort != MR_FFT_COMPLEX && is_halved(m);
    for (int i = 0; i < p->rank; i++) {
        bool is_complex = p->sort == MR_FFT_COMPLEX || i < p->rank - 1;
        cut |= is_complex && half_of(p->n[i]);
        keep |= p->sort == MR_FFT_REAL_OUT && !p->in_place && i < p->rank - 1 && p->n[i] > 1;
    }
    return (size_t)m->region * (unsigned)(keep + cut);
}

enum mr_fft_made mr_fft_work_size(const struct mr_fft_problem *problem, size_t *size)
{
    struct mr_fft_program program = {0};
    struct making m = {.problem = problem, .program = &program};
    if (!begin(&m))
        return MR_FFT_TOO_LARGE;
    *size = work_of(&m);
    return MR_FFT_MADE;
}

enum mr_fft_made mr_fft_program_new(const struct mr_fft_problem *problem, struct mr_fft_program **program)
{
    struct making m = {.problem = problem, .program = calloc(1, sizeof **program)};
    if (!m.program)
        return MR_FFT_NO_MEMORY;
    atomic_init(&m.program->references, 1);
    if (!begin(&m))
        m.made = MR_FFT_TOO_LARGE;
    else if (problem->in_place && !fits_in_place(&m))
        m.made = MR_FFT_OVERLAPS;
    else {
        m.program->work_size = work_of(&m);
        if (m.program->work_size == (size_t)m.region) /* the region for cut lines is the only one */
            m.cut.offset = 0;
        add_steps(&m);
    }
    if (m.made != MR_FFT_MADE) {
        mr_fft_program_drop(m.program);
        return m.made;
    }
    *program = m.program;
    return MR_FFT_MADE;
}

void mr_fft_program_hold(struct mr_fft_program *program)
{
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
}

void mr_fft_program_drop(struct mr_fft_program *program)
{
    if (!program || atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < program->count; i++) {
        struct mr_fft_step *step = &program->steps[i];
        for (int way = 0; way < 2; way++) {
            mr_lines_drop(step->one[way]);
            for (int k = 0; k < MR_FFT_LADDER; k++)
                mr_lines_drop(step->ladder[way][k]);
        }
        mr_roots_free(step->roots);
    }
    free(program);
}
