/* SPDX-License-Identifier: Apache-2.0 */
/* What NCCL answers to good and bad arguments, on one rank. */
#include "nc.h"

#include <limits.h>
#include <string.h>

/* What a refused call must not touch. */
#define UNTOUCHED ((ncclComm_t)(uintptr_t)0x1234)

static void say_comm(ncclComm_t comm)
{
    say_text(comm == UNTOUCHED ? "untouched" : comm ? "made" : "null");
}

CASE(nc_status, version)
{
    int version = -1;
    nc(ncclGetVersion(&version));
    say_if("2.x", version / 10000 == 2);
    nc(ncclGetVersion(NULL));
}

CASE(nc_status, unique_id)
{
    ncclUniqueId a, b;
    nc(ncclGetUniqueId(&a));
    nc(ncclGetUniqueId(&b));
    say_if("equal", memcmp(&a, &b, sizeof a) == 0);
    nc(ncclGetUniqueId(NULL));
}

CASE(nc_status, error_strings)
{
    for (int i = -1; i <= 9; i++)
        say_if("text", ncclGetErrorString((ncclResult_t)i) != NULL);
}

CASE(nc_status, last_error)
{
    const char *none = ncclGetLastError(NULL), *some = ncclGetLastError(nc_alone());
    say_if("none", none != NULL);
    say_if("some", some != NULL);
}

/* ---- making and ending communicators ---- */

CASE(nc_status, init_all_none, NC_CRASHES("InvalidArgument untouched"))
{
    ncclComm_t comm = UNTOUCHED;
    nc(ncclCommInitAll(&comm, 0, NULL));
    say_comm(comm);
}

CASE(nc_status, init_all_negative, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    nc(ncclCommInitAll(&comm, -1, NULL));
    say_comm(comm);
}

CASE(nc_status, init_all_null, .alone = true)
{
    nc(ncclCommInitAll(NULL, 1, NULL));
}

CASE(nc_status, init_all_too_many, .alone = true)
{
    ncclComm_t comm[100];
    for (int i = 0; i < 100; i++)
        comm[i] = UNTOUCHED;
    nc(ncclCommInitAll(comm, 100, NULL));
    say_comm(comm[0]);
}

CASE(nc_status, init_all_bad_device, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    int device = 99;
    nc(ncclCommInitAll(&comm, 1, &device));
    say_comm(comm);
}

CASE(nc_status, init_all_negative_device, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    int device = -1;
    nc(ncclCommInitAll(&comm, 1, &device));
    say_comm(comm);
}

CASE(nc_status, init_all_twice_same_device, .alone = true)
{
    ncclComm_t comm[2] = {UNTOUCHED, UNTOUCHED};
    int devices[2] = {0, 0};
    nc(ncclCommInitAll(comm, 2, devices));
    say_comm(comm[0]);
    say_comm(comm[1]);
}

CASE(nc_status, init_all_keeps_device, .alone = true)
{
    ncclComm_t comm = NULL;
    int device = -1;
    nc(ncclCommInitAll(&comm, 1, NULL));
    rt(cudaGetDevice(&device));
    say_int(device);
    nc(ncclCommDestroy(comm));
}

static ncclUniqueId fresh(void)
{
    ncclUniqueId id;
    NC_NEED(ncclGetUniqueId(&id));
    return id;
}

#define INIT_RANK(title, place, ranks, rank) \
    CASE(nc_status, init_rank_##title, .alone = true) \
    { \
        ncclComm_t comm = UNTOUCHED; \
        (void)comm; \
        nc(ncclCommInitRank(place, ranks, fresh(), rank)); \
        say_comm(comm); \
    }
INIT_RANK(one, &comm, 1, 0)
INIT_RANK(null, NULL, 1, 0)
INIT_RANK(none, &comm, 0, 0)
INIT_RANK(negative, &comm, -1, 0)
INIT_RANK(rank_high, &comm, 1, 1)
INIT_RANK(rank_negative, &comm, 1, -1)

CASE(nc_status, init_rank_zero_id, .alone = true, .allow = "*",
     .why = "hardware takes the bytes for an address and tries for long")
{
    ncclComm_t comm = UNTOUCHED;
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    nc(ncclCommInitRank(&comm, 1, id, 0));
    say_comm(comm);
}

CASE(nc_status, init_rank_group, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    ncclUniqueId id = fresh();
    nc(ncclGroupStart());
    nc(ncclCommInitRank(&comm, 1, id, 0));
    say_comm(comm == UNTOUCHED ? UNTOUCHED : NULL);
    nc(ncclGroupEnd());
    say_comm(comm);
    nc(ncclCommDestroy(comm));
}

CASE(nc_status, init_rank_group_bad, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    ncclUniqueId id = fresh();
    nc(ncclGroupStart());
    nc(ncclCommInitRank(&comm, 1, id, 1));
    nc(ncclGroupEnd());
    nc(ncclGroupEnd());
}

#define CONFIG(title, change) \
    CASE(nc_status, config_##title, .alone = true) \
    { \
        ncclComm_t comm = UNTOUCHED; \
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER; \
        change; \
        nc(ncclCommInitRankConfig(&comm, 1, fresh(), 0, &config)); \
        say_comm(comm); \
    }
CONFIG(plain, (void)0)
CONFIG(zeroed, memset(&config, 0, sizeof config))
CONFIG(magic, config.magic = 1)
CONFIG(size_small, config.size = 8)
CONFIG(size_large, config.size = sizeof config + 64)
CONFIG(version_old, config.version = NCCL_VERSION(2, 14, 0))
CONFIG(version_young, config.version = NCCL_VERSION(2, 99, 0))
CONFIG(version_zero, config.version = 0)
CONFIG(blocking_1, config.blocking = 1)
CONFIG(blocking_2, config.blocking = 2)
CONFIG(blocking_negative, config.blocking = -1)
CONFIG(cga_8, config.cgaClusterSize = 8)
CONFIG(cga_9, config.cgaClusterSize = 9)
CONFIG(cga_negative, config.cgaClusterSize = -1)
CONFIG(min_ctas_0, config.minCTAs = 0)
CONFIG(min_ctas_8, config.minCTAs = 8)
CONFIG(min_ctas_1000, config.minCTAs = 1000)
CONFIG(max_ctas_0, config.maxCTAs = 0)
CONFIG(min_over_max, config.minCTAs = 8; config.maxCTAs = 4)
CONFIG(net_name, config.netName = "nosuchnetwork")
CONFIG(split_share_2, config.splitShare = 2)
CONFIG(shrink_share_2, config.shrinkShare = 2)
CONFIG(collnet_2, config.collnetEnable = 2)
CONFIG(policy_9, config.CTAPolicy = 9)
CONFIG(nvls_ctas_0, config.nvlsCTAs = 0)
CONFIG(channels_0, config.nChannelsPerNetPeer = 0)
CONFIG(central_2, config.nvlinkCentricSched = 2)
CONFIG(traffic_negative, config.trafficClass = -2)
CONFIG(name, config.commName = "name")

CASE(nc_status, config_null, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    nc(ncclCommInitRankConfig(&comm, 1, fresh(), 0, NULL));
    say_comm(comm);
}

CASE(nc_status, init_scalable, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    ncclUniqueId id = fresh();
    nc(ncclCommInitRankScalable(&comm, 1, 0, 1, &id, NULL));
    say_comm(comm);
}

CASE(nc_status, init_scalable_no_id, NC_CRASHES("InvalidArgument untouched"))
{
    ncclComm_t comm = UNTOUCHED;
    nc(ncclCommInitRankScalable(&comm, 1, 0, 0, NULL, NULL));
    say_comm(comm);
}

CASE(nc_status, init_scalable_many_ids, NC_CRASHES("InvalidArgument untouched"))
{
    ncclComm_t comm = UNTOUCHED;
    ncclUniqueId ids[2] = {fresh(), fresh()};
    nc(ncclCommInitRankScalable(&comm, 1, 0, 2, ids, NULL));
    say_comm(comm);
}

CASE(nc_status, not_blocking, .alone = true)
{
    ncclComm_t comm = UNTOUCHED;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t state = ncclCommInitRankConfig(&comm, 1, fresh(), 0, &config);
    say_if("begun", state == ncclSuccess || state == ncclInProgress);
    say_comm(comm);
    for (int i = 0; i < 15000 && (state = ncclInProgress, ncclCommGetAsyncError(comm, &state)) == ncclSuccess; i++) {
        if (state != ncclInProgress)
            break;
        gold_sleep_ms(1);
    }
    nc(state);
    int count = -1;
    nc(ncclCommCount(comm, &count));
    say_int(count);
    float *at = nc_fill(ncclFloat32, 1, 7, 0);
    state = ncclAllReduce(at, at, 1, ncclFloat32, ncclSum, comm, NULL);
    say_if("begun", state == ncclSuccess || state == ncclInProgress);
    while ((state = ncclInProgress, ncclCommGetAsyncError(comm, &state)) == ncclSuccess && state == ncclInProgress)
        gold_sleep_ms(1);
    nc_say(ncclFloat32, at, 1);
    state = ncclCommFinalize(comm);
    say_if("finalizing", state == ncclSuccess || state == ncclInProgress);
    while ((state = ncclInProgress, ncclCommGetAsyncError(comm, &state)) == ncclSuccess && state == ncclInProgress)
        gold_sleep_ms(1);
    nc(state);
    nc(ncclCommDestroy(comm));
}

CASE(nc_status, destroy_null, .alone = true)
{
    nc(ncclCommDestroy(NULL));
    nc(ncclCommAbort(NULL));
    nc(ncclCommFinalize(NULL));
}

CASE(nc_status, revoke_null, NC_CRASHES("InvalidArgument"))
{
    nc(ncclCommRevoke(NULL, 0));
}

CASE(nc_status, finalize_destroy, .alone = true)
{
    ncclComm_t comm = nc_alone();
    nc(ncclCommFinalize(comm));
    nc(ncclCommDestroy(comm));
}

CASE(nc_status, finalize_twice, .alone = true)
{
    ncclComm_t comm = nc_alone();
    nc(ncclCommFinalize(comm));
    nc(ncclCommFinalize(comm));
    nc(ncclCommDestroy(comm));
}

CASE(nc_status, use_after_finalize, .alone = true)
{
    ncclComm_t comm = nc_alone();
    float *at = nc_fill(ncclFloat32, 1, 7, 0);
    nc(ncclCommFinalize(comm));
    nc(ncclAllReduce(at, at, 1, ncclFloat32, ncclSum, comm, NULL));
    int count = -1;
    nc(ncclCommCount(comm, &count));
}

CASE(nc_status, destroy, .alone = true)
{
    nc(ncclCommDestroy(nc_alone()));
}

CASE(nc_status, abort, .alone = true)
{
    nc(ncclCommAbort(nc_alone()));
}

CASE(nc_status, revoke, NC_CRASHES("Success Success InvalidUsage InvalidUsage InvalidUsage InvalidUsage Success"))
{
    ncclComm_t comm = nc_alone();
    ncclResult_t state = ncclNumResults;
    float *at = nc_fill(ncclFloat32, 1, 7, 0);
    nc(ncclCommRevoke(comm, 0));
    nc(ncclCommGetAsyncError(comm, &state));
    nc(state);
    nc(ncclAllReduce(at, at, 1, ncclFloat32, ncclSum, comm, NULL));
    nc(ncclCommRevoke(comm, 0));
    nc(ncclCommFinalize(comm));
    nc(ncclCommDestroy(comm));
}

CASE(nc_status, revoke_flags, NC_CRASHES("InvalidArgument"))
{
    nc(ncclCommRevoke(nc_alone(), 1));
}

CASE(nc_status, destroy_no_comm, .alone = true, .allow = "InvalidArgument", .why = "hardware may crash")
{
    nc(ncclCommDestroy((ncclComm_t)gold_foreign()));
}

CASE(nc_status, count_no_comm, .alone = true, .allow = "InvalidArgument", .why = "hardware may crash")
{
    int count = -1;
    nc(ncclCommCount((ncclComm_t)gold_foreign(), &count));
}

/* ---- questions ---- */

CASE(nc_status, count)
{
    int value = -1;
    nc(ncclCommCount(nc_alone(), &value));
    say_int(value);
    nc(ncclCommCount(NULL, &value));
    nc(ncclCommCount(nc_alone(), NULL));
}

CASE(nc_status, rank)
{
    int value = -1;
    nc(ncclCommUserRank(nc_alone(), &value));
    say_int(value);
    nc(ncclCommUserRank(NULL, &value));
    nc(ncclCommUserRank(nc_alone(), NULL));
}

CASE(nc_status, device)
{
    int value = -1;
    nc(ncclCommCuDevice(nc_alone(), &value));
    say_int(value);
    nc(ncclCommCuDevice(NULL, &value));
    nc(ncclCommCuDevice(nc_alone(), NULL));
}

CASE(nc_status, async_error)
{
    ncclResult_t value = ncclNumResults;
    nc(ncclCommGetAsyncError(nc_alone(), &value));
    nc(value);
    nc(ncclCommGetAsyncError(NULL, &value));
    nc(ncclCommGetAsyncError(nc_alone(), NULL));
}

/* ---- splitting and shrinking ---- */

CASE(nc_status, split, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    int value = -1;
    nc(ncclCommSplit(nc_alone(), 3, 5, &made, NULL));
    say_comm(made);
    nc(ncclCommCount(made, &value));
    say_int(value);
    nc(ncclCommDestroy(made));
}

CASE(nc_status, split_no_colour, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    nc(ncclCommSplit(nc_alone(), NCCL_SPLIT_NOCOLOR, 0, &made, NULL));
    say_comm(made);
}

CASE(nc_status, split_negative, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    nc(ncclCommSplit(nc_alone(), -2, 0, &made, NULL));
    say_comm(made);
}

CASE(nc_status, split_null, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    nc(ncclCommSplit(NULL, 0, 0, &made, NULL));
    say_comm(made);
    nc(ncclCommSplit(nc_alone(), 0, 0, NULL, NULL));
}

CASE(nc_status, split_config_zeroed, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    ncclConfig_t config;
    memset(&config, 0, sizeof config);
    nc(ncclCommSplit(nc_alone(), 0, 0, &made, &config));
    say_comm(made);
}

CASE(nc_status, split_after_parent, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    float *at = nc_fill(ncclFloat32, 2, 7, 1);
    nc(ncclCommSplit(nc_alone(), 0, 0, &made, NULL));
    nc(ncclCommDestroy(nc_alone()));
    nc(ncclAllReduce(at, at, 2, ncclFloat32, ncclSum, made, NULL));
    nc_say(ncclFloat32, at, 2);
    nc(ncclCommDestroy(made));
}

CASE(nc_status, shrink_none, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    int none = 0;
    nc(ncclCommShrink(nc_alone(), &none, 0, &made, NULL, NCCL_SHRINK_DEFAULT));
    say_comm(made);
}

CASE(nc_status, shrink_self, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    int own = 0;
    nc(ncclCommShrink(nc_alone(), &own, 1, &made, NULL, NCCL_SHRINK_DEFAULT));
    say_comm(made);
}

CASE(nc_status, shrink_bad_rank, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    int rank = 7;
    nc(ncclCommShrink(nc_alone(), &rank, 1, &made, NULL, NCCL_SHRINK_DEFAULT));
    say_comm(made);
}

CASE(nc_status, shrink_null, .alone = true)
{
    ncclComm_t made = UNTOUCHED;
    nc(ncclCommShrink(nc_alone(), NULL, 1, &made, NULL, NCCL_SHRINK_DEFAULT));
    say_comm(made);
}

/* ---- groups ---- */

CASE(nc_status, group_empty)
{
    nc(ncclGroupStart());
    nc(ncclGroupEnd());
}

CASE(nc_status, group_end_alone)
{
    nc(ncclGroupEnd());
    nc(ncclGroupStart());
    nc(ncclGroupEnd());
}

CASE(nc_status, group_nested)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    float *at = nc_fill(ncclFloat32, 1, 7, 0);
    nc(ncclGroupStart());
    nc(ncclGroupStart());
    nc(ncclAllReduce(at, at, 1, ncclFloat32, ncclSum, comm, NULL));
    nc(ncclGroupEnd());
    nc(ncclGroupEnd());
    nc(ncclGroupEnd());
}

CASE(nc_status, group_with_error)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    float *at = nc_fill(ncclFloat32, 1, 7, 0), *to = nc_fill(ncclFloat32, 1, 1, 0);
    nc(ncclGroupStart());
    nc(ncclAllReduce(at, to, 1, ncclFloat32, ncclSum, comm, NULL));
    nc(ncclAllReduce(at, to, 1, (ncclDataType_t)99, ncclSum, comm, NULL));
    nc(ncclGroupEnd());
    nc_say(ncclFloat32, to, 1);
    nc(ncclAllReduce(at, to, 1, ncclFloat32, ncclSum, comm, NULL));
    nc_say(ncclFloat32, to, 1);
}

CASE(nc_status, group_error_nested)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    float *at = nc_fill(ncclFloat32, 1, 7, 0);
    nc(ncclGroupStart());
    nc(ncclGroupStart());
    nc(ncclAllReduce(at, at, 1, ncclFloat32, (ncclRedOp_t)99, comm, NULL));
    nc(ncclGroupEnd());
    nc(ncclGroupEnd());
    nc(ncclGroupStart());
    nc(ncclGroupEnd());
}

CASE(nc_status, group_simulate)
{
    ncclComm_t comm = nc_alone(); /* not within the group */
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    float *at = nc_fill(ncclFloat32, 1, 7, 0), *to = nc_fill(ncclFloat32, 1, 1, 0);
    nc(ncclGroupStart());
    nc(ncclAllReduce(at, to, 1, ncclFloat32, ncclSum, comm, NULL));
    nc(ncclGroupSimulateEnd(&info));
    nc_say(ncclFloat32, to, 1);
    nc(ncclGroupEnd());
}

CASE(nc_status, group_simulate_bad, .alone = true)
{
    ncclSimInfo_t info;
    memset(&info, 0, sizeof info);
    nc(ncclGroupStart());
    nc(ncclGroupSimulateEnd(&info));
    nc(ncclGroupStart());
    nc(ncclGroupSimulateEnd(NULL));
}

CASE(nc_status, group_destroy_inside, .alone = true)
{
    ncclComm_t comm = nc_alone();
    nc(ncclGroupStart());
    nc(ncclCommDestroy(comm));
    nc(ncclGroupEnd());
}

/* ---- arguments of operations ---- */

#define BAD(title, call) \
    CASE(nc_status, bad_##title) \
    { \
        ncclComm_t comm = nc_alone(); \
        float *a = nc_fill(ncclFloat32, 2, 7, 0), *b = nc_fill(ncclFloat32, 2, 1, 0); \
        (void)comm; \
        (void)a; \
        (void)b; \
        nc(call); \
        RT_NEED(cudaDeviceSynchronize()); \
        say_if("written", rt_word(b) != 0x3f800000u); \
    }
#define F ncclFloat32
BAD(all_reduce_null_comm, ncclAllReduce(a, b, 1, F, ncclSum, NULL, NULL))
BAD(all_reduce_null_send, ncclAllReduce(NULL, b, 1, F, ncclSum, comm, NULL))
BAD(all_reduce_null_recv, ncclAllReduce(a, NULL, 1, F, ncclSum, comm, NULL))
BAD(all_reduce_null_both_none, ncclAllReduce(NULL, NULL, 0, F, ncclSum, comm, NULL))
BAD(all_reduce_none, ncclAllReduce(a, b, 0, F, ncclSum, comm, NULL))
BAD(all_reduce_type_12, ncclAllReduce(a, b, 1, (ncclDataType_t)12, ncclSum, comm, NULL))
BAD(all_reduce_type_negative, ncclAllReduce(a, b, 1, (ncclDataType_t)-1, ncclSum, comm, NULL))
BAD(all_reduce_op_5, ncclAllReduce(a, b, 1, F, (ncclRedOp_t)5, comm, NULL))
BAD(all_reduce_op_negative, ncclAllReduce(a, b, 1, F, (ncclRedOp_t)-1, comm, NULL))
BAD(all_reduce_type_and_op, ncclAllReduce(a, b, 1, (ncclDataType_t)12, (ncclRedOp_t)99, NULL, NULL))
BAD(reduce_root_1, ncclReduce(a, b, 1, F, ncclSum, 1, comm, NULL))
BAD(reduce_root_negative, ncclReduce(a, b, 1, F, ncclSum, -1, comm, NULL))
BAD(reduce_null_recv, ncclReduce(a, NULL, 1, F, ncclSum, 0, comm, NULL))
BAD(broadcast_root_1, ncclBroadcast(a, b, 1, F, 1, comm, NULL))
BAD(broadcast_null_send, ncclBroadcast(NULL, b, 1, F, 0, comm, NULL))
BAD(broadcast_null_recv, ncclBroadcast(a, NULL, 1, F, 0, comm, NULL))
BAD(broadcast_type, ncclBroadcast(a, b, 1, (ncclDataType_t)12, 0, comm, NULL))
BAD(bcast_null, ncclBcast(NULL, 1, F, 0, comm, NULL))
BAD(bcast_root_1, ncclBcast(b, 1, F, 1, comm, NULL))
BAD(all_gather_null_send, ncclAllGather(NULL, b, 1, F, comm, NULL))
BAD(all_gather_null_recv, ncclAllGather(a, NULL, 1, F, comm, NULL))
BAD(all_gather_type, ncclAllGather(a, b, 1, (ncclDataType_t)12, comm, NULL))
BAD(reduce_scatter_null_recv, ncclReduceScatter(a, NULL, 1, F, ncclSum, comm, NULL))
BAD(reduce_scatter_op, ncclReduceScatter(a, b, 1, F, (ncclRedOp_t)7, comm, NULL))
BAD(all_to_all_null_send, ncclAlltoAll(NULL, b, 1, F, comm, NULL))
BAD(all_to_all_null_recv, ncclAlltoAll(a, NULL, 1, F, comm, NULL))
BAD(all_to_all_type, ncclAlltoAll(a, b, 1, (ncclDataType_t)12, comm, NULL))
BAD(all_to_all_in_place, ncclAlltoAll(b, b, 1, F, comm, NULL))
BAD(gather_root_1, ncclGather(a, b, 1, F, 1, comm, NULL))
BAD(gather_null_recv, ncclGather(a, NULL, 1, F, 0, comm, NULL))
BAD(scatter_root_1, ncclScatter(a, b, 1, F, 1, comm, NULL))
BAD(scatter_null_send, ncclScatter(NULL, b, 1, F, 0, comm, NULL))
BAD(send_peer_1, ncclSend(a, 1, F, 1, comm, NULL))
BAD(send_peer_negative, ncclSend(a, 1, F, -1, comm, NULL))
BAD(send_type, ncclSend(a, 1, (ncclDataType_t)12, 0, comm, NULL))
BAD(send_null_comm, ncclSend(a, 1, F, 0, NULL, NULL))
BAD(recv_peer_1, ncclRecv(b, 1, F, 1, comm, NULL))
BAD(recv_peer_negative, ncclRecv(b, 1, F, -1, comm, NULL))
BAD(huge, ncclAllReduce(a, b, (size_t)1 << 62, F, ncclSum, NULL, NULL))

CASE(nc_status, null_recv_of_nothing)
{
    nc(ncclAllGather(NULL, NULL, 0, F, nc_alone(), NULL));
    nc(ncclReduceScatter(NULL, NULL, 0, F, ncclSum, nc_alone(), NULL));
    nc(ncclBroadcast(NULL, NULL, 0, F, 0, nc_alone(), NULL));
    nc(ncclReduce(NULL, NULL, 0, F, ncclSum, 0, nc_alone(), NULL));
}

/* ---- operations of the program's own ---- */

CASE(nc_status, premul)
{
    ncclRedOp_t op = (ncclRedOp_t)-5, second = (ncclRedOp_t)-5;
    float three = 3, *at = nc_fill(F, 2, 7, 1);
    nc(ncclRedOpCreatePreMulSum(&op, &three, F, ncclScalarHostImmediate, nc_alone()));
    nc(ncclRedOpCreatePreMulSum(&second, &three, F, ncclScalarHostImmediate, nc_alone()));
    say_if("above", (int)op >= ncclNumOps);
    say_if("differ", op != second);
    nc(ncclAllReduce(at, at, 2, F, op, nc_alone(), NULL));
    nc_say(F, at, 2);
    nc(ncclAllReduce(at, at, 2, ncclInt32, op, nc_alone(), NULL));
    nc(ncclRedOpDestroy(op, nc_alone()));
    nc(ncclRedOpDestroy(op, nc_alone()));
    nc(ncclAllReduce(at, at, 2, F, op, nc_alone(), NULL));
    nc(ncclRedOpDestroy(second, nc_alone()));
}

CASE(nc_status, premul_device)
{
    ncclRedOp_t op;
    float *scalar = nc_fill(F, 1, 5, 0), *at = nc_fill(F, 2, 7, 1);
    nc(ncclRedOpCreatePreMulSum(&op, scalar, F, ncclScalarDevice, nc_alone()));
    nc(ncclAllReduce(at, at, 2, F, op, nc_alone(), NULL));
    nc_say(F, at, 2);
    nc(ncclRedOpDestroy(op, nc_alone()));
}

CASE(nc_status, premul_bad, NC_CRASHES("InvalidArgument InvalidArgument InvalidArgument"))
{
    ncclRedOp_t op;
    float three = 3;
    nc(ncclRedOpCreatePreMulSum(NULL, &three, F, ncclScalarHostImmediate, nc_alone()));
    nc(ncclRedOpCreatePreMulSum(&op, &three, F, ncclScalarHostImmediate, NULL));
    nc(ncclRedOpCreatePreMulSum(&op, &three, (ncclDataType_t)12, ncclScalarHostImmediate, nc_alone()));
}

CASE(nc_status, premul_null_scalar, NC_CRASHES("InvalidArgument"))
{
    ncclRedOp_t op;
    nc(ncclRedOpCreatePreMulSum(&op, NULL, F, ncclScalarHostImmediate, nc_alone()));
}

CASE(nc_status, premul_destroy_bad, .alone = true)
{
    nc(ncclRedOpDestroy(ncclSum, nc_alone()));
    nc(ncclRedOpDestroy((ncclRedOp_t)5, nc_alone()));
    nc(ncclRedOpDestroy((ncclRedOp_t)99, nc_alone()));
    nc(ncclRedOpDestroy((ncclRedOp_t)-1, nc_alone()));
    nc(ncclRedOpDestroy((ncclRedOp_t)5, NULL));
}

/* ---- memory ---- */

CASE(nc_status, mem_alloc)
{
    void *at = NULL;
    nc(ncclMemAlloc(&at, 1000));
    say_if("memory", at != NULL);
    rt(cudaMemset(at, 0, 1000));
    nc(ncclMemFree(at));
}

CASE(nc_status, mem_alloc_none, .alone = true)
{
    void *at = GOLD_WILD;
    nc(ncclMemAlloc(&at, 0));
    say_text(at == GOLD_WILD ? "untouched" : at ? "memory" : "null");
}

CASE(nc_status, mem_alloc_null, .alone = true)
{
    nc(ncclMemAlloc(NULL, 1000));
}

CASE(nc_status, mem_alloc_huge, .alone = true)
{
    void *at = GOLD_WILD;
    nc(ncclMemAlloc(&at, (size_t)1 << 50));
    say_text(at == GOLD_WILD ? "untouched" : at ? "memory" : "null");
}

CASE(nc_status, mem_free_null, .alone = true)
{
    nc(ncclMemFree(NULL));
}

CASE(nc_status, mem_free_other, .alone = true)
{
    void *at = rt_alloc(1 << 21);
    nc(ncclMemFree(at));
}

CASE(nc_status, mem_free_twice, .alone = true)
{
    void *at = NULL;
    nc(ncclMemAlloc(&at, 1000));
    nc(ncclMemFree(at));
    nc(ncclMemFree(at));
}

CASE(nc_status, register_memory)
{
    void *handle = GOLD_WILD, *at = rt_alloc(1 << 21);
    nc(ncclCommRegister(nc_alone(), at, 1 << 21, &handle));
    nc(ncclCommDeregister(nc_alone(), handle));
}

CASE(nc_status, register_bad, .alone = true)
{
    void *handle = GOLD_WILD, *at = rt_alloc(1 << 21);
    nc(ncclCommRegister(NULL, at, 1 << 21, &handle));
    nc(ncclCommRegister(nc_alone(), NULL, 1 << 21, &handle));
    nc(ncclCommRegister(nc_alone(), at, 0, &handle));
}

CASE(nc_status, register_null_handle, NC_CRASHES("InvalidArgument"))
{
    void *at = rt_alloc(1 << 21);
    nc(ncclCommRegister(nc_alone(), at, 1 << 21, NULL));
}

CASE(nc_status, deregister_null, .alone = true)
{
    nc(ncclCommDeregister(nc_alone(), NULL));
}

CASE(nc_status, deregister_null_comm, .alone = true)
{
    nc(ncclCommDeregister(NULL, NULL));
}

CASE(nc_status, window, .alone = true, .allow = "InvalidUsage untouched InvalidUsage",
     .why = "without windows of symmetric memory")
{
    void *at = NULL;
    ncclWindow_t window = (ncclWindow_t)GOLD_WILD;
    NC_NEED(ncclMemAlloc(&at, 1 << 21));
    nc(ncclCommWindowRegister(nc_alone(), at, 1 << 21, &window, NCCL_WIN_DEFAULT));
    say_text((void *)window == GOLD_WILD ? "untouched" : window ? "made" : "null");
    nc(ncclCommWindowDeregister(nc_alone(), window));
}

CASE(nc_status, window_null, NC_CRASHES("InvalidUsage"))
{
    void *at = NULL;
    NC_NEED(ncclMemAlloc(&at, 1 << 21));
    ncclWindow_t window;
    nc(ncclCommWindowRegister(NULL, at, 1 << 21, &window, NCCL_WIN_DEFAULT));
}
