/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by graphs of cuDNN, forward and backward, of the operations that cudnn-frontend puts together: two
 * products, a softmax of single operations, masks. A case's answer is a status for each step, and whether what was left
 * is near to what plain loops in double give.
 *
 * The tensors are q, k, v and o with dimensions batch, heads, sequence and depth; "heads last" lie as batch, sequence,
 * heads and depth, the way programs have them. */
#include "dn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PARTS 160
#define GIVEN 32

typedef cudnnBackendDescriptor_t Part;

struct shape {
    int64_t dim[4], stride[4];
};

struct graph {
    cudnnHandle_t handle;
    cudnnStatus_t status; /* of the first descriptor that could not be finalized */
    Part operations[PARTS];
    int count;
    int64_t next; /* the next tensor's number */
    int64_t uids[GIVEN];
    void *pointers[GIVEN];
    int given;
};

static Part part(cudnnBackendDescriptorType_t type)
{
    Part d;
    DN_NEED(cudnnBackendCreateDescriptor(type, &d));
    return d;
}

static void set(struct graph *g, Part d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                int64_t count, const void *elements)
{
    cudnnStatus_t status = cudnnBackendSetAttribute(d, name, type, count, elements);
    if (status != CUDNN_STATUS_SUCCESS && g->status == CUDNN_STATUS_SUCCESS)
        g->status = status;
}

static void end(struct graph *g, Part d)
{
    cudnnStatus_t status = cudnnBackendFinalize(d);
    if (status != CUDNN_STATUS_SUCCESS && g->status == CUDNN_STATUS_SUCCESS)
        g->status = status;
}

#define FLOAT CUDNN_DATA_FLOAT
#define NUMBER(d, name, type, value) set(g, d, name, type, 1, &value)
#define HOLD(d, name, other) set(g, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other)

/* A tensor that lies at `at`; virtual if that is NULL; `by_value`: at is on the host. */
static Part tensor(struct graph *g, cudnnDataType_t type, struct shape s, void *at, bool by_value)
{
    Part d = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    int64_t uid = ++g->next, alignment = 16;
    bool is_virtual = !at;
    NUMBER(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    set(g, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, s.dim);
    set(g, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, s.stride);
    NUMBER(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid);
    NUMBER(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
    NUMBER(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual);
    NUMBER(d, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, by_value);
    end(g, d);
    if (at) {
        g->uids[g->given] = uid;
        g->pointers[g->given++] = at;
    }
    return d;
}

static void add(struct graph *g, Part operation)
{
    end(g, operation);
    g->operations[g->count++] = operation;
}

/* y = mode(x, b, t); operands that the mode doesn't have are NULL. */
static void pointwise(struct graph *g, cudnnPointwiseMode_t mode, Part x, Part b, Part t, Part y, int64_t axis)
{
    Part d = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op = part(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    cudnnDataType_t type = FLOAT;
    NUMBER(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    NUMBER(d, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, type);
    if (axis >= 0)
        NUMBER(d, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
    end(g, d);
    HOLD(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, d);
    if (x)
        HOLD(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b)
        HOLD(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    if (t)
        HOLD(op, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
    HOLD(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    add(g, op);
}

static void product(struct graph *g, Part a, Part b, Part c)
{
    Part d = part(CUDNN_BACKEND_MATMUL_DESCRIPTOR), op = part(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    cudnnDataType_t type = FLOAT;
    NUMBER(d, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    end(g, d);
    HOLD(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    HOLD(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    HOLD(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    HOLD(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, d);
    add(g, op);
}

static void reduce(struct graph *g, cudnnReduceTensorOp_t how, Part x, Part y)
{
    Part d = part(CUDNN_BACKEND_REDUCTION_DESCRIPTOR), op = part(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    cudnnDataType_t type = FLOAT;
    NUMBER(d, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, how);
    NUMBER(d, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    end(g, d);
    HOLD(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    HOLD(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    HOLD(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, d);
    add(g, op);
}

static void reshape(struct graph *g, Part x, Part y)
{
    Part op = part(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    HOLD(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    HOLD(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add(g, op);
}

/* ---- running ---- */

/* A plan for the graph; NULL where no engine takes it. */
static Part plan_of(struct graph *g)
{
    Part graph = part(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristic = part(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    Part configs[8];
    cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    int64_t found = 0;
    set(g, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, g->count, g->operations);
    set(g, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle);
    end(g, graph);
    if (g->status != CUDNN_STATUS_SUCCESS)
        return NULL;
    HOLD(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    NUMBER(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    end(g, heuristic);
    if (g->status != CUDNN_STATUS_SUCCESS)
        return NULL;
    for (int i = 0; i < 8; i++)
        configs[i] = part(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    g->status = cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 8,
                                         &found, configs);
    for (int64_t i = 0; i < found && i < 8; i++) {
        Part plan = part(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        (void)cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle);
        (void)cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                       &configs[i]);
        cudnnStatus_t status = cudnnBackendFinalize(plan);
        if (status == CUDNN_STATUS_SUCCESS)
            return plan;
        g->status = status;
    }
    return NULL;
}

static void run_plan(struct graph *g, Part plan)
{
    Part pack = part(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    int64_t bytes = 0, count;
    dn(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes));
    void *workspace = dn_room((size_t)bytes + 1);
    set(g, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, g->given, g->uids);
    set(g, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, g->given, g->pointers);
    set(g, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    end(g, pack);
    dn(cudnnBackendExecute(g->handle, plan, pack));
}

/* Says how the graph fares. Whether it ran. */
static bool run_graph(struct graph *g)
{
    Part plan = plan_of(g);
    say_if("plan", plan != NULL);
    if (plan)
        run_plan(g, plan);
    return plan != NULL;
}

/* ---- attention ---- */

struct attention {
    char type;
    bool heads_last;
    int b, h, hk, sq, sk, d; /* hk: heads of k and v */
    bool causal, padded, biased;
};

enum { LENGTH = 13 }; /* of padded sequences: the first of the batch; the others are whole */

static struct shape packed(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return (struct shape){{a, b, c, d}, {b * c * d, c * d, d, 1}};
}

/* Of q, k, v, o and their gradients. */
static struct shape outer(const struct attention *o, int64_t heads, int64_t length)
{
    struct shape s = packed(o->b, heads, length, o->d);
    if (o->heads_last) {
        s.stride[1] = o->d;
        s.stride[2] = heads * o->d;
    }
    return s;
}

/* The last two dimensions in each other's place. */
static struct shape turned(struct shape s)
{
    int64_t dim = s.dim[2], stride = s.stride[2];
    s.dim[2] = s.dim[3];
    s.stride[2] = s.stride[3];
    s.dim[3] = dim;
    s.stride[3] = stride;
    return s;
}

/* What the host knows: the tensors in double, and what loops make of them. */
struct values {
    double q[4096], k[4096], v[4096], dy[4096], bias[4096], o[4096], dq[4096], dk[4096], dv[4096], stats[4096];
};
static struct values host;

static size_t at(struct shape s, int a, int b, int c, int d)
{
    return (size_t)(a * s.stride[0] + b * s.stride[1] + c * s.stride[2] + d * s.stride[3]);
}

static void loops(const struct attention *o, double scale)
{
    static double p[1024], dp[1024];
    struct shape q = outer(o, o->h, o->sq), k = outer(o, o->hk, o->sk);
    memset(host.dk, 0, sizeof host.dk);
    memset(host.dv, 0, sizeof host.dv);
    memset(host.dq, 0, sizeof host.dq);
    memset(host.o, 0, sizeof host.o);
    for (int b = 0; b < o->b; b++)
        for (int h = 0; h < o->h; h++)
            for (int i = 0; i < o->sq; i++) {
                int kh = h / (o->h / o->hk), length = o->padded && b == 0 ? LENGTH : o->sk;
                double most = -INFINITY, sum = 0, all = 0;
                if (o->padded && b == 0 && i >= LENGTH)
                    continue;
                for (int j = 0; j < o->sk; j++) {
                    double s = 0;
                    for (int d = 0; d < o->d; d++)
                        s += host.q[at(q, b, h, i, d)] * host.k[at(k, b, kh, j, d)];
                    s = s * scale + (o->biased ? host.bias[(h * o->sq + i) * o->sk + j] : 0);
                    p[j] = (o->causal && j > i) || j >= length ? -INFINITY : s;
                    most = fmax(most, p[j]);
                }
                for (int j = 0; j < o->sk; j++)
                    sum += p[j] = exp(p[j] - most);
                host.stats[(b * o->h + h) * o->sq + i] = most + log(sum);
                for (int j = 0; j < o->sk; j++) {
                    p[j] /= sum;
                    dp[j] = 0;
                    for (int d = 0; d < o->d; d++) {
                        host.o[at(q, b, h, i, d)] += p[j] * host.v[at(k, b, kh, j, d)];
                        host.dv[at(k, b, kh, j, d)] += p[j] * host.dy[at(q, b, h, i, d)];
                        dp[j] += host.dy[at(q, b, h, i, d)] * host.v[at(k, b, kh, j, d)];
                    }
                    all += p[j] * dp[j];
                }
                for (int j = 0; j < o->sk; j++)
                    for (int d = 0; d < o->d; d++) {
                        double ds = p[j] * (dp[j] - all) * scale;
                        host.dq[at(q, b, h, i, d)] += ds * host.k[at(k, b, kh, j, d)];
                        host.dk[at(k, b, kh, j, d)] += ds * host.q[at(q, b, h, i, d)];
                    }
            }
}

/* A tensor of the program's, its elements in `values` too. */
static struct dn given(char type, struct shape s, int seed, double *values)
{
    struct dn t = dn_tensor(type, 'c', (int)s.dim[0], (int)s.dim[1], (int)s.dim[2], (int)s.dim[3], seed);
    dn_read(&t, values);
    return t;
}

/* The largest error must stay below 1/20 of the largest element, which is what eight bits allow. Rows that are beyond
 * the first sequence's end have no meaning and are not looked at. */
static void say_near(const char *what, const struct attention *o, const struct dn *t, const double *wanted, int heads,
                     int length)
{
    static double is[4096];
    struct shape s = outer(o, heads, length);
    double error = 0, most = 0;
    dn_read(t, is);
    for (int b = 0; b < o->b; b++)
        for (int h = 0; h < heads; h++)
            for (int i = 0; i < (o->padded && b == 0 ? LENGTH : length); i++)
                for (int d = 0; d < o->d; d++) {
                    size_t j = at(s, b, h, i, d);
                    error = fmax(error, isnan(is[j]) ? INFINITY : fabs(is[j] - wanted[j]));
                    most = fmax(most, fabs(wanted[j]));
                }
    say_if(what, error <= most / 20);
    if (!(error <= most / 20))
        fprintf(stderr, "%s: off by %g, the largest is %g\n", what, error, most);
}

/* The scores behind masks: s is what came before. */
static Part masked(struct graph *g, const struct attention *o, Part s)
{
    struct shape square = packed(o->b, o->h, o->sq, o->sk), one = packed(1, 1, 1, 1);
    static float least = -1e30f;
    if (!o->causal && !o->padded)
        return s;
    Part column = tensor(g, CUDNN_DATA_INT32, square, NULL, false),
         row = tensor(g, CUDNN_DATA_INT32, square, NULL, false),
         keep = tensor(g, CUDNN_DATA_BOOLEAN, square, NULL, false), none = tensor(g, FLOAT, one, &least, true),
         left = tensor(g, FLOAT, square, NULL, false);
    pointwise(g, CUDNN_POINTWISE_GEN_INDEX, s, NULL, NULL, row, 2);
    pointwise(g, CUDNN_POINTWISE_GEN_INDEX, s, NULL, NULL, column, 3);
    if (o->padded) {
        int lengths[8];
        struct shape of_batch = packed(o->b, 1, 1, 1);
        for (int i = 0; i < o->b; i++)
            lengths[i] = i == 0 ? LENGTH : o->sk;
        void *room = dn_room(sizeof lengths), *room_q = dn_room(sizeof lengths);
        RT_NEED(cudaMemcpy(room, lengths, sizeof lengths, cudaMemcpyHostToDevice));
        RT_NEED(cudaMemcpy(room_q, lengths, sizeof lengths, cudaMemcpyHostToDevice));
        Part length = tensor(g, CUDNN_DATA_INT32, of_batch, room, false),
             length_q = tensor(g, CUDNN_DATA_INT32, of_batch, room_q, false),
             in_row = tensor(g, CUDNN_DATA_BOOLEAN, square, NULL, false),
             in_column = tensor(g, CUDNN_DATA_BOOLEAN, square, NULL, false);
        pointwise(g, CUDNN_POINTWISE_CMP_LT, row, length_q, NULL, in_row, -1);
        pointwise(g, CUDNN_POINTWISE_CMP_LT, column, length, NULL, in_column, -1);
        pointwise(g, CUDNN_POINTWISE_LOGICAL_AND, in_row, in_column, NULL, keep, -1);
    } else {
        pointwise(g, CUDNN_POINTWISE_CMP_GE, row, column, NULL, keep, -1);
    }
    pointwise(g, CUDNN_POINTWISE_BINARY_SELECT, s, none, keep, left, -1);
    return left;
}

/* The scores of q and k as far as the softmax. */
static Part scores(struct graph *g, const struct attention *o, Part q, Part k, Part scale, void *bias_at)
{
    struct shape square = packed(o->b, o->h, o->sq, o->sk);
    Part s = tensor(g, FLOAT, square, NULL, false), scaled = tensor(g, FLOAT, square, NULL, false);
    product(g, q, k, s);
    pointwise(g, CUDNN_POINTWISE_MUL, s, scale, NULL, scaled, -1);
    if (o->biased) {
        Part bias = tensor(g, dn_type(o->type), packed(1, o->h, o->sq, o->sk), bias_at, false),
             sum = tensor(g, FLOAT, square, NULL, false);
        pointwise(g, CUDNN_POINTWISE_ADD, scaled, bias, NULL, sum, -1);
        scaled = sum;
    }
    return masked(g, o, scaled);
}

static bool forward(const struct attention *o, cudnnHandle_t handle, const struct dn *q, const struct dn *k,
                    const struct dn *v, const struct dn *bias, const struct dn *y, const struct dn *stats, float *scale)
{
    struct graph graph = {.handle = handle}, *g = &graph;
    cudnnDataType_t type = dn_type(o->type);
    struct shape qs = outer(o, o->h, o->sq), ks = outer(o, o->hk, o->sk), square = packed(o->b, o->h, o->sq, o->sk),
                 line = packed(o->b, o->h, o->sq, 1);
    Part tq = tensor(g, type, qs, q->at, false), tk = tensor(g, type, turned(ks), k->at, false),
         tv = tensor(g, type, ks, v->at, false), to = tensor(g, type, qs, y->at, false),
         ts = tensor(g, FLOAT, line, stats->at, false), factor = tensor(g, FLOAT, packed(1, 1, 1, 1), scale, true);
    Part s = scores(g, o, tq, tk, factor, bias ? bias->at : NULL);
    Part most = tensor(g, FLOAT, line, NULL, false), below = tensor(g, FLOAT, square, NULL, false),
         power = tensor(g, FLOAT, square, NULL, false), sum = tensor(g, FLOAT, line, NULL, false),
         logarithm = tensor(g, FLOAT, line, NULL, false), p = tensor(g, type, square, NULL, false);
    reduce(g, CUDNN_REDUCE_TENSOR_MAX, s, most);
    pointwise(g, CUDNN_POINTWISE_SUB, s, most, NULL, below, -1);
    pointwise(g, CUDNN_POINTWISE_EXP, below, NULL, NULL, power, -1);
    reduce(g, CUDNN_REDUCE_TENSOR_ADD, power, sum);
    pointwise(g, CUDNN_POINTWISE_LOG, sum, NULL, NULL, logarithm, -1);
    pointwise(g, CUDNN_POINTWISE_ADD, most, logarithm, NULL, ts, -1);
    pointwise(g, CUDNN_POINTWISE_DIV, power, sum, NULL, p, -1);
    product(g, p, tv, to);
    return run_graph(g);
}

static void backward(const struct attention *o, cudnnHandle_t handle, const struct dn *q, const struct dn *k,
                     const struct dn *v, const struct dn *bias, const struct dn *y, const struct dn *dy,
                     const struct dn *stats, float *scale)
{
    static float one = 1;
    struct graph graph = {.handle = handle}, *g = &graph;
    cudnnDataType_t type = dn_type(o->type);
    struct shape qs = outer(o, o->h, o->sq), ks = outer(o, o->hk, o->sk), square = packed(o->b, o->h, o->sq, o->sk),
                 line = packed(o->b, o->h, o->sq, 1), turned_square = turned(square),
                 whole = packed(o->b, o->h, o->sq, o->d), full = packed(o->b, o->h, o->sk, o->d);
    struct dn dq = dn_tensor(o->type, 'c', o->b, o->h, o->sq, o->d, -1),
              dk = dn_tensor(o->type, 'c', o->b, o->hk, o->sk, o->d, -1),
              dv = dn_tensor(o->type, 'c', o->b, o->hk, o->sk, o->d, -1);
    size_t floats = (size_t)(o->b * o->h * o->sq) * sizeof(float);
    bool grouped = o->hk != o->h;
    Part tq = tensor(g, type, qs, q->at, false), tk = tensor(g, type, turned(ks), k->at, false),
         tv = tensor(g, type, turned(ks), v->at, false), to = tensor(g, type, qs, y->at, false),
         tdo = tensor(g, type, qs, dy->at, false), ts = tensor(g, FLOAT, line, stats->at, false),
         tdq = tensor(g, type, qs, dq.at, false), tdk = tensor(g, type, ks, dk.at, false),
         tdv = tensor(g, type, ks, dv.at, false), factor = tensor(g, FLOAT, packed(1, 1, 1, 1), scale, true),
         unit = tensor(g, FLOAT, packed(1, 1, 1, 1), &one, true);
    /* dv: the softmax once more, from its statistics */
    Part mixed = tensor(g, FLOAT, whole, NULL, false), lines = tensor(g, FLOAT, line, NULL, false),
         all = tensor(g, FLOAT, line, dn_room(floats), false), below = tensor(g, FLOAT, square, NULL, false),
         p = tensor(g, FLOAT, square, NULL, false), pt = tensor(g, type, turned_square, NULL, false);
    pointwise(g, CUDNN_POINTWISE_MUL, tdo, to, NULL, mixed, -1);
    reduce(g, CUDNN_REDUCE_TENSOR_ADD, mixed, lines);
    pointwise(g, CUDNN_POINTWISE_MUL, lines, unit, NULL, all, -1);
    Part s = scores(g, o, tq, tk, factor, bias ? bias->at : NULL);
    pointwise(g, CUDNN_POINTWISE_SUB, s, ts, NULL, below, -1);
    if (o->padded) /* rows beyond the end: the statistics took off what the mask had put there */
        below = masked(g, o, below);
    pointwise(g, CUDNN_POINTWISE_EXP, below, NULL, NULL, p, -1);
    reshape(g, p, pt);
    if (grouped) {
        Part wide = tensor(g, type, full, NULL, false);
        product(g, pt, tdo, wide);
        reduce(g, CUDNN_REDUCE_TENSOR_ADD, wide, tdv);
    } else {
        product(g, pt, tdo, tdv);
    }
    /* the gradient of the scores */
    Part dp = tensor(g, FLOAT, square, NULL, false), lower = tensor(g, FLOAT, square, NULL, false),
         ds = tensor(g, FLOAT, square, NULL, false), scaled = tensor(g, FLOAT, square, NULL, false),
         dst = tensor(g, type, turned_square, NULL, false);
    product(g, tdo, tv, dp);
    pointwise(g, CUDNN_POINTWISE_SUB, dp, all, NULL, lower, -1);
    pointwise(g, CUDNN_POINTWISE_MUL, lower, p, NULL, ds, -1);
    pointwise(g, CUDNN_POINTWISE_MUL, ds, factor, NULL, scaled, -1);
    reshape(g, scaled, dst);
    if (grouped) {
        Part wide = tensor(g, type, full, NULL, false);
        product(g, dst, tq, wide);
        reduce(g, CUDNN_REDUCE_TENSOR_ADD, wide, tdk);
    } else {
        product(g, dst, tq, tdk);
    }
    Part straight = tensor(g, FLOAT, ks, NULL, false),
         sum = tensor(g, FLOAT, whole, dn_room(floats * (size_t)o->d), false);
    reshape(g, tk, straight);
    product(g, scaled, straight, sum);
    pointwise(g, CUDNN_POINTWISE_IDENTITY, sum, NULL, NULL, tdq, -1);
    if (!run_graph(g))
        return;
    say_near("dq", o, &dq, host.dq, o->h, o->sq);
    say_near("dk", o, &dk, host.dk, o->hk, o->sk);
    say_near("dv", o, &dv, host.dv, o->hk, o->sk);
}

static void attention(const struct gold_case *self)
{
    const struct attention *o = self->data;
    cudnnHandle_t handle = dn_begin();
    struct shape qs = outer(o, o->h, o->sq), ks = outer(o, o->hk, o->sk);
    struct dn q = given(o->type, qs, 1, host.q), k = given(o->type, ks, 5, host.k), v = given(o->type, ks, 3, host.v),
              dy = given(o->type, qs, 7, host.dy), bias = {0};
    struct dn y = dn_tensor(o->type, 'c', o->b, o->h, o->sq, o->d, -1),
              stats = dn_tensor('S', 'c', o->b, o->h, o->sq, 1, -1);
    if (o->biased)
        bias = given(o->type, packed(1, o->h, o->sq, o->sk), 2, host.bias);
    float scale = 0.03125f;
    loops(o, (double)scale);
    if (!forward(o, handle, &q, &k, &v, o->biased ? &bias : NULL, &y, &stats, &scale))
        return;
    static double is[4096];
    double error = 0;
    say_near("o", o, &y, host.o, o->h, o->sq);
    dn_read(&stats, is);
    for (int i = o->padded ? o->h * o->sq : 0; i < o->b * o->h * o->sq; i++)
        error = fmax(error, fabs(is[i] - host.stats[i]));
    say_if("stats", error < 0.02);
    backward(o, handle, &q, &k, &v, o->biased ? &bias : NULL, &y, &dy, &stats, &scale);
}

#define ATTENTION(title, ...) \
    { \
        .name = "dnn_attention." #title, .run = attention, .data = &(const struct attention) \
        { \
            __VA_ARGS__ \
        } \
    }
static struct gold_case attentions[] = {
    ATTENTION(half, 'H', false, 2, 2, 2, 32, 32, 32, false, false, false),
    ATTENTION(half_heads_last, 'H', true, 2, 2, 2, 32, 32, 32, false, false, false),
    ATTENTION(bf16, 'B', true, 2, 2, 2, 32, 32, 32, false, false, false),
    ATTENTION(causal, 'H', true, 2, 2, 2, 32, 32, 32, true, false, false),
    ATTENTION(causal_bf16, 'B', true, 1, 1, 1, 64, 64, 64, true, false, false),
    ATTENTION(padded, 'H', true, 2, 2, 2, 32, 32, 32, false, true, false),
    ATTENTION(biased, 'H', true, 2, 2, 2, 32, 32, 32, false, false, true),
    ATTENTION(grouped, 'H', true, 1, 4, 2, 32, 32, 32, false, false, false),
    ATTENTION(one_head_of_k, 'B', true, 1, 4, 1, 32, 32, 32, true, false, false),
    ATTENTION(longer_k, 'H', true, 1, 2, 2, 16, 64, 32, false, false, false),
    ATTENTION(odd_lengths, 'H', true, 1, 2, 2, 29, 43, 40, false, false, false),
};

/* ---- plans as text ---- */

/* y = x + x of 16 floats. */
static Part small_plan(struct graph *g, const struct dn *x, const struct dn *y)
{
    struct shape s = packed(1, 1, 4, 4);
    Part a = tensor(g, FLOAT, s, x->at, false), b = tensor(g, FLOAT, s, y->at, false);
    pointwise(g, CUDNN_POINTWISE_ADD, a, a, NULL, b, -1);
    return plan_of(g);
}

CASE(dnn_attention, plan_as_text)
{
    struct graph graph = {.handle = dn_begin()}, *g = &graph;
    struct dn x = dn_tensor('S', 'c', 1, 1, 4, 4, 1), y = dn_tensor('S', 'c', 1, 1, 4, 4, -1);
    static char text[1 << 16];
    int64_t length = 0, taken = 0;
    Part plan = small_plan(g, &x, &y), again = part(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    say_if("plan", plan != NULL);
    if (!plan)
        return;
    dn(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &length,
                                NULL));
    say_if("some", length > 0 && length < (int64_t)sizeof text);
    dn(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, &taken,
                                text));
    say_if("all", taken == length);
    say_if("object", text[0] == '{');
    dn(cudnnBackendSetAttribute(again, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle));
    dn(cudnnBackendSetAttribute(again, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length, text));
    dn(cudnnBackendFinalize(again));
    run_plan(g, again);
    dn_say(&y);
}

static void from_text(const struct gold_case *self)
{
    const char *text = self->data;
    cudnnHandle_t handle = dn_begin();
    Part plan = part(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    dn(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    dn(cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                (int64_t)strlen(text), text));
    dn(cudnnBackendFinalize(plan));
}

#define TEXT(title, text) {.name = "dnn_attention.text_" #title, .run = from_text, .data = text, .alone = true}
static struct gold_case texts[] = {
    TEXT(words, "no plan at all"),
    TEXT(nothing, "{}"),
    TEXT(cut, "{\"engineKnobs\":{\"SPLIT_"),
};

/* A plan's text with the wrong type, and one of a plan that is not final. */
CASE(dnn_attention, text_wrong)
{
    struct graph graph = {.handle = dn_begin()}, *g = &graph;
    struct dn x = dn_tensor('S', 'c', 1, 1, 4, 4, 1), y = dn_tensor('S', 'c', 1, 1, 4, 4, -1);
    int64_t length = 0;
    Part plan = small_plan(g, &x, &y), raw = part(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    say_if("plan", plan != NULL);
    if (!plan)
        return;
    dn(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_INT64, 0, &length,
                                NULL));
    dn(cudnnBackendGetAttribute(raw, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &length, NULL));
}

__attribute__((constructor)) static void add_cases(void)
{
    gold_register_all(attentions, sizeof attentions / sizeof *attentions);
    gold_register_all(texts, sizeof texts / sizeof *texts);
}
