/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that are killed at random moments while they share events and memory with one that lives on.
 *
 * The survivor keeps a few victims going at a time. Each exports an event and memory of its own, opens the survivor's,
 * and then records, waits, writes, opens, closes, exports and frees without end. The survivor waits for the victims'
 * events and records its own meanwhile; when it kills one, every wait has to end, memory has to stay readable, and at
 * the end nothing is left: no descriptor, no mapping, no thread, no file.
 *
 * MILLRACE_TEST_KILLS says how many are killed (60 if it isn't set); MILLRACE_TEST_SEED repeats a run's choices. */
#include "../api/ipc_support.h"

#include <time.h>

#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

enum { VICTIMS = 4, WORDS = 50000, PATIENCE_S = 60 };

struct parcel {
    CUipcEventHandle event;
    CUipcMemHandle memory;
    uint64_t seed;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static uint64_t random_below(uint64_t limit)
{
    return (random_next() >> 11) % limit;
}

static void nap_us(uint64_t us)
{
    struct timespec nap = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&nap, NULL);
}

static void hold_up(void *data)
{
    nap_us((uintptr_t)data);
}

/* ---- a victim ---- */

struct victim_world {
    CUevent own, theirs;
    CUstream stream[2];
    CUdeviceptr memory, mapped;
    struct parcel parcel;
};

/* One step of what a process can do with what it shares. Whatever it answers, it must not hang: the survivor is alive.
 */
static void victim_step(struct victim_world *world)
{
    uint64_t which = random_below(2);
    CUstream stream = world->stream[which];
    CUevent event = random_below(2) ? world->own : world->theirs;
    CUipcEventHandle event_handle;
    CUipcMemHandle memory_handle;
    CUdeviceptr address;
    switch (random_below(10)) {
    case 0:
        (void)cuLaunchHostFunc(stream, hold_up, (void *)(uintptr_t)random_below(500));
        break;
    case 1:
    case 2:
        (void)cuEventRecord(event, stream);
        break;
    case 3:
        (void)cuStreamWaitEvent(stream, event, 0);
        break;
    case 4: /* each stream has its half */
        (void)cuMemsetD32Async((random_below(2) ? world->memory : world->mapped) + which * (WORDS / 2 * 4), 7,
                               WORDS / 2, stream);
        break;
    case 5:
        (void)cuEventQuery(event);
        break;
    case 6:
        (void)cuEventSynchronize(event);
        break;
    case 7:
        if (cuMemAlloc(&address, 1 + random_below(1 << 20)) == CUDA_SUCCESS) {
            (void)cuIpcGetMemHandle(&memory_handle, address);
            (void)cuMemFree(address);
        }
        break;
    case 8:
        if (cuEventCreate(&event, SHARED) == CUDA_SUCCESS) {
            (void)cuIpcGetEventHandle(&event_handle, event);
            (void)cuEventRecord(event, stream);
            (void)cuEventDestroy(event);
        }
        break;
    case 9:
        (void)cuIpcCloseMemHandle(world->mapped);
        ROLE_NEED(cuIpcOpenMemHandle(&world->mapped, world->parcel.memory, LAZY) == CUDA_SUCCESS);
        (void)cuEventDestroy(world->theirs);
        ROLE_NEED(cuIpcOpenEventHandle(&world->theirs, world->parcel.event) == CUDA_SUCCESS);
        break;
    }
}

static void role_victim(int socket)
{
    struct victim_world world;
    struct parcel own = {.seed = 0};
    role_begin();
    ROLE_NEED(receive_bytes(socket, &world.parcel, sizeof world.parcel));
    random_state = world.parcel.seed | 1;
    ROLE_NEED(cuEventCreate(&world.own, SHARED) == CUDA_SUCCESS &&
              cuMemAlloc(&world.memory, WORDS * 4) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcGetEventHandle(&own.event, world.own) == CUDA_SUCCESS &&
              cuIpcGetMemHandle(&own.memory, world.memory) == CUDA_SUCCESS);
    for (int i = 0; i < 2; i++)
        ROLE_NEED(cuStreamCreate(&world.stream[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcOpenEventHandle(&world.theirs, world.parcel.event) == CUDA_SUCCESS);
    ROLE_NEED(cuIpcOpenMemHandle(&world.mapped, world.parcel.memory, LAZY) == CUDA_SUCCESS);
    ROLE_NEED(send_bytes(socket, &own, sizeof own));
    for (;;)
        victim_step(&world);
}

static const struct role roles[] = {{"victim", role_victim}, {NULL, NULL}};

/* ---- the survivor ---- */

struct victim {
    struct helper helper;
    bool met;                 /* its handles are open here */
    CUevent event;
    CUdeviceptr memory;
    CUstream stream;
};

static CUevent own_event;
static CUdeviceptr own_memory;
static CUstream own_stream;
static struct parcel parcel;

static void victim_begin(struct victim *victim)
{
    *victim = (struct victim){.helper = helper_start("victim")};
    parcel.seed = random_next();
    assert_true(send_bytes(victim->helper.socket, &parcel, sizeof parcel));
    OK(cuStreamCreate(&victim->stream, CU_STREAM_NON_BLOCKING));
}

/* Opens what the victim sends, if it has sent it. */
static void victim_meet(struct victim *victim, bool wait)
{
    struct parcel theirs;
    ssize_t got =
        victim->met ? 0 : recv(victim->helper.socket, &theirs, sizeof theirs, MSG_WAITALL | (wait ? 0 : MSG_DONTWAIT));
    if (got != sizeof theirs)
        return;
    OK(cuIpcOpenEventHandle(&victim->event, theirs.event));
    OK(cuIpcOpenMemHandle(&victim->memory, theirs.memory, LAZY));
    victim->met = true;
}

/* Some work that a victim may owe the end of. */
static void entangle(struct victim *victim)
{
    if (!victim->met)
        return;
    OK(cuStreamWaitEvent(victim->stream, victim->event, 0));
    OK(cuMemsetD32Async(victim->memory, 3, WORDS, victim->stream));
    OK(cuEventRecord(random_below(2) ? victim->event : own_event, victim->stream));
    OK(cuStreamWaitEvent(own_stream, victim->event, 0));
    if (random_below(2))
        OK(cuEventRecord(own_event, own_stream));
    CUresult status = cuEventQuery(victim->event);
    assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_NOT_READY);
}

static bool completed_or_lost(CUresult status)
{
    return status == CUDA_SUCCESS || status == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static void victim_end(struct victim *victim)
{
    unsigned word = 0;
    kill(victim->helper.pid, SIGKILL);
    if (random_below(2))
        assert_int_equal(helper_end(&victim->helper), 256 + SIGKILL);
    else
        victim->helper.socket = -victim->helper.socket; /* stays a zombie for a while: that must be as good as dead */
    alarm(PATIENCE_S);
    assert_true(completed_or_lost(cuEventSynchronize(own_event)));
    if (victim->met) {
        assert_true(completed_or_lost(cuEventSynchronize(victim->event)));
        OK(cuStreamSynchronize(victim->stream));
        OK(cuMemcpyDtoH(&word, victim->memory + 4 * (WORDS - 1), 4));
        OK(cuEventRecord(victim->event, victim->stream));
        OK(cuEventSynchronize(victim->event));
        OK(cuEventDestroy(victim->event));
        OK(cuIpcCloseMemHandle(victim->memory));
    }
    OK(cuStreamSynchronize(victim->stream));
    OK(cuStreamDestroy(victim->stream));
    alarm(0);
    if (victim->helper.socket < 0) {
        victim->helper.socket = -victim->helper.socket;
        assert_int_equal(helper_end(&victim->helper), 256 + SIGKILL);
    }
}

static unsigned count_mappings(void)
{
    unsigned lines = 0;
    int byte;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while ((byte = getc(maps)) != EOF)
        lines += byte == '\n';
    fclose(maps);
    return lines;
}

static unsigned count_from_environment(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void test_killed_at_random(void **state)
{
    struct victim victim[VICTIMS];
    unsigned kills = count_from_environment("MILLRACE_TEST_KILLS", 60), descriptors = 0, mappings = 0, threads = 0;
    size_t free_before = 0, free_after, total;
    (void)state;
    random_state = count_from_environment("MILLRACE_TEST_SEED", (unsigned)time(NULL)) * 2654435761u + 1;
    OK(cuEventCreate(&own_event, SHARED));
    OK(cuIpcGetEventHandle(&parcel.event, own_event));
    own_memory = device_bytes(WORDS * 4);
    OK(cuIpcGetMemHandle(&parcel.memory, own_memory));
    OK(cuStreamCreate(&own_stream, CU_STREAM_NON_BLOCKING));
    for (unsigned killed = 0; killed < kills;) {
        for (int i = 0; i < VICTIMS; i++)
            victim_begin(&victim[i]);
        for (int i = 0; i < VICTIMS; i++)
            if (random_below(8))
                victim_meet(&victim[i], true);
        nap_us(random_below(3000));
        for (uint64_t steps = random_below(20); steps > 0; steps--)
            entangle(&victim[random_below(VICTIMS)]);
        for (int i = 0; i < VICTIMS; i++, killed++) {
            nap_us(random_below(1000));
            victim_meet(&victim[i], false);
            entangle(&victim[i]);
            victim_end(&victim[i]);
        }
        alarm(PATIENCE_S);
        assert_true(completed_or_lost(cuEventSynchronize(own_event)));
        OK(cuStreamSynchronize(own_stream));
        alarm(0);
        if (killed == 5 * VICTIMS) {
            nap_us(100000);
            descriptors = count_descriptors();
            mappings = count_mappings();
            threads = count_entries("/proc/self/task");
            OK(cuMemGetInfo(&free_before, &total));
        }
    }
    nap_us(100000);
    OK(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_before, free_after);
    assert_int_equal(count_descriptors(), descriptors);
    assert_int_equal(count_shared_files(), 0);
    assert_in_range(count_mappings(), 1, mappings + 40); /* workers come and go */
    assert_in_range(count_entries("/proc/self/task"), 1, threads + 8);
    OK(cuEventRecord(own_event, own_stream));
    OK(cuEventSynchronize(own_event));
    OK(cuMemFree(own_memory));
    OK(cuEventDestroy(own_event));
    OK(cuStreamDestroy(own_stream));
}

int main(int argc, char **argv)
{
    role_run(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_at_random)};
    return cmocka_run_group_tests(tests, support_begin, support_end);
}
