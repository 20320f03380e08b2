/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks: cells with ReLU or tanh, LSTM and GRU, several layers, one or two directions.
 *
 * A pseudo-layer is a layer in one direction: number layer * directions + direction. Of the weights, first come the
 * matrices of all pseudo-layers, each by rows: for a pseudo-layer those that multiply the input, gate by gate, then
 * those that multiply the state. Behind them come the biases in the same order. Nothing lies between them.
 *
 * A batch is cut into blocks of sequences, which are parts of the work. A block has an arena: what the forward pass
 * finds and the gradients need, in float, or in double for tensors of double (`wide`). In it all sequences have the
 * longest one's steps; a step behind a sequence's end leaves its state as it is, and its output is 0. */
#ifndef MR_CUDNN_RNN_H
#define MR_CUDNN_RNN_H

#include "libs/cudnn/dnn.h"
#include "libs/cudnn/dropout.h"

#define MR_RNN_BLOCK 16 /* sequences of a block at most */

struct mr_rnn_shape {
    cudnnRNNMode_t mode;
    cudnnRNNBiasMode_t bias;
    bool bidirectional;
    bool skip; /* the first layer's input is added to each gate, and no matrix multiplies it */
    cudnnDataType_t type;
    int64_t input, hidden, layers;
    bool clip, clip_nan; /* LSTM's cells are kept in [least, most]; a NaN then becomes `least` */
    double least, most;
};

/* Where sequences lie: vectors of `size` elements. */
struct mr_rnn_data {
    cudnnRNNDataLayout_t layout;
    int64_t steps, batch, size;
    double fill; /* what is written behind the end of sequences */
};

static inline int64_t mr_rnn_gates(const struct mr_rnn_shape *s)
{
    return s->mode == CUDNN_LSTM ? 4 : s->mode == CUDNN_GRU ? 3 : 1;
}

static inline int64_t mr_rnn_directions(const struct mr_rnn_shape *s)
{
    return s->bidirectional ? 2 : 1;
}

/* The elements of a layer's input vectors. */
static inline int64_t mr_rnn_input(const struct mr_rnn_shape *s, int64_t layer)
{
    return layer ? s->hidden * mr_rnn_directions(s) : s->input;
}

/* Elements of all weights. */
int64_t mr_rnn_weights(const struct mr_rnn_shape *s);

/* Where the matrix, or the bias, of a pseudo-layer begins: the first gate's, of the input or of the state. In elements
 * of the weights; -1 where there is none. */
int64_t mr_rnn_matrix_at(const struct mr_rnn_shape *s, int64_t pseudo, bool of_state);
int64_t mr_rnn_bias_at(const struct mr_rnn_shape *s, int64_t pseudo, bool of_state);

/* Bytes of all arenas of a batch, and of what the gradient of the data needs besides. */
size_t mr_rnn_arena_bytes(const struct mr_rnn_shape *s, int64_t steps, int64_t batch);
size_t mr_rnn_back_bytes(const struct mr_rnn_shape *s, int64_t steps, int64_t batch);

/* A record; behind it stand the lengths of the sequences: an int for each of the batch. Pointers to states and their
 * gradients may be NULL: 0 is read for them, and nothing is written. */
struct mr_rnn {
    const char *function; /* for messages */
    struct mr_rnn_shape shape;
    struct mr_rnn_data x, y;
    void *arena; /* of all blocks */
    double dropout; /* of each layer's input but the first's, with that probability */
    const struct mr_dropout_states *kept; /* which elements, forward and backward; not read for 0 */
    void *back; /* of the gradient of the data, all blocks */
    const void *weights;
    const void *x_at, *hx, *cx; /* forward */
    void *y_at, *hy, *cy;
    const void *dy, *dhy, *dcy; /* gradient of the data */
    void *dx, *dhx, *dcx;
    void *dweights; /* gradient of the weights, */
    bool add;       /* added to what is there */
};

/* How many elements dropout asks for. */
static inline int64_t mr_rnn_drawn(const struct mr_rnn *rnn)
{
    return (rnn->shape.layers - 1) * rnn->x.steps * rnn->x.batch * mr_rnn_input(&rnn->shape, 1);
}

/* Forward, and the gradient of the data: a part is a block. */
uint64_t mr_rnn_parts(const struct mr_rnn *rnn);
void mr_rnn_forward_run(void *record, uint64_t first, uint64_t end);
void mr_rnn_data_run(void *record, uint64_t first, uint64_t end);

/* The gradient of the weights, by what those two left in the arena: a part is a pseudo-layer. */
uint64_t mr_rnn_weights_parts(const struct mr_rnn *rnn);
void mr_rnn_weights_run(void *record, uint64_t first, uint64_t end);

#endif
