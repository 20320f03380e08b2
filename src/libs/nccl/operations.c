/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: their arguments, and operations of the program's own. */
#include <stdlib.h>
#include <string.h>

#include "libs/nccl/carry.h"
#include "libs/nccl/group.h"
#include "libs/nccl/refuse.h"
#include "nccl_impl.h"

/* ---- operations of the program's own ---- */

ncclResult_t mr_nccl_RedOpCreatePreMulSum(const struct mr_form *form, ncclRedOp_t *op, void *scalar,
                                          ncclDataType_t type, ncclScalarResidence_t residence, ncclComm_t handle)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find(form->name, handle, &comm);
    if (status != ncclSuccess)
        return status;
    if (!op || !scalar || (unsigned)type >= ncclNumTypes || (unsigned)residence > ncclScalarHostImmediate)
        return mr_nccl_bad(form->name, ncclInvalidArgument,
                           "op or scalar is NULL, or NCCL has no such type or residence");
    pthread_mutex_lock(&comm->lock);
    unsigned i = 0;
    while (i < comm->op_count && comm->ops[i].live)
        i++;
    struct mr_own_op *ops = i < comm->op_count ? comm->ops : realloc(comm->ops, (i + 1) * sizeof *ops);
    if (ops) {
        comm->ops = ops;
        comm->op_count = i < comm->op_count ? comm->op_count : i + 1;
        ops[i] = (struct mr_own_op){.live = true, .type = type, .at = residence == ncclScalarDevice ? scalar : NULL};
        if (residence == ncclScalarHostImmediate)
            memcpy(ops[i].value, scalar, mr_nccl_size(type));
    }
    pthread_mutex_unlock(&comm->lock);
    if (!ops)
        return mr_nccl_bad(form->name, ncclSystemError, "memory is short");
    *op = (ncclRedOp_t)(ncclNumOps + (int)i);
    return ncclSuccess;
}

ncclResult_t mr_nccl_RedOpDestroy(const struct mr_form *form, ncclRedOp_t op, ncclComm_t handle)
{
    struct mr_comm *comm;
    if ((int)op >= 0 && op < ncclNumOps)
        return mr_nccl_bad(form->name, ncclInvalidArgument, "operation %d is NCCL's own", (int)op);
    ncclResult_t status = mr_comm_find_any(form->name, handle, &comm);
    if (status != ncclSuccess)
        return status;
    unsigned i = (unsigned)op - ncclNumOps;
    pthread_mutex_lock(&comm->lock);
    bool live = i < comm->op_count && comm->ops[i].live;
    if (live)
        comm->ops[i].live = false;
    pthread_mutex_unlock(&comm->lock);
    return live ? ncclSuccess : mr_nccl_bad(form->name, ncclInvalidArgument, "there is no operation %d", (int)op);
}

/* The posting's operation: one of NCCL's, or one of the communicator's. */
static bool read_op(struct mr_comm *comm, ncclRedOp_t op, struct mr_posting *posting)
{
    if ((int)op >= 0 && op < ncclNumOps) {
        posting->op = (uint8_t)op;
        return true;
    }
    unsigned i = (unsigned)op - ncclNumOps;
    pthread_mutex_lock(&comm->lock);
    bool live = i < comm->op_count && comm->ops[i].live && (unsigned)comm->ops[i].type == posting->type;
    if (live) {
        posting->op = MR_OP_PREMUL;
        posting->scalar_at = (uintptr_t)comm->ops[i].at;
        memcpy(posting->scalar, comm->ops[i].value, sizeof posting->scalar);
    }
    pthread_mutex_unlock(&comm->lock);
    return live;
}

/* ---- calls ---- */

struct asked {
    enum mr_way way;
    const void *send;
    void *recv;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int64_t peer; /* or the root */
    ncclComm_t comm;
    cudaStream_t stream;
};

static ncclResult_t check(const char *function, const struct asked *asked, struct mr_call *call)
{
    struct mr_comm *comm;
    ncclResult_t status = mr_comm_find(function, asked->comm, &comm);
    if (status != ncclSuccess)
        return status;
    if (comm->finalized)
        return mr_nccl_bad(function, ncclInvalidUsage, "the communicator was finalized");
    if (asked->peer < 0 || asked->peer >= comm->ranks)
        return mr_nccl_bad(function, ncclInvalidArgument, "there is no rank %lld", (long long)asked->peer);
    if ((unsigned)asked->type >= ncclNumTypes)
        return mr_nccl_bad(function, ncclInvalidArgument, "there is no type %d", (int)asked->type);
    if (asked->count > (UINT64_C(1) << 52) / (unsigned)comm->ranks)
        return mr_nccl_bad(function, ncclInvalidArgument, "count is too large");
    call->function = function;
    call->comm = comm;
    call->stream = asked->stream;
    call->posting = (struct mr_posting){.way = (uint8_t)asked->way,
                                        .type = (uint8_t)asked->type,
                                        .peer = (int32_t)asked->peer,
                                        .count = asked->count,
                                        .send = (uintptr_t)asked->send,
                                        .recv = (uintptr_t)asked->recv};
    if (!read_op(comm, asked->op, &call->posting))
        return mr_nccl_bad(function, ncclInvalidArgument, "there is no operation %d of this type", (int)asked->op);
    bool sends = mr_nccl_send_bytes(&call->posting, comm->rank, comm->ranks) > 0;
    bool receives = mr_nccl_recv_bytes(&call->posting, comm->rank, comm->ranks) > 0;
    if ((sends && !asked->send) || (receives && !asked->recv))
        return mr_nccl_bad(function, ncclInvalidArgument, "a buffer is NULL");
    return ncclSuccess;
}

static ncclResult_t ask(const struct mr_form *form, struct asked asked)
{
    struct mr_call call;
    ncclResult_t status = check(form->name, &asked, &call);
    if (status != ncclSuccess)
        return mr_group_error(status);
    if (asked.count == 0 && asked.way < MR_WAY_SEND)
        return ncclSuccess;
    return mr_group_call(&call);
}

ncclResult_t mr_nccl_AllReduce(const struct mr_form *form, const void *send, void *recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_ALL_REDUCE, send, recv, count, type, op, 0, comm, stream});
}

ncclResult_t mr_nccl_Reduce(const struct mr_form *form, const void *send, void *recv, size_t count, ncclDataType_t type,
                            ncclRedOp_t op, int64_t root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_REDUCE, send, recv, count, type, op, root, comm, stream});
}

ncclResult_t mr_nccl_ReduceScatter(const struct mr_form *form, const void *send, void *recv, size_t count,
                                   ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_REDUCE_SCATTER, send, recv, count, type, op, 0, comm, stream});
}

ncclResult_t mr_nccl_Broadcast(const struct mr_form *form, const void *send, void *recv, size_t count,
                               ncclDataType_t type, int64_t root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_BROADCAST, send, recv, count, type, ncclSum, root, comm, stream});
}

ncclResult_t mr_nccl_Bcast(const struct mr_form *form, void *at, size_t count, ncclDataType_t type, int64_t root,
                           ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_BROADCAST, at, at, count, type, ncclSum, root, comm, stream});
}

ncclResult_t mr_nccl_AllGather(const struct mr_form *form, const void *send, void *recv, size_t count,
                               ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_ALL_GATHER, send, recv, count, type, ncclSum, 0, comm, stream});
}

ncclResult_t mr_nccl_AlltoAll(const struct mr_form *form, const void *send, void *recv, size_t count,
                              ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_ALL_TO_ALL, send, recv, count, type, ncclSum, 0, comm, stream});
}

ncclResult_t mr_nccl_Gather(const struct mr_form *form, const void *send, void *recv, size_t count, ncclDataType_t type,
                            int64_t root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_GATHER, send, recv, count, type, ncclSum, root, comm, stream});
}

ncclResult_t mr_nccl_Scatter(const struct mr_form *form, const void *send, void *recv, size_t count,
                             ncclDataType_t type, int64_t root, ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_SCATTER, send, recv, count, type, ncclSum, root, comm, stream});
}

ncclResult_t mr_nccl_Send(const struct mr_form *form, const void *send, size_t count, ncclDataType_t type, int64_t peer,
                          ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_SEND, send, NULL, count, type, ncclSum, peer, comm, stream});
}

ncclResult_t mr_nccl_Recv(const struct mr_form *form, void *recv, size_t count, ncclDataType_t type, int64_t peer,
                          ncclComm_t comm, cudaStream_t stream)
{
    return ask(form, (struct asked){MR_WAY_RECV, NULL, recv, count, type, ncclSum, peer, comm, stream});
}
