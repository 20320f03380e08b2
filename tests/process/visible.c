/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES as a program meets it, each time in a process of its own: which of three devices there are and
 * in which order; that a device keeps its identity, whatever its ordinal, also where memory of it goes to a process
 * that sees the devices in another order; and what calls answer when none is left. The forms of the list are in
 * tests/object/test_visible.c. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "visible.c:%d: not so: %s\n", __LINE__, #what), _exit(1)))
#define ANSWERS(status, call) CHECK((call) == (status))

static CUuuid identities[3];

static void in_child(void (*body)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

static void expect(const int *numbers, int count)
{
    int found;
    ANSWERS(CUDA_SUCCESS, cuInit(0));
    ANSWERS(CUDA_SUCCESS, cuDeviceGetCount(&found));
    CHECK(found == count);
    for (int i = 0; i < count; i++) {
        CUdevice device, again;
        CUuuid uuid;
        char text[32], expected[32];
        int bus;
        CUcontext context, current;
        ANSWERS(CUDA_SUCCESS, cuDeviceGet(&device, i));
        CHECK(device == i);
        ANSWERS(CUDA_SUCCESS, cuDeviceGetUuid(&uuid, device));
        CHECK(memcmp(&uuid, &identities[numbers[i]], sizeof uuid) == 0);
        ANSWERS(CUDA_SUCCESS, cuDeviceGetPCIBusId(text, sizeof text, device));
        snprintf(expected, sizeof expected, "0000:%02X:00.0", numbers[i] + 1);
        CHECK(strcmp(text, expected) == 0);
        ANSWERS(CUDA_SUCCESS, cuDeviceGetByPCIBusId(&again, text));
        CHECK(again == device);
        ANSWERS(CUDA_SUCCESS, cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device));
        CHECK(bus == numbers[i] + 1);
        ANSWERS(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&context, device));
        ANSWERS(CUDA_SUCCESS, cuCtxSetCurrent(context));
        ANSWERS(CUDA_SUCCESS, cuCtxGetCurrent(&current));
        ANSWERS(CUDA_SUCCESS, cuCtxGetDevice(&again));
        CHECK(again == device && current == context);
    }
    CUdevice none;
    ANSWERS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&none, count));
}

static void all(void)
{
    unsetenv("CUDA_VISIBLE_DEVICES");
    expect((const int[]){0, 1, 2}, 3);
}

static void two_in_another_order(void)
{
    CUdevice hidden;
    setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    expect((const int[]){2, 0}, 2);
    ANSWERS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&hidden, "0000:02:00.0"));
    setenv("CUDA_VISIBLE_DEVICES", "1", 1); /* too late */
    expect((const int[]){2, 0}, 2);
}

static void by_identity(void)
{
    char text[64] = "GPU-";
    for (int i = 0; i < 16; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x",
                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)identities[1].bytes[i]);
    setenv("CUDA_VISIBLE_DEVICES", text, 1);
    expect((const int[]){1}, 1);
}

static const CUmemAllocationProp on_second = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};

/* Memory and a pool of the device with number 0, which is the second here and the first in the program that follows. */
static void shares(void)
{
    const CUmemPoolProps pool_on_second = {
        .allocType = on_second.type, .handleTypes = on_second.requestedHandleTypes, .location = on_second.location};
    CUmemGenericAllocationHandle memory;
    CUmemoryPool pool;
    int files[2];
    char texts[2][16];
    setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    ANSWERS(CUDA_SUCCESS, cuInit(0));
    ANSWERS(CUDA_SUCCESS, cuMemCreate(&memory, 2 << 20, &on_second, 0));
    ANSWERS(CUDA_SUCCESS, cuMemExportToShareableHandle(&files[0], memory, on_second.requestedHandleTypes, 0));
    ANSWERS(CUDA_SUCCESS, cuMemPoolCreate(&pool, &pool_on_second));
    ANSWERS(CUDA_SUCCESS, cuMemPoolExportToShareableHandle(&files[1], pool, on_second.requestedHandleTypes, 0));
    for (int i = 0; i < 2; i++)
        snprintf(texts[i], sizeof texts[i], "%d", dup(files[i])); /* stays open in the program that follows */
    setenv("CUDA_VISIBLE_DEVICES", "0,1,2", 1);
    execl("/proc/self/exe", "visible", texts[0], texts[1], NULL);
    exit(1);
}

static int takes(const char *memory_file, const char *pool_file)
{
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp properties;
    CUmemoryPool pool;
    CUmemAccess_flags rights[2];
    ANSWERS(CUDA_SUCCESS, cuInit(0));
    ANSWERS(CUDA_SUCCESS, cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)atoi(memory_file),
                                                         on_second.requestedHandleTypes));
    ANSWERS(CUDA_SUCCESS, cuMemGetAllocationPropertiesFromHandle(&properties, memory));
    CHECK(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties.location.id == 0);
    ANSWERS(CUDA_SUCCESS, cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)atoi(pool_file),
                                                             on_second.requestedHandleTypes, 0));
    for (int i = 0; i < 2; i++) {
        CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = i};
        ANSWERS(CUDA_SUCCESS, cuMemPoolGetAccess(&rights[i], pool, &location));
    }
    CHECK(rights[0] == CU_MEM_ACCESS_FLAGS_PROT_READWRITE && rights[1] == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    return 0;
}

static void none(void)
{
    static const struct {
        const char *list;
        CUresult status;
    } forms[] = {{"", CUDA_ERROR_NO_DEVICE},
                 {"-1", CUDA_ERROR_NO_DEVICE},
                 {"3,0", CUDA_ERROR_NO_DEVICE},
                 {"1,1", CUDA_ERROR_INVALID_DEVICE}};
    int count = -7;
    CUdevice device;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        setenv("CUDA_VISIBLE_DEVICES", forms[i].list, 1);
        ANSWERS(forms[i].status, cuInit(0));
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
        ANSWERS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
        CHECK(count == -7);
    }
    setenv("CUDA_VISIBLE_DEVICES", "1", 1); /* cuInit reads it until it succeeds */
    expect((const int[]){1}, 1);
}

/* What the devices are, by a child: this process makes no call itself, since its children could make none then. */
static void read_identities(void)
{
    int ends[2];
    CUuuid read_back[3];
    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        unsetenv("CUDA_VISIBLE_DEVICES");
        ANSWERS(CUDA_SUCCESS, cuInit(0));
        for (int i = 0; i < 3; i++)
            ANSWERS(CUDA_SUCCESS, cuDeviceGetUuid(&read_back[i], i));
        _exit(write(ends[1], read_back, sizeof read_back) == sizeof read_back ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], identities, sizeof identities) != sizeof identities)
        exit(1);
    wait(NULL);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return takes(argv[1], argv[2]);
    setenv("MILLRACE_DEVICES", "3", 1);
    read_identities();
    in_child(all);
    in_child(two_in_another_order);
    in_child(by_identity);
    in_child(shares);
    in_child(none);
    return 0;
}
