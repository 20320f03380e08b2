/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of recurrent networks. A layer's input is multiplied for all steps at once, its state step by step.
 *
 * The state before step t, forward, is slot t of the states, and the one after it slot t + 1; in the other direction
 * it's the other way round. So either way the last states of all steps lie one behind the other. */
#include "libs/cudnn/rnn.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "libs/cudnn/tensor.h"
#include "libs/math/cpu.h"

#define REAL float
#define NAME(name) name##_f
#define F(name) name##f
#include "libs/cudnn/rnn_cell.inc"
#undef REAL
#undef NAME
#undef F
#define REAL double
#define NAME(name) name##_d
#define F(name) name
#include "libs/cudnn/rnn_cell.inc"
#undef REAL
#undef NAME
#undef F
#define EITHER(wide, name, ...) ((wide) ? name##_d(__VA_ARGS__) : name##_f(__VA_ARGS__))

/* ---- where things lie ---- */

static int64_t pseudos(const struct mr_rnn_shape *s)
{
    return s->layers * mr_rnn_directions(s);
}

static bool has_matrix(const struct mr_rnn_shape *s, int64_t pseudo)
{
    return !(s->skip && pseudo < mr_rnn_directions(s));
}

/* The elements of a pseudo-layer's matrices. */
static int64_t matrices(const struct mr_rnn_shape *s, int64_t pseudo)
{
    int64_t columns = has_matrix(s, pseudo) ? mr_rnn_input(s, pseudo / mr_rnn_directions(s)) : 0;
    return mr_rnn_gates(s) * s->hidden * (columns + s->hidden);
}

static int64_t biases(const struct mr_rnn_shape *s)
{
    return s->bias == CUDNN_RNN_NO_BIAS ? 0 : s->bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
}

int64_t mr_rnn_matrix_at(const struct mr_rnn_shape *s, int64_t pseudo, bool of_state)
{
    int64_t at = 0;
    if (!of_state && !has_matrix(s, pseudo))
        return -1;
    for (int64_t i = 0; i < pseudo; i++)
        at += matrices(s, i);
    return of_state ? at + matrices(s, pseudo) - mr_rnn_gates(s) * s->hidden * s->hidden : at;
}

int64_t mr_rnn_bias_at(const struct mr_rnn_shape *s, int64_t pseudo, bool of_state)
{
    int64_t each = mr_rnn_gates(s) * s->hidden, at = 0;
    if (s->bias == CUDNN_RNN_NO_BIAS || s->bias == (of_state ? CUDNN_RNN_SINGLE_INP_BIAS : CUDNN_RNN_SINGLE_REC_BIAS))
        return -1;
    for (int64_t i = 0; i < pseudos(s); i++)
        at += matrices(s, i);
    return at + (pseudo * biases(s) + (of_state && s->bias == CUDNN_RNN_DOUBLE_BIAS)) * each;
}

int64_t mr_rnn_weights(const struct mr_rnn_shape *s)
{
    int64_t count = pseudos(s) * biases(s) * mr_rnn_gates(s) * s->hidden;
    for (int64_t i = 0; i < pseudos(s); i++)
        count += matrices(s, i);
    return count;
}

/* An arena's places, in elements: of a pseudo-layer, behind `first` + its number * `each`. */
struct places {
    int64_t inputs; /* of layer 1; layer 0's are at 0; the next layers' `between` behind each other */
    int64_t between, first, each;
    int64_t states, cells, products, d, dr; /* behind the gates; dr is d except for GRU */
    int64_t all;
};

static struct places places_of(const struct mr_rnn_shape *s, int64_t steps, int64_t rows)
{
    int64_t h = s->hidden, state = steps * rows * h, gates = mr_rnn_gates(s) * state, slots = state + rows * h;
    struct places p = {.inputs = steps * rows * s->input, .between = mr_rnn_directions(s) * state};
    p.first = p.inputs + (s->layers - 1) * p.between;
    p.states = gates;
    p.cells = p.states + slots;
    p.products = p.cells + (s->mode == CUDNN_LSTM ? slots : 0);
    p.d = p.products + (s->mode == CUDNN_GRU ? state : 0);
    p.dr = s->mode == CUDNN_GRU ? p.d + gates : p.d;
    p.each = p.dr + gates;
    p.all = (p.first + pseudos(s) * p.each + 15) / 16 * 16;
    return p;
}

/* The elements that the gradient of the data needs: the gradients of a layer's output and input, of state and cell. */
static int64_t back_of(const struct mr_rnn_shape *s, int64_t steps, int64_t rows)
{
    int64_t widest = mr_rnn_directions(s) * s->hidden;
    widest = widest < s->input ? s->input : widest;
    return (2 * steps * rows * widest + 2 * rows * s->hidden + 15) / 16 * 16;
}

static int64_t block_rows(int64_t batch)
{
    return batch < MR_RNN_BLOCK ? batch : MR_RNN_BLOCK;
}

static size_t element(const struct mr_rnn_shape *s)
{
    return mr_dnn_is_wide(s->type) ? sizeof(double) : sizeof(float);
}

size_t mr_rnn_arena_bytes(const struct mr_rnn_shape *s, int64_t steps, int64_t batch)
{
    return mr_parts_of((uint64_t)batch, MR_RNN_BLOCK) * (size_t)places_of(s, steps, block_rows(batch)).all * element(s);
}

size_t mr_rnn_back_bytes(const struct mr_rnn_shape *s, int64_t steps, int64_t batch)
{
    return mr_parts_of((uint64_t)batch, MR_RNN_BLOCK) * (size_t)back_of(s, steps, block_rows(batch)) * element(s);
}

/* ---- a block ---- */

struct block {
    const struct mr_rnn *rnn;
    const struct mr_rnn_shape *s;
    const int *lengths; /* of the whole batch */
    int64_t first, rows, steps; /* of its sequences */
    bool wide;
    size_t size; /* of an element in the arena */
    char *arena, *back;
    struct places p;
    const char *weights; /* in the arena's type */
};

static struct block block_of(const struct mr_rnn *rnn, uint64_t number)
{
    const struct mr_rnn_shape *s = &rnn->shape;
    struct block b = {.rnn = rnn,
                      .s = s,
                      .lengths = (const int *)(rnn + 1),
                      .first = (int64_t)number * MR_RNN_BLOCK,
                      .steps = rnn->x.steps,
                      .wide = mr_dnn_is_wide(s->type),
                      .size = element(s)};
    int64_t most = block_rows(rnn->x.batch), left = rnn->x.batch - b.first;
    b.rows = left < most ? left : most;
    b.p = places_of(s, b.steps, b.rows);
    b.arena = (char *)rnn->arena + number * (size_t)places_of(s, b.steps, most).all * b.size;
    b.back = rnn->back ? (char *)rnn->back + number * (size_t)back_of(s, b.steps, most) * b.size : NULL;
    return b;
}

/* The weights as the arena's type has them. NULL if memory is short. */
static const char *weights_of(const struct mr_rnn *rnn)
{
    const struct mr_rnn_shape *s = &rnn->shape;
    if (mr_dnn_size(s->type) == element(s))
        return rnn->weights;
    void *room = mr_math_scratch(0, (size_t)mr_rnn_weights(s) * element(s));
    if (room)
        mr_line_load(s->type, rnn->weights, 0, 1, mr_rnn_weights(s), false, room);
    return room;
}

static char *in_arena(const struct block *b, int64_t at)
{
    return b->arena + at * (int64_t)b->size;
}

static char *of_pseudo(const struct block *b, int64_t pseudo, int64_t at)
{
    return in_arena(b, b->p.first + pseudo * b->p.each + at);
}

static char *input_of(const struct block *b, int64_t layer)
{
    return in_arena(b, layer ? b->p.inputs + (layer - 1) * b->p.between : 0);
}

/* A slot of states or cells. */
static char *slot(const struct block *b, int64_t pseudo, int64_t at, int64_t number)
{
    return of_pseudo(b, pseudo, at + number * b->rows * b->s->hidden);
}

static const char *weight(const struct block *b, int64_t at)
{
    return at < 0 ? NULL : b->weights + at * (int64_t)b->size;
}

static bool is_reverse(const struct block *b, int64_t pseudo)
{
    return pseudo % mr_rnn_directions(b->s) == 1;
}

static bool lasts(const struct block *b, int64_t row, int64_t t)
{
    return t < b->lengths[b->first + row];
}

/* C = A B, or with beta 1 added to C: matrices by rows, `ta` and `tb` say which are transposed. C has m rows. */
static void multiply(bool wide, char ta, char tb, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                     const void *b, int64_t ldb, bool add, void *c, int64_t ldc)
{
    const float one_f = 1, beta_f = add;
    const double one_d = 1, beta_d = add;
    int sizes[] = {(int)n, (int)m, (int)k, (int)ldb, (int)lda, (int)ldc};
    if (m > 0 && n > 0 && k > 0)
        mr_cpu.gemm[wide ? MR_CPU_D : MR_CPU_S](&tb, &ta, &sizes[0], &sizes[1], &sizes[2],
                                                wide ? (const void *)&one_d : &one_f, b, &sizes[3], a, &sizes[4],
                                                wide ? (const void *)&beta_d : &beta_f, c, &sizes[5]);
}

/* Moves vectors of sequences from or to a matrix with a row for each step and sequence, `ld` elements apart. A vector
 * gets `count` elements of the row, written from element `skip` on. Behind a sequence's end, rows become 0, and the
 * vectors get the filling. */
static void move(const struct block *b, const struct mr_rnn_data *data, void *vectors, bool load, char *matrix,
                 int64_t ld, int64_t skip, int64_t count)
{
    bool packed = data->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
    int64_t before = 0; /* vectors of earlier steps, where they are packed */
    float fill_f = (float)data->fill;
    for (int64_t t = 0; t < b->steps; t++) {
        for (int64_t row = 0; row < b->rows; row++) {
            int64_t sequence = b->first + row;
            int64_t vector = packed                                                       ? before + sequence
                             : data->layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED ? sequence * b->steps + t
                                                                                          : t * data->batch + sequence;
            char *at = matrix + (t * b->rows + row) * ld * (int64_t)b->size;
            int64_t to = vector * data->size + skip;
            if (load && lasts(b, row, t))
                mr_line_load(b->s->type, vectors, to, 1, count, b->wide, at);
            else if (load)
                memset(at, 0, (size_t)count * b->size);
            else if (lasts(b, row, t))
                mr_line_store(b->s->type, vectors, to, 1, count, b->wide, at);
            else if (!packed)
                for (int64_t i = 0; i < count; i++)
                    mr_line_store(b->s->type, vectors, to + i, 1, 1, b->wide,
                                  b->wide ? (const void *)&data->fill : &fill_f);
        }
        for (int64_t i = 0; i < data->batch && packed; i++)
            before += t < b->lengths[i];
    }
}

/* States of a pseudo-layer from or to the program's tensor, which may be NULL: 0 then. */
static void load_states(const struct block *b, const void *from, int64_t pseudo, void *to)
{
    int64_t count = b->rows * b->s->hidden, at = (pseudo * b->rnn->x.batch + b->first) * b->s->hidden;
    if (from)
        mr_line_load(b->s->type, from, at, 1, count, b->wide, to);
    else
        memset(to, 0, (size_t)count * b->size);
}

static void store_states(const struct block *b, void *to, int64_t pseudo, const void *from)
{
    int64_t count = b->rows * b->s->hidden, at = (pseudo * b->rnn->x.batch + b->first) * b->s->hidden;
    if (to)
        mr_line_store(b->s->type, to, at, 1, count, b->wide, from);
}

/* Dropout of a layer's input, or of that input's gradient. */
static void drop(const struct block *b, int64_t layer, char *matrix)
{
    const struct mr_rnn *rnn = b->rnn;
    int64_t in = mr_rnn_input(b->s, layer);
    double factor = rnn->dropout < 1 ? 1 / (1 - rnn->dropout) : 0;
    for (int64_t i = 0; i < b->steps * b->rows && rnn->dropout > 0; i++) {
        int64_t vector = ((layer - 1) * b->steps + i / b->rows) * rnn->x.batch + b->first + i % b->rows;
        for (int64_t k = 0; k < in; k++) {
            bool keeps = mr_dropout_keeps(rnn->kept, (uint64_t)(vector * in + k), rnn->dropout);
            if (b->wide)
                ((double *)(void *)matrix)[i * in + k] *= keeps ? factor : 0;
            else
                ((float *)(void *)matrix)[i * in + k] *= keeps ? (float)factor : 0;
        }
    }
}

/* ---- forward ---- */

/* What the input and the biases give to the gates of all steps. GRU's third bias of the state goes with its product. */
static void prepare_gates(const struct block *b, int64_t pseudo, void *room)
{
    const struct mr_rnn_shape *s = b->s;
    int64_t h = s->hidden, n = mr_rnn_gates(s) * h, rows = b->steps * b->rows, layer = pseudo / mr_rnn_directions(s),
            in = mr_rnn_input(s, layer), joint = s->mode == CUDNN_GRU ? 2 * h : n;
    const char *bw = weight(b, mr_rnn_bias_at(s, pseudo, false)), *br = weight(b, mr_rnn_bias_at(s, pseudo, true));
    const char *w = weight(b, mr_rnn_matrix_at(s, pseudo, false));
    char *gates = of_pseudo(b, pseudo, 0), *x = input_of(b, layer), *sum = room;
    int64_t size = (int64_t)b->size;
    EITHER(b->wide, sum, bw, br, joint, sum);
    EITHER(b->wide, sum, bw ? bw + joint * size : NULL, NULL, n - joint, sum + joint * size);
    EITHER(b->wide, spread, sum, n, rows, gates);
    if (w)
        multiply(b->wide, 'N', 'T', rows, n, in, x, in, w, in, true, gates, n);
    for (int64_t g = 0; g < mr_rnn_gates(s) && !w; g++)
        EITHER(b->wide, add_rows, x, in, h, rows, gates + g * h * size, n);
    if (s->mode == CUDNN_GRU) {
        EITHER(b->wide, sum, br ? br + joint * size : NULL, NULL, h, sum);
        EITHER(b->wide, spread, sum, h, rows, of_pseudo(b, pseudo, b->p.products));
    }
}

static void forward_step(const struct block *b, int64_t pseudo, int64_t t)
{
    const struct mr_rnn_shape *s = b->s;
    bool reverse = is_reverse(b, pseudo), lstm = s->mode == CUDNN_LSTM, gru = s->mode == CUDNN_GRU;
    int64_t h = s->hidden, n = mr_rnn_gates(s) * h, size = (int64_t)b->size;
    const char *r = weight(b, mr_rnn_matrix_at(s, pseudo, true));
    char *gates = of_pseudo(b, pseudo, t * b->rows * n), *product = slot(b, pseudo, b->p.products, t);
    char *last = slot(b, pseudo, b->p.states, t + reverse), *next = slot(b, pseudo, b->p.states, t + !reverse);
    char *old = slot(b, pseudo, b->p.cells, t + reverse), *cell = slot(b, pseudo, b->p.cells, t + !reverse);
    multiply(b->wide, 'N', 'T', b->rows, gru ? 2 * h : n, h, last, h, r, h, true, gates, n);
    if (gru)
        multiply(b->wide, 'N', 'T', b->rows, h, h, last, h, r + 2 * h * h * size, h, true, product, h);
    for (int64_t row = 0; row < b->rows; row++) {
        int64_t at = row * h * size;
        if (lasts(b, row, t)) {
            EITHER(b->wide, step, s, gates + row * n * size, product + at, last + at, old + at, next + at, cell + at);
            continue;
        }
        memcpy(next + at, last + at, (size_t)(h * size));
        if (lstm)
            memcpy(cell + at, old + at, (size_t)(h * size));
    }
}

/* A pseudo-layer's output, which is its states: into the next layer's input, or to the program. */
static void put_output(const struct block *b, int64_t pseudo)
{
    int64_t h = b->s->hidden, directions = mr_rnn_directions(b->s), layer = pseudo / directions,
            size = (int64_t)b->size, skip = pseudo % directions * h;
    char *states = slot(b, pseudo, b->p.states, !is_reverse(b, pseudo));
    if (layer == b->s->layers - 1) {
        move(b, &b->rnn->y, b->rnn->y_at, false, states, h, skip, h);
        return;
    }
    char *to = input_of(b, layer + 1) + skip * size;
    for (int64_t i = 0; i < b->steps * b->rows; i++)
        if (lasts(b, i % b->rows, i / b->rows))
            memcpy(to + i * directions * h * size, states + i * h * size, (size_t)(h * size));
        else
            memset(to + i * directions * h * size, 0, (size_t)(h * size));
    if (pseudo % directions == directions - 1)
        drop(b, layer + 1, input_of(b, layer + 1));
}

void mr_rnn_forward_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_rnn *rnn = record;
    const struct mr_rnn_shape *s = &rnn->shape;
    const char *weights = weights_of(rnn);
    void *room = mr_math_scratch(1, (size_t)(mr_rnn_gates(s) * s->hidden) * element(s));
    if (!weights || !room) {
        mr_math_short_of_memory(rnn->function);
        return;
    }
    for (uint64_t part = first; part < end; part++) {
        struct block b = block_of(rnn, part);
        b.weights = weights;
        move(&b, &rnn->x, (void *)rnn->x_at, true, input_of(&b, 0), s->input, 0, s->input);
        for (int64_t pseudo = 0; pseudo < pseudos(s); pseudo++) {
            bool reverse = is_reverse(&b, pseudo);
            int64_t begin = reverse ? b.steps : 0, behind = b.steps - begin;
            prepare_gates(&b, pseudo, room);
            load_states(&b, rnn->hx, pseudo, slot(&b, pseudo, b.p.states, begin));
            if (s->mode == CUDNN_LSTM)
                load_states(&b, rnn->cx, pseudo, slot(&b, pseudo, b.p.cells, begin));
            for (int64_t i = 0; i < b.steps; i++)
                forward_step(&b, pseudo, reverse ? b.steps - 1 - i : i);
            put_output(&b, pseudo);
            store_states(&b, rnn->hy, pseudo, slot(&b, pseudo, b.p.states, behind));
            if (s->mode == CUDNN_LSTM)
                store_states(&b, rnn->cy, pseudo, slot(&b, pseudo, b.p.cells, behind));
        }
    }
}

/* ---- the gradient of the data ---- */

/* `dy`: of the layer's output, all steps. */
static void back_step(const struct block *b, int64_t pseudo, int64_t t, const char *dy, char *dh, char *dc)
{
    const struct mr_rnn_shape *s = b->s;
    bool reverse = is_reverse(b, pseudo);
    int64_t h = s->hidden, n = mr_rnn_gates(s) * h, size = (int64_t)b->size, directions = mr_rnn_directions(s);
    char *gates = of_pseudo(b, pseudo, t * b->rows * n), *d = of_pseudo(b, pseudo, b->p.d + t * b->rows * n),
         *dr = of_pseudo(b, pseudo, b->p.dr + t * b->rows * n), *product = slot(b, pseudo, b->p.products, t);
    char *last = slot(b, pseudo, b->p.states, t + reverse), *old = slot(b, pseudo, b->p.cells, t + reverse),
         *cell = slot(b, pseudo, b->p.cells, t + !reverse);
    for (int64_t row = 0; row < b->rows; row++) {
        int64_t at = row * h * size, gate = row * n * size;
        const char *from = dy + ((t * b->rows + row) * directions + reverse) * h * size;
        if (lasts(b, row, t)) {
            EITHER(b->wide, step_back, s, gates + gate, product + at, last + at, old + at, cell + at, from, dh + at,
                   dc + at, d + gate, dr + gate);
            continue;
        }
        memset(d + gate, 0, (size_t)(n * size));
        memset(dr + gate, 0, (size_t)(n * size));
    }
    multiply(b->wide, 'N', 'N', b->rows, h, n, dr, n, weight(b, mr_rnn_matrix_at(s, pseudo, true)), h, true, dh, h);
}

/* Adds up the gradient of the layer's input. */
static void back_input(const struct block *b, int64_t pseudo, char *dx)
{
    const struct mr_rnn_shape *s = b->s;
    int64_t h = s->hidden, n = mr_rnn_gates(s) * h, rows = b->steps * b->rows,
            in = mr_rnn_input(s, pseudo / mr_rnn_directions(s));
    const char *w = weight(b, mr_rnn_matrix_at(s, pseudo, false));
    const char *d = of_pseudo(b, pseudo, b->p.d);
    if (w)
        multiply(b->wide, 'N', 'N', rows, in, n, d, n, w, in, true, dx, in);
    for (int64_t g = 0; g < mr_rnn_gates(s) && !w; g++)
        EITHER(b->wide, add_rows, d + g * h * (int64_t)b->size, n, h, rows, dx, in);
}

static void data_of_block(const struct block *b)
{
    assert(b->back);
    const struct mr_rnn *rnn = b->rnn;
    const struct mr_rnn_shape *s = b->s;
    int64_t h = s->hidden, directions = mr_rnn_directions(s), rows = b->steps * b->rows, size = (int64_t)b->size,
            widest = directions * h < s->input ? s->input : directions * h;
    char *dy = b->back, *dx = dy + rows * widest * size, *dh = dx + rows * widest * size, *dc = dh + b->rows * h * size;
    move(b, &rnn->y, (void *)rnn->dy, true, dy, directions * h, 0, directions * h);
    for (int64_t layer = s->layers - 1; layer >= 0; layer--) {
        memset(dx, 0, (size_t)(rows * mr_rnn_input(s, layer) * size));
        for (int64_t pseudo = layer * directions; pseudo < (layer + 1) * directions; pseudo++) {
            load_states(b, rnn->dhy, pseudo, dh);
            load_states(b, rnn->dcy, pseudo, dc);
            for (int64_t i = 0; i < b->steps; i++)
                back_step(b, pseudo, is_reverse(b, pseudo) ? i : b->steps - 1 - i, dy, dh, dc);
            store_states(b, rnn->dhx, pseudo, dh);
            if (s->mode == CUDNN_LSTM)
                store_states(b, rnn->dcx, pseudo, dc);
            back_input(b, pseudo, dx);
        }
        if (layer)
            drop(b, layer, dx);
        char *swap = dy;
        dy = dx;
        dx = swap;
    }
    struct mr_rnn_data to = rnn->x;
    to.fill = 0;
    move(b, &to, rnn->dx, false, dy, s->input, 0, s->input);
}

void mr_rnn_data_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_rnn *rnn = record;
    const char *weights = weights_of(rnn);
    if (!weights) {
        mr_math_short_of_memory(rnn->function);
        return;
    }
    for (uint64_t part = first; part < end; part++) {
        struct block b = block_of(rnn, part);
        b.weights = weights;
        data_of_block(&b);
    }
}

uint64_t mr_rnn_parts(const struct mr_rnn *rnn)
{
    return mr_parts_of((uint64_t)rnn->x.batch, MR_RNN_BLOCK);
}

/* ---- the gradient of the weights ---- */

/* Stores `count` sums at element `at` of the gradient, or adds them. */
static void put_sums(const struct mr_rnn *rnn, int64_t at, int64_t count, char *sums)
{
    bool wide = mr_dnn_is_wide(rnn->shape.type);
    union {
        float f[MR_LINE];
        double d[MR_LINE];
    } line;
    for (int64_t i = 0; i < count; i += MR_LINE) {
        int64_t part = count - i < MR_LINE ? count - i : MR_LINE;
        char *from = sums + i * (int64_t)element(&rnn->shape);
        if (rnn->add) {
            mr_line_load(rnn->shape.type, rnn->dweights, at + i, 1, part, wide, &line);
            EITHER(wide, sum, &line, from, part, from);
        }
        mr_line_store(rnn->shape.type, rnn->dweights, at + i, 1, part, wide, from);
    }
}

/* The matrix and the bias of the input, or of the state. */
static void weights_of_pseudo(const struct mr_rnn *rnn, int64_t pseudo, bool of_state, char *sums)
{
    const struct mr_rnn_shape *s = &rnn->shape;
    int64_t h = s->hidden, n = mr_rnn_gates(s) * h, layer = pseudo / mr_rnn_directions(s),
            columns = of_state ? h : mr_rnn_input(s, layer);
    int64_t matrix = mr_rnn_matrix_at(s, pseudo, of_state), bias = mr_rnn_bias_at(s, pseudo, of_state);
    if (matrix >= 0) {
        memset(sums, 0, (size_t)(n * columns) * element(s));
        for (uint64_t number = 0; number < mr_rnn_parts(rnn); number++) {
            struct block b = block_of(rnn, number);
            const char *in = of_state ? slot(&b, pseudo, b.p.states, is_reverse(&b, pseudo)) : input_of(&b, layer);
            multiply(b.wide, 'T', 'N', n, columns, b.steps * b.rows, of_pseudo(&b, pseudo, of_state ? b.p.dr : b.p.d),
                     n, in, columns, true, sums, columns);
        }
        put_sums(rnn, matrix, n * columns, sums);
    }
    if (bias >= 0) {
        memset(sums, 0, (size_t)n * element(s));
        for (uint64_t number = 0; number < mr_rnn_parts(rnn); number++) {
            struct block b = block_of(rnn, number);
            EITHER(b.wide, add_rows, of_pseudo(&b, pseudo, of_state ? b.p.dr : b.p.d), n, n, b.steps * b.rows, sums, 0);
        }
        put_sums(rnn, bias, n, sums);
    }
}

uint64_t mr_rnn_weights_parts(const struct mr_rnn *rnn)
{
    return (uint64_t)pseudos(&rnn->shape);
}

void mr_rnn_weights_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_rnn *rnn = record;
    const struct mr_rnn_shape *s = &rnn->shape;
    int64_t columns = mr_rnn_directions(s) * s->hidden;
    columns = columns < s->input ? s->input : columns;
    char *sums = mr_math_scratch(0, (size_t)(mr_rnn_gates(s) * s->hidden * columns) * element(s));
    if (!sums) {
        mr_math_short_of_memory(rnn->function);
        return;
    }
    for (uint64_t part = first; part < end; part++) {
        weights_of_pseudo(rnn, (int64_t)part, false, sums);
        weights_of_pseudo(rnn, (int64_t)part, true, sums);
    }
}
