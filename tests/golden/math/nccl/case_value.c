/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's results: every operation, type and collective, on one rank and on two. All numbers are whole and small, so
 * that results are exact in every type and order. */
#include "nc.h"

#include <stdio.h>
#include <stdlib.h>

#define TYPES 12
#define COUNT 4

static const char *const type_names[TYPES] = {"int8",    "uint8",   "int32",   "uint32",   "int64", "uint64",
                                              "float16", "float32", "float64", "bfloat16", "e4m3",  "e5m2"};
static const char *const op_names[] = {"sum", "prod", "max", "min", "avg", "premul"};

enum way { ALL_REDUCE, REDUCE, REDUCE_SCATTER, BROADCAST, BCAST, ALL_GATHER, ALL_TO_ALL, GATHER, SCATTER, SEND, WAYS };
static const char *const way_names[WAYS] = {"all_reduce", "reduce",     "reduce_scatter", "broadcast", "bcast",
                                            "all_gather", "all_to_all", "gather",         "scatter",   "send"};

struct row {
    enum way way;
    ncclDataType_t type;
    int op, ranks;
    bool in_place;
};

static ncclRedOp_t own_op(const struct row *row, ncclComm_t comm)
{
    ncclRedOp_t op = ncclSum;
    union {
        int8_t i8;
        int32_t i32;
        int64_t i64;
        uint16_t u16;
        float f32;
        double f64;
    } two = {0};
    switch ((int)row->type) {
    case ncclInt8:
    case ncclUint8:
        two.i8 = 2;
        break;
    case ncclInt32:
    case ncclUint32:
        two.i32 = 2;
        break;
    case ncclInt64:
    case ncclUint64:
        two.i64 = 2;
        break;
    case ncclFloat16:
        two.u16 = 0x4000;
        break;
    case ncclBfloat16:
        two.u16 = 0x4000;
        break;
    case ncclFloat8e4m3:
        two.i8 = 0x40;
        break;
    case ncclFloat8e5m2:
        two.i8 = 0x40;
        break;
    case ncclFloat32:
        two.f32 = 2;
        break;
    default:
        two.f64 = 2;
        break;
    }
    NC_NEED(ncclRedOpCreatePreMulSum(&op, &two, row->type, ncclScalarHostImmediate, comm));
    return op;
}

static ncclResult_t go(const struct row *row, const void *from, void *to, ncclRedOp_t op, int rank, ncclComm_t comm,
                       cudaStream_t stream)
{
    int root = row->ranks - 1;
    switch (row->way) {
    case ALL_REDUCE:
        return ncclAllReduce(from, to, COUNT, row->type, op, comm, stream);
    case REDUCE:
        return ncclReduce(from, to, COUNT, row->type, op, root, comm, stream);
    case REDUCE_SCATTER:
        return ncclReduceScatter(from, to, COUNT / 2, row->type, op, comm, stream);
    case BROADCAST:
        return ncclBroadcast(from, to, COUNT, row->type, root, comm, stream);
    case BCAST:
        return ncclBcast(to, COUNT, row->type, root, comm, stream);
    case ALL_GATHER:
        return ncclAllGather(from, to, COUNT / 2, row->type, comm, stream);
    case ALL_TO_ALL:
        return ncclAlltoAll(from, to, COUNT / 2, row->type, comm, stream);
    case GATHER:
        return ncclGather(from, to, COUNT / 2, row->type, root, comm, stream);
    case SCATTER:
        return ncclScatter(from, to, COUNT / 2, row->type, root, comm, stream);
    default:
        break;
    }
    ncclResult_t status = ncclSend(from, COUNT, row->type, (rank + 1) % row->ranks, comm, stream);
    ncclResult_t second = ncclRecv(to, COUNT, row->type, (rank + row->ranks - 1) % row->ranks, comm, stream);
    return status ? status : second;
}

static void run(const struct gold_case *self)
{
    const struct row *row = self->data;
    struct nc_pair one = {.comm = {NULL}}, *at = &one;
    void *from[2], *to[2];
    ncclRedOp_t op[2] = {(ncclRedOp_t)row->op, (ncclRedOp_t)row->op};
    if (row->ranks == 1)
        one.comm[0] = nc_alone();
    else
        at = nc_pair();
    for (int i = 0; i < row->ranks; i++) {
        RT_NEED(cudaSetDevice(i));
        from[i] = nc_fill(row->type, COUNT, 1 + 2 * i, 1);
        to[i] = row->in_place ? from[i] : nc_fill(row->type, COUNT, 9, 0);
        if (row->op == 5)
            op[i] = own_op(row, at->comm[i]);
    }
    NC_NEED(ncclGroupStart());
    for (int i = 0; i < row->ranks; i++)
        nc(go(row, from[i], to[i], op[i], i, at->comm[i], at->stream[i]));
    nc(ncclGroupEnd());
    for (int i = 0; i < row->ranks; i++) {
        RT_NEED(cudaSetDevice(i));
        nc_say(row->type, to[i], COUNT);
        if (row->op == 5)
            NC_NEED(ncclRedOpDestroy(op[i], at->comm[i]));
    }
    RT_NEED(cudaSetDevice(0));
}

static void add(struct row row)
{
    struct gold_case *test = calloc(1, sizeof *test);
    struct row *copy = malloc(sizeof *copy);
    char *name = malloc(80);
    if (!test || !copy || !name)
        abort();
    *copy = row;
    snprintf(name, 80, "nc_value%d.%s_%s%s%s%s", row.ranks, way_names[row.way], type_names[row.type],
             row.way <= REDUCE_SCATTER ? "_" : "", row.way <= REDUCE_SCATTER ? op_names[row.op] : "",
             row.in_place ? "_in_place" : "");
    *test = (struct gold_case){.name = name, .run = run, .data = copy, .devices = row.ranks == 2 ? 2 : 0};
    gold_register(test);
}

__attribute__((constructor)) static void add_all(void)
{
    for (int ranks = 1; ranks <= 2; ranks++) {
        for (int type = 0; type < TYPES; type++)
            for (int op = 0; op < 6; op++)
                add((struct row){ALL_REDUCE, (ncclDataType_t)type, op, ranks, false});
        for (int way = REDUCE; way < WAYS; way++) {
            add((struct row){(enum way)way, ncclFloat32, 0, ranks, false});
            add((struct row){(enum way)way, ncclFloat16, 4, ranks, false});
        }
        add((struct row){ALL_REDUCE, ncclFloat32, 0, ranks, true});
        add((struct row){BROADCAST, ncclInt8, 0, ranks, true});
    }
}
