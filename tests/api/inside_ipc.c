/* SPDX-License-Identifier: Apache-2.0 */
/* Handles between processes when the driver's own memory runs out: each allocation is made to fail in turn, on either
 * side. The call then fails with a documented status, or does without, leaves nothing behind, and works when called
 * again. Also what a fork of the process leaves alone. */
#include "ipc_support.h"

#include "each_failure.h"
#include "event/slot.h"
#include "share/share.h"

#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

struct parcel {
    CUipcEventHandle event;
    CUipcMemHandle memory;
};

/* Exports one event and one piece of memory; records when told to, behind a host function that takes a while. */
static void nap(void *data)
{
    struct timespec time = {0, 3000000};
    (void)data;
    nanosleep(&time, NULL);
}

static void role_export(int socket)
{
    struct parcel parcel;
    CUevent event;
    CUdeviceptr address;
    CUstream stream;
    role_begin();
    ROLE_NEED(cuEventCreate(&event, SHARED) == CUDA_SUCCESS && cuMemAlloc(&address, 10000) == CUDA_SUCCESS);
    ROLE_NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcGetEventHandle(&parcel.event, event) == CUDA_SUCCESS &&
              cuIpcGetMemHandle(&parcel.memory, address) == CUDA_SUCCESS);
    ROLE_NEED(send_bytes(socket, &parcel, sizeof parcel));
    while (take_turn(socket)) {
        ROLE_NEED(cuLaunchHostFunc(stream, nap, NULL) == CUDA_SUCCESS && cuEventRecord(event, stream) == CUDA_SUCCESS);
        ROLE_NEED(give_turn(socket));
    }
}

/* Tells which process it is, as others see it, and waits for its end. */
static void role_identify(int socket)
{
    uint64_t self = mr_process_self();
    ROLE_NEED(self && send_bytes(socket, &self, sizeof self));
    take_turn(socket);
}

/* The same, but then goes on as another program, under the same number. */
static void role_exec(int socket)
{
    uint64_t self = mr_process_self();
    ROLE_NEED(self && send_bytes(socket, &self, sizeof self) && take_turn(socket));
    execlp("sleep", "sleep", "60", (char *)NULL);
}

static const struct role roles[] = {
    {"export", role_export}, {"identify", role_identify}, {"exec", role_exec}, {NULL, NULL}};

static CUresult export_memory(void)
{
    CUdeviceptr address;
    CUipcMemHandle handle;
    CUresult status = cuMemAlloc(&address, 5000000);
    if (status != CUDA_SUCCESS)
        return status;
    status = cuIpcGetMemHandle(&handle, address);
    OK(cuMemFree(address));
    return status;
}

/* An event with something pending when it becomes a shared one, and a recording after that. */
static CUresult export_event(CUstream stream)
{
    CUevent event;
    CUipcEventHandle handle;
    CUresult status = cuEventCreate(&event, SHARED);
    if (status != CUDA_SUCCESS)
        return status;
    status = cuEventRecord(event, stream);
    if (status == CUDA_SUCCESS)
        status = cuIpcGetEventHandle(&handle, event);
    if (status == CUDA_SUCCESS)
        status = cuEventRecord(event, stream);
    if (status == CUDA_SUCCESS)
        FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuEventDestroy(event));
    return status;
}

static CUresult export_event_idle(void)
{
    CUevent event;
    CUipcEventHandle handle;
    OK(cuEventCreate(&event, SHARED));
    OK(cuIpcGetEventHandle(&handle, event));
    return cuEventDestroy(event);
}

static void test_exports(void **state)
{
    struct gate gate;
    CUstream stream;
    (void)state;
    unsigned descriptors = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(export_memory());
    OK(export_event_idle());
    descriptors = count_descriptors();
    EACH_FAILURE(export_memory(), (void)0);
    gate_put(&gate, stream);
    EACH_FAILURE(export_event(stream), (void)0);
    gate_open(&gate);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(count_descriptors(), descriptors);
    OK(cuStreamDestroy(stream));
}

static void test_opens(void **state)
{
    struct parcel parcel;
    CUdeviceptr address;
    CUevent event;
    CUstream stream;
    (void)state;
    struct helper helper = helper_start("export");
    assert_true(receive_bytes(helper.socket, &parcel, sizeof parcel));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EACH_FAILURE_SAYS(cuIpcOpenMemHandle(&address, parcel.memory, LAZY), OK(cuIpcCloseMemHandle(address)),
                      CUDA_ERROR_MAP_FAILED);
    OK(cuIpcCloseMemHandle(address));
    EACH_FAILURE_SAYS(cuIpcOpenEventHandle(&event, parcel.event), OK(cuEventDestroy(event)), CUDA_ERROR_MAP_FAILED);
    OK(cuEventDestroy(event));
    OK(cuIpcOpenEventHandle(&event, parcel.event));
    /* A stream's wait for another process makes a mark, a note and a thread; without memory for these the call waits
     * itself. */
    for (uint64_t n = 0; n < 8; n++) {
        assert_true(give_turn(helper.socket) && take_turn(helper.socket));
        (void)mr_alloc_fail_mine(n);
        CUresult status = cuStreamWaitEvent(stream, event, 0);
        (void)mr_alloc_fail_mine(0);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        OK(cuStreamSynchronize(stream));
        OK(cuEventSynchronize(event));
    }
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    assert_int_equal(helper_end(&helper), 0);
}

/* What the driver has allocated after many rounds is what it had after a few. */
static void test_no_leak(void **state)
{
    struct parcel parcel;
    (void)state;
    uint64_t live = 0;
    struct helper helper = helper_start("export");
    assert_true(receive_bytes(helper.socket, &parcel, sizeof parcel));
    for (int round = 0; round < 300; round++) {
        CUdeviceptr address;
        CUevent event;
        OK(cuIpcOpenMemHandle(&address, parcel.memory, LAZY));
        OK(cuIpcOpenEventHandle(&event, parcel.event));
        OK(cuEventDestroy(event));
        OK(cuIpcCloseMemHandle(address));
        OK(export_memory());
        if (round == 20)
            live = mr_alloc_live();
    }
    assert_in_range(live_once_settled(live + 8), 1, live + 8);
    assert_int_equal(helper_end(&helper), 0);
}

static uint64_t dead_process(void)
{
    uint64_t process;
    struct helper helper = helper_start("identify");
    assert_true(receive_bytes(helper.socket, &process, sizeof process));
    assert_true(mr_process_lives(process));
    kill(helper.pid, SIGKILL);
    for (int i = 0; i < 5000 && mr_process_lives(process); i++)
        usleep(1000);
    assert_false(mr_process_lives(process)); /* though nobody has waited for it yet */
    assert_int_equal(helper_end(&helper), 256 + SIGKILL);
    return process;
}

static void test_who_lives(void **state)
{
    uint64_t process, self = mr_process_self();
    (void)state;
    assert_true(mr_process_lives(self));
    assert_false(mr_process_lives(0));
    assert_false(mr_process_lives(self ^ (UINT64_C(1) << 63)));
    assert_false(mr_process_lives(UINT64_MAX));
    assert_false(mr_process_lives(dead_process()));
    struct helper helper = helper_start("exec");
    assert_true(receive_bytes(helper.socket, &process, sizeof process));
    assert_true(mr_process_lives(process));
    assert_true(give_turn(helper.socket));
    for (int i = 0; i < 5000 && mr_process_lives(process); i++)
        usleep(1000);
    assert_false(mr_process_lives(process));
    assert_int_equal(kill(helper.pid, 0), 0);
    kill(helper.pid, SIGKILL);
    assert_int_equal(helper_end(&helper), 256 + SIGKILL);
}

/* Every state in which a process can leave a slot when it dies is one that others get on from. */
static void test_dead_in_a_slot(void **state)
{
    static struct mr_slot slot;
    static struct mr_arena_head head;
    const void *streams[MR_SLOT_LANES] = {0};
    struct mr_ticket ticket, latest;
    (void)state;
    uint64_t self = mr_process_self(), dead = dead_process();

    /* It held the lock. */
    atomic_store(&slot.lock, dead);
    assert_true(mr_slot_begin(&slot, self, &slot, streams, &ticket));
    assert_int_equal(atomic_load(&slot.lock), 0);
    mr_slot_publish(&slot, ticket);
    assert_false(mr_slot_is_complete(&slot, ticket));
    assert_false(mr_slot_bury(&slot, &head, self, ticket)); /* its owner lives */
    mr_slot_complete(&slot, ticket);
    assert_true(mr_slot_is_complete(&slot, ticket));

    /* It had given out a number, or put itself into a lane, and nothing more. */
    atomic_store(&slot.lock, dead);
    atomic_fetch_add(&slot.next, 1);
    atomic_store(&slot.lanes[3].owner, dead);
    assert_true(mr_slot_begin(&slot, self, NULL, streams, &ticket));
    mr_slot_publish(&slot, ticket);
    mr_slot_complete(&slot, ticket);
    latest = mr_slot_latest(&slot);
    assert_int_equal(latest.number, ticket.number);
    assert_true(mr_slot_is_complete(&slot, latest));

    /* It had begun recordings in all lanes, and published one. */
    atomic_store(&slot.lock, dead);
    for (unsigned i = 0; i < MR_SLOT_LANES; i++) {
        atomic_store(&slot.lanes[i].owner, dead);
        atomic_store(&slot.lanes[i].last, atomic_fetch_add(&slot.next, 1) + 1);
    }
    struct mr_ticket theirs = {atomic_load(&slot.lanes[5].last), 5};
    mr_slot_publish(&slot, theirs);
    assert_false(mr_slot_is_complete(&slot, theirs));
    assert_true(mr_slot_begin(&slot, self, NULL, streams, &ticket));
    mr_slot_publish(&slot, ticket);
    assert_true(mr_slot_bury(&slot, &head, self, theirs));
    assert_true(mr_slot_is_complete(&slot, theirs));
    assert_false(mr_slot_is_complete(&slot, ticket));
    mr_slot_complete(&slot, ticket);
    assert_int_equal(atomic_load(&slot.lost), 0); /* the latest isn't lost */

    /* Its recording is the latest. */
    atomic_store(&slot.lanes[7].owner, dead);
    atomic_store(&slot.lanes[7].last, atomic_fetch_add(&slot.next, 1) + 1);
    theirs = (struct mr_ticket){atomic_load(&slot.lanes[7].last), 7};
    mr_slot_publish(&slot, theirs);
    assert_true(mr_slot_bury(&slot, &head, self, theirs));
    assert_false(mr_slot_bury(&slot, &head, self, theirs));
    assert_int_equal(atomic_load(&slot.lost), theirs.number);
}

/* Whatever another process writes there, numbers are all that it is. */
static void test_noise_in_a_slot(void **state)
{
    static struct mr_slot slot;
    static struct mr_arena_head head;
    const void *streams[MR_SLOT_LANES] = {0};
    unsigned seed = 4321;
    (void)state;
    for (int round = 0; round < 200; round++) {
        unsigned char *bytes = (unsigned char *)&slot;
        struct mr_ticket ticket;
        for (size_t i = sizeof slot.lock; i < sizeof slot; i++)
            bytes[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
        ticket = mr_slot_latest(&slot);
        (void)mr_slot_is_complete(&slot, ticket);
        (void)mr_slot_bury(&slot, &head, mr_process_self(), ticket);
        if (mr_slot_begin(&slot, mr_process_self(), &slot, streams, &ticket)) {
            mr_slot_publish(&slot, ticket);
            mr_slot_complete(&slot, ticket);
        }
        mr_slot_record_complete(&slot, mr_process_self());
        mr_slot_ring(&slot, &head);
        assert_int_equal(atomic_load(&slot.lock), 0);
    }
}

int main(int argc, char **argv)
{
    role_run(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports),   cmocka_unit_test(test_opens),          cmocka_unit_test(test_no_leak),
        cmocka_unit_test(test_who_lives), cmocka_unit_test(test_dead_in_a_slot), cmocka_unit_test(test_noise_in_a_slot),
    };
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
