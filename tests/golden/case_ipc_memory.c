/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory handles between processes: what may be exported, what opening gives,
 * and what becomes of a mapping when either side frees, closes or ends.
 *
 * The case's process exports unless a case says otherwise; its peer opens.
 */
#include "gold_peer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What goes between the two processes. */
struct note {
    CUipcMemHandle handle;
    CUdeviceptr address;
    CUcontext context;
    size_t offset;
    unsigned flags, value;
    CUresult status;
};

/* ---- tasks ---- */

static void open_quiet(void *data)
{
    struct note *note = data;
    note->address = 0;
    note->status = cuIpcOpenMemHandle(&note->address, note->handle, note->flags);
}

static void open_say(void *data)
{
    open_quiet(data);
    say(((struct note *)data)->status);
}

static void close_say(void *data)
{
    say(cuIpcCloseMemHandle(((struct note *)data)->address));
}

static void read_say(void *data)
{
    struct note *note = data;
    unsigned value = 0;
    CUresult status = cuMemcpyDtoH(&value, note->address + note->offset, sizeof value);
    if (status != CUDA_SUCCESS)
        say(status);
    else
        say_hex(value);
}

static void write_word(void *data)
{
    struct note *note = data;
    NEED(cuMemsetD32(note->address + note->offset, note->value, 1));
    NEED(cuCtxSynchronize());
}

static void export_own(void *data)
{
    struct note *note = data;
    note->address = gold_alloc_words(1024, note->value);
    NEED(cuIpcGetMemHandle(&note->handle, note->address));
}

static void get_say(void *data)
{
    struct note *note = data;
    say(cuIpcGetMemHandle(&note->handle, note->address));
}

/* ---- fixtures of the case's process ---- */

/* A megabyte whose word i is VALUE + i near the start, exported. */
static struct note exported(unsigned value)
{
    struct note note = {.value = value};
    note.address = gold_alloc_words(1u << 18, value);
    NEED(cuMemsetD32(note.address + 1024, value + 1, 16));
    NEED(cuCtxSynchronize());
    NEED(cuIpcGetMemHandle(&note.handle, note.address));
    return note;
}

static void open_read_close(struct gold_peer *peer, struct note note)
{
    gold_peer_ask(peer, open_say, &note, sizeof note);
    if (note.status != CUDA_SUCCESS)
        return;
    gold_peer_ask(peer, read_say, &note, sizeof note);
    gold_peer_ask(peer, close_say, &note, sizeof note);
}

/* ---- getting a handle ---- */

CASE(ipc, mem_get_null_handle)
{
    say(cuIpcGetMemHandle(NULL, gold_alloc(4096)));
}

CASE(ipc, mem_get_null_pointer)
{
    CUipcMemHandle handle;
    say(cuIpcGetMemHandle(&handle, 0));
}

CASE(ipc, mem_get_wild)
{
    CUipcMemHandle handle;
    say(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)GOLD_WILD));
    say(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)gold_foreign()));
}

CASE(ipc, mem_get_failure_leaves_handle)
{
    CUipcMemHandle handle, before;
    memset(&handle, 0x5a, sizeof handle);
    before = handle;
    say(cuIpcGetMemHandle(&handle, 0));
    say_if("untouched", memcmp(&handle, &before, sizeof handle) == 0);
}

CASE(ipc, mem_get_pinned)
{
    void *pinned;
    CUipcMemHandle handle;
    NEED(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    say(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)pinned));
    NEED(cuMemFreeHost(pinned));
}

CASE(ipc, mem_get_registered)
{
    void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUipcMemHandle handle;
    NEED(cuMemHostRegister(memory, 8192, 0));
    say(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)memory));
    NEED(cuMemHostUnregister(memory));
}

CASE(ipc, mem_get_managed)
{
    CUdeviceptr address;
    CUipcMemHandle handle;
    NEED(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
    say(cuIpcGetMemHandle(&handle, address));
    NEED(cuMemFree(address));
}

CASE(ipc, mem_get_module_global)
{
    CUdeviceptr address;
    size_t size;
    CUipcMemHandle handle;
    NEED(cuModuleGetGlobal(&address, &size, gold_module(), "table"));
    say(cuIpcGetMemHandle(&handle, address));
}

CASE(ipc, mem_get_pitched)
{
    CUdeviceptr address;
    size_t pitch;
    CUipcMemHandle handle;
    NEED(cuMemAllocPitch(&address, &pitch, 100, 100, 4));
    say(cuIpcGetMemHandle(&handle, address));
    NEED(cuMemFree(address));
}

CASE(ipc, mem_get_pool)
{
    CUdeviceptr address;
    CUipcMemHandle handle;
    CUstream stream = gold_stream(0);
    NEED(cuMemAllocAsync(&address, 4096, stream));
    NEED(cuStreamSynchronize(stream));
    say(cuIpcGetMemHandle(&handle, address));
    NEED(cuMemFreeAsync(address, stream));
    NEED(cuStreamSynchronize(stream));
}

CASE(ipc, mem_get_twice_same)
{
    CUdeviceptr address = gold_alloc(4096);
    CUipcMemHandle first, second;
    memset(&first, 1, sizeof first);
    memset(&second, 2, sizeof second);
    NEED(cuIpcGetMemHandle(&first, address));
    NEED(cuIpcGetMemHandle(&second, address));
    say_if("same", memcmp(&first, &second, sizeof first) == 0);
}

CASE(ipc, mem_get_inner_same)
{
    CUdeviceptr address = gold_alloc(4096);
    CUipcMemHandle first, second;
    NEED(cuIpcGetMemHandle(&first, address));
    say(cuIpcGetMemHandle(&second, address + 1024));
    say_if("same", memcmp(&first, &second, sizeof first) == 0);
}

CASE(ipc, mem_get_one_past)
{
    CUdeviceptr address = gold_alloc(2u << 20);
    CUipcMemHandle handle;
    say(cuIpcGetMemHandle(&handle, address + (2u << 20) - 1));
}

CASE(ipc, mem_get_neighbours_differ)
{
    CUipcMemHandle first, second;
    NEED(cuIpcGetMemHandle(&first, gold_alloc(512)));
    NEED(cuIpcGetMemHandle(&second, gold_alloc(512)));
    say_if("same", memcmp(&first, &second, sizeof first) == 0);
}

CASE(ipc, mem_get_freed)
{
    CUdeviceptr address = gold_alloc(4u << 20);
    CUipcMemHandle handle;
    NEED(cuIpcGetMemHandle(&handle, address));
    NEED(cuMemFree(address));
    say(cuIpcGetMemHandle(&handle, address));
}

CASE(ipc, mem_get_no_context)
{
    CUdeviceptr address = gold_alloc(4096);
    CUcontext popped;
    CUipcMemHandle handle;
    NEED(cuCtxPopCurrent(&popped));
    say(cuIpcGetMemHandle(&handle, address));
    say(cuIpcGetMemHandle(&handle, 0));
}

CASE(ipc, mem_get_other_context)
{
    CUdeviceptr address = gold_alloc(4096);
    CUipcMemHandle handle;
    CUcontext other = gold_context_new();
    say(cuIpcGetMemHandle(&handle, address));
    NEED(cuCtxDestroy(other));
}

CASE(ipc, mem_get_keeps_contents)
{
    CUdeviceptr address = gold_alloc_words(4096, 77);
    CUipcMemHandle handle;
    NEED(cuIpcGetMemHandle(&handle, address));
    say_int(gold_word(address));
    say_int(gold_word(address + 4 * 4095));
    NEED(cuMemsetD32(address, 78, 4096));
    say_int(gold_word(address + 4 * 4095));
    say(cuMemFree(address));
}

CASE(ipc, mem_get_while_busy)
{
    CUdeviceptr address = gold_alloc_words(1024, 1);
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    gold_add(stream, address, 41);
    CUipcMemHandle handle;
    say(cuIpcGetMemHandle(&handle, address));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(address));
}

/* ---- opening: arguments ---- */

CASE(ipc, mem_open_own, .alone = true)
{
    struct note note = exported(1);
    open_say(&note);
    say_if("null", note.address == 0);
}

CASE(ipc, mem_open_own_other_context, .alone = true)
{
    struct note note = exported(1);
    gold_context_new();
    open_say(&note);
}

CASE(ipc, mem_open_zeros, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    open_say(&note);
}

CASE(ipc, mem_open_ones, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    memset(&note.handle, 0xff, sizeof note.handle);
    open_say(&note);
}

CASE(ipc, mem_open_noise, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    for (size_t i = 0; i < sizeof note.handle; i++)
        note.handle.reserved[i] = (char)(i * 37 + 11);
    open_say(&note);
}

CASE(ipc, mem_open_null_pointer, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    say(cuIpcOpenMemHandle(NULL, note.handle, 0));
    say(cuIpcOpenMemHandle(NULL, note.handle, 1));
}

CASE(ipc, mem_open_flags_before_handle, .alone = true)
{
    static const unsigned flags[] = {0, 1, 2, 3, 4, 0x80000000u, ~0u};
    struct note note = {.value = 0};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        note.flags = flags[i];
        open_say(&note);
    }
}

CASE(ipc, mem_open_no_context, .alone = true)
{
    struct note note = exported(1);
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    open_say(&note);
    memset(&note.handle, 0, sizeof note.handle);
    open_say(&note);
}

static void open_null_task(void *data)
{
    struct note *note = data;
    say(cuIpcOpenMemHandle(NULL, note->handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

CASE(ipc, mem_open_valid_null_pointer, .alone = true)
{
    struct note note = exported(1);
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_null_task, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_valid_flags, .alone = true)
{
    static const unsigned flags[] = {0, 1, 2, 3, ~0u};
    struct note note = exported(0x10);
    struct gold_peer peer = gold_peer_start(false);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        note.flags = flags[i];
        open_read_close(&peer, note);
    }
    gold_peer_end(&peer);
}

static void open_no_context_task(void *data)
{
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
    open_say(data);
    NEED(cuCtxPushCurrent(popped));
}

CASE(ipc, mem_open_valid_no_context, .alone = true)
{
    struct note note = exported(0x10);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_no_context_task, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, bare, .bare = true)
{
    CUipcMemHandle memory;
    CUipcEventHandle event;
    CUdeviceptr address;
    CUevent opened;
    memset(&memory, 0, sizeof memory);
    memset(&event, 0, sizeof event);
    say(cuIpcGetMemHandle(&memory, 0));
    say(cuIpcOpenMemHandle(&address, memory, 1));
    say(cuIpcCloseMemHandle(0));
    say(cuIpcGetEventHandle(&event, NULL));
    say(cuIpcOpenEventHandle(&opened, event));
}

CASE(ipc, attribute)
{
    int supported = -1;
    say(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, gold_device()));
    say_int(supported);
    say(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, gold_device()));
    say_int(supported);
}

/* ---- opening: what it gives ---- */

CASE(ipc, mem_open_reads, .alone = true)
{
    struct note note = exported(0xabc0);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    open_read_close(&peer, note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_both_ways, .alone = true)
{
    struct note note = exported(5);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    CUdeviceptr own = note.address;
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    note.value = 6;
    gold_peer_ask(&peer, write_word, &note, sizeof note);
    say_int(gold_word(own));
    NEED(cuMemsetD32(own, 7, 1));
    NEED(cuCtxSynchronize());
    gold_peer_ask(&peer, read_say, &note, sizeof note);
    gold_peer_end(&peer);
    say_int(gold_word(own));
    say(cuMemFree(own));
}

CASE(ipc, mem_open_inner_handle, .alone = true)
{
    struct note note = exported(0x20);
    NEED(cuIpcGetMemHandle(&note.handle, note.address + 1024));
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    open_read_close(&peer, note);
    gold_peer_end(&peer);
}

static void range_say(void *data)
{
    struct note *note = data;
    CUdeviceptr base = 0;
    size_t size = 0;
    say(cuMemGetAddressRange(&base, &size, note->address));
    say_if("base", base == note->address);
    say_value("size", (long long)size);
    say(cuMemGetAddressRange(&base, &size, note->address + 100));
    say_if("base", base == note->address);
}

CASE(ipc, mem_open_range, .alone = true)
{
    struct note note = exported(1);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, range_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_range_odd_size, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    note.address = gold_alloc(3u * 1024 * 1024 + 12345);
    NEED(cuIpcGetMemHandle(&note.handle, note.address));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, range_say, &note, sizeof note);
    gold_peer_end(&peer);
}

static void attributes_say(void *data)
{
    struct note *note = data;
    CUdeviceptr address = note->address + 64, start = 0, device = 0;
    CUcontext context = NULL;
    unsigned type = 0, ordinal = 99, capable = 9, mapped = 9, managed = 9, access = 0;
    size_t size = 0;
    void *host = NULL;
    say(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
    say_if("own_context", context == gold_context());
    say(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    say_value("type", type);
    say(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address));
    say_if("same", device == address);
    say(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    say(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    say_if("managed", managed & 1);
    say(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    say_value("ordinal", (int)ordinal);
    say(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address));
    say_if("capable", capable & 1);
    say(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address));
    say_if("start", start == note->address);
    say(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address));
    say_value("size", (long long)size);
    say(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, address));
    say_if("mapped", mapped & 1);
    say(cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    say_value("access", access);
}

CASE(ipc, mem_open_attributes, .alone = true)
{
    struct note note = exported(1);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, attributes_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_exported_attributes)
{
    struct note note = exported(1);
    attributes_say(&note);
}

CASE(ipc, mem_open_twice, .alone = true)
{
    struct note note = exported(0x30), again;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    again = note;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, open_say, &again, sizeof again);
    say_if("same", note.address == again.address);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_ask(&peer, read_say, &again, sizeof again);
    gold_peer_ask(&peer, close_say, &again, sizeof again);
    gold_peer_ask(&peer, close_say, &again, sizeof again);
    gold_peer_end(&peer);
}

static void context_new_task(void *data)
{
    ((struct note *)data)->context = gold_context_new();
}

CASE(ipc, mem_open_two_contexts, .alone = true)
{
    struct note note = exported(0x30), again;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    again = note;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, context_new_task, &again, sizeof again);
    gold_peer_ask(&peer, open_say, &again, sizeof again);
    say_if("same", note.address == again.address);
    if (again.status == CUDA_SUCCESS)
        gold_peer_ask(&peer, read_say, &again, sizeof again);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_after_close, .alone = true)
{
    struct note note = exported(0x40);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    for (int i = 0; i < 3; i++)
        open_read_close(&peer, note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_two_peers, .alone = true)
{
    struct note note = exported(0x50), second;
    CUdeviceptr own = note.address;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    second = note;
    struct gold_peer one = gold_peer_start(false), two = gold_peer_start(false);
    gold_peer_ask(&one, open_say, &note, sizeof note);
    gold_peer_ask(&two, open_say, &second, sizeof second);
    note.value = 0x51;
    gold_peer_ask(&one, write_word, &note, sizeof note);
    gold_peer_ask(&two, read_say, &second, sizeof second);
    gold_peer_end(&one);
    gold_peer_ask(&two, read_say, &second, sizeof second);
    say_hex(gold_word(own));
    gold_peer_end(&two);
}

CASE(ipc, mem_open_small_neighbours, .alone = true)
{
    struct note first = {.value = 1, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}, second = first;
    first.address = gold_alloc_words(128, 0x61);
    second.address = gold_alloc_words(128, 0x62);
    NEED(cuIpcGetMemHandle(&first.handle, first.address));
    NEED(cuIpcGetMemHandle(&second.handle, second.address));
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &first, sizeof first);
    gold_peer_ask(&peer, open_say, &second, sizeof second);
    gold_peer_ask(&peer, read_say, &first, sizeof first);
    gold_peer_ask(&peer, read_say, &second, sizeof second);
    gold_peer_ask(&peer, close_say, &first, sizeof first);
    gold_peer_ask(&peer, read_say, &second, sizeof second);
    gold_peer_ask(&peer, close_say, &second, sizeof second);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_many, .alone = true)
{
    enum { COUNT = 64 };
    struct note note;
    struct gold_peer peer = gold_peer_start(false);
    int opened = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        note = (struct note){.value = 1, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
        note.address = gold_alloc_words(16384, 100 + i);
        NEED(cuIpcGetMemHandle(&note.handle, note.address));
        gold_peer_ask(&peer, open_quiet, &note, sizeof note);
        opened += note.status == CUDA_SUCCESS;
    }
    say_int(opened);
    gold_peer_ask(&peer, read_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_large, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, .offset = (64u << 20) - 4};
    note.address = gold_alloc_words(16u << 20, 0x77);
    NEED(cuIpcGetMemHandle(&note.handle, note.address));
    struct gold_peer peer = gold_peer_start(false);
    open_read_close(&peer, note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_from_peer, .alone = true)
{
    struct note note = {.value = 0x88, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, export_own, &note, sizeof note);
    open_say(&note);
    read_say(&note);
    close_say(&note);
    gold_peer_end(&peer);
}

static void work_task(void *data)
{
    struct note *note = data;
    CUdeviceptr address = note->address;
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr own = gold_alloc_words(1024, 3);
    gold_add(stream, address, 1);                                       /* a kernel */
    NEED(cuMemcpyDtoDAsync(address + 4, own, 4, stream));               /* copies both ways */
    NEED(cuMemcpyDtoDAsync(own + 4, address, 4, stream));
    NEED(cuMemsetD32Async(address + 8, 9, 1, stream));
    NEED(cuStreamSynchronize(stream));
    say_int(gold_word(own + 4));
}

CASE(ipc, mem_open_works, .alone = true)
{
    struct note note = exported(10);
    CUdeviceptr own = note.address;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, work_task, &note, sizeof note);
    for (unsigned i = 0; i < 4; i++)
        say_int(gold_word(own + 4 * i));
    gold_peer_end(&peer);
}

/* ---- closing ---- */

CASE(ipc, mem_close_null)
{
    say(cuIpcCloseMemHandle(0));
}

CASE(ipc, mem_close_wild)
{
    say(cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)GOLD_WILD));
}

CASE(ipc, mem_close_own_exported)
{
    struct note note = exported(3);
    close_say(&note);
    say_int(gold_word(note.address));
    say(cuMemFree(note.address));
}

CASE(ipc, mem_close_own_plain)
{
    CUdeviceptr address = gold_alloc(4096);
    say(cuIpcCloseMemHandle(address));
    say(cuMemFree(address));
}

CASE(ipc, mem_close_inner, .alone = true)
{
    struct note note = exported(3), inner;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    inner = note;
    inner.address += 256;
    gold_peer_ask(&peer, close_say, &inner, sizeof inner);
    gold_peer_ask(&peer, read_say, &note, sizeof note);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_end(&peer);
}

static void free_say(void *data)
{
    say(cuMemFree(((struct note *)data)->address));
}

CASE(ipc, mem_free_opened, .alone = true)
{
    struct note note = exported(3);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, free_say, &note, sizeof note);
    gold_peer_ask(&peer, read_say, &note, sizeof note);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_end(&peer);
}

static void close_no_context_task(void *data)
{
    CUcontext popped;
    NEED(cuCtxPopCurrent(&popped));
    close_say(data);
    NEED(cuCtxPushCurrent(popped));
}

CASE(ipc, mem_close_no_context, .alone = true)
{
    struct note note = exported(3);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, close_no_context_task, &note, sizeof note);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_close_other_context, .alone = true)
{
    struct note note = exported(3);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_ask(&peer, context_new_task, &note, sizeof note);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_end(&peer);
}

static void context_new_open_destroy(void *data)
{
    struct note *note = data;
    CUcontext context = gold_context_new();
    open_say(note);
    say(cuCtxDestroy(context));
    CUcontext current = NULL;
    NEED(cuCtxGetCurrent(&current));
    say_if("back", current == gold_context());
    close_say(note);
    open_say(note);
    read_say(note);
    close_say(note);
}

CASE(ipc, mem_open_context_destroyed, .alone = true)
{
    struct note note = exported(0x90);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, context_new_open_destroy, &note, sizeof note);
    gold_peer_end(&peer);
}

/* ---- either side goes ---- */

CASE(ipc, mem_get_opened, .alone = true)
{
    struct note note = exported(3), again;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    again = note;
    gold_peer_ask(&peer, get_say, &again, sizeof again);
    gold_peer_end(&peer);
}

CASE(ipc, mem_free_while_open, .alone = true)
{
    struct note note = exported(0xa0);
    CUdeviceptr own = note.address;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    say(cuMemFree(own));
    gold_peer_ask(&peer, read_say, &note, sizeof note);
    gold_peer_ask(&peer, close_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_freed, .alone = true)
{
    struct note note = exported(0xa0);
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    NEED(cuMemFree(note.address));
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_open_freed_large, .alone = true)
{
    struct note note = {.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    note.address = gold_alloc(64u << 20);
    NEED(cuIpcGetMemHandle(&note.handle, note.address));
    struct gold_peer peer = gold_peer_start(false);
    NEED(cuMemFree(note.address));
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_exporter_ends_while_open, .alone = true)
{
    struct note note = {.value = 0xb0, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, export_own, &note, sizeof note);
    open_say(&note);
    gold_peer_end(&peer);
    read_say(&note);
    note.value = 0xb1;
    write_word(&note);
    read_say(&note);
    close_say(&note);
}

CASE(ipc, mem_exporter_killed_while_open, .alone = true)
{
    struct note note = {.value = 0xb0, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, export_own, &note, sizeof note);
    open_say(&note);
    gold_peer_kill(&peer);
    read_say(&note);
    close_say(&note);
}

CASE(ipc, mem_open_exporter_ended, .alone = true)
{
    struct note note = {.value = 0xb0, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, export_own, &note, sizeof note);
    gold_peer_end(&peer);
    open_say(&note);
}

static void own_context_export_destroy(void *data)
{
    struct note *note = data;
    CUcontext context = gold_context_new();
    export_own(note);
    note->context = context;
}

static void context_destroy_say(void *data)
{
    say(cuCtxDestroy(((struct note *)data)->context));
}

CASE(ipc, mem_open_exporting_context_destroyed, .alone = true)
{
    struct note note = {.value = 0xc0, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS};
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, own_context_export_destroy, &note, sizeof note);
    gold_peer_ask(&peer, context_destroy_say, &note, sizeof note);
    open_say(&note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_exporting_context_destroyed_while_open, .alone = true)
{
    struct note note = {.value = 0xc0, .flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}, theirs;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, own_context_export_destroy, &note, sizeof note);
    theirs = note;
    open_say(&note);
    gold_peer_ask(&peer, context_destroy_say, &theirs, sizeof theirs);
    read_say(&note);
    close_say(&note);
    gold_peer_end(&peer);
}

CASE(ipc, mem_opener_ends, .alone = true)
{
    struct note note = exported(0xd0);
    CUdeviceptr own = note.address;
    note.flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    struct gold_peer peer = gold_peer_start(false);
    gold_peer_ask(&peer, open_say, &note, sizeof note);
    note.value = 0xd1;
    gold_peer_ask(&peer, write_word, &note, sizeof note);
    gold_peer_kill(&peer);
    say_hex(gold_word(own));
    say(cuMemFree(own));
}
