/* SPDX-License-Identifier: Apache-2.0 */
/* A program with what looks like the runtime library of CUDA 11 inside: the functions whose parameters version 12
 * changed, called as 11.8's headers declare them. Prints "passed". With SHARED the library alone, with USER the program
 * that is linked to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* noipa: no copy of a function with constant arguments, which nothing would redirect. */
#if defined SHARED || defined USER
#define CARRIED
#elif defined __clang__
#define CARRIED __attribute__((visibility("hidden"), noinline))
#else
#define CARRIED __attribute__((visibility("hidden"), noipa))
#endif
#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("line %d: %s\n", __LINE__, #what); \
            return 1; \
        } \
    } while (0)

struct attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx, binary, cache_mode, max_dynamic_shared, carveout;
};
_Static_assert(sizeof(struct attributes) == 56, "as CUDA 11.8 has it");

CARRIED int cudaRuntimeGetVersion(int *version);
CARRIED int cudaBindTexture(size_t *offset, const void *texture, const void *pointer, const void *format, size_t size);
CARRIED int cudaFuncGetAttributes(void *attributes, const void *function);
CARRIED int cudaCreateTextureObject(unsigned long long *object, const void *what, const void *how, const void *view);
CARRIED int cudaCreateTextureObject_v2(unsigned long long *object, const void *what, const void *how, const void *view);
CARRIED int cudaGetTextureObjectTextureDesc(void *how, unsigned long long object);
CARRIED int cudaGetTextureObjectTextureDesc_v2(void *how, unsigned long long object);
CARRIED int cudaMalloc(void **memory, size_t size);
CARRIED int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags);
CARRIED int cudaGraphCreate(void **graph, unsigned flags);
CARRIED int cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count);
CARRIED int cudaGraphInstantiate(void **exec, void *graph, void **error_node, char *log, size_t size);
CARRIED int cudaGraphExecUpdate(void *exec, void *graph, void **error_node, int *result);

#ifndef USER
/* The real library finds the driver so. Each caller has a name of its own, so that no two have the same code and
 * address. */
static int wrong(const char *name)
{
    printf("%s of the runtime library inside ran\n", name);
    return dlsym(RTLD_DEFAULT, "cuInit") ? 999 : 998;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return wrong(__func__);
}
int cudaBindTexture(size_t *offset, const void *texture, const void *pointer, const void *format, size_t size)
{
    (void)offset;
    (void)texture;
    (void)pointer;
    (void)format;
    (void)size;
    return wrong(__func__);
}
int cudaFuncGetAttributes(void *attributes, const void *function)
{
    (void)attributes;
    (void)function;
    return wrong(__func__);
}
int cudaCreateTextureObject(unsigned long long *object, const void *what, const void *how, const void *view)
{
    (void)object, (void)what, (void)how, (void)view;
    return wrong(__func__);
}
int cudaCreateTextureObject_v2(unsigned long long *object, const void *what, const void *how, const void *view)
{
    (void)object, (void)what, (void)how, (void)view;
    return wrong(__func__);
}
int cudaGetTextureObjectTextureDesc(void *how, unsigned long long object)
{
    (void)how, (void)object;
    return wrong(__func__);
}
int cudaGetTextureObjectTextureDesc_v2(void *how, unsigned long long object)
{
    (void)how, (void)object;
    return wrong(__func__);
}
int cudaMalloc(void **memory, size_t size)
{
    (void)memory, (void)size;
    return wrong(__func__);
}
int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags)
{
    (void)symbol;
    (void)function;
    (void)flags;
    return wrong(__func__);
}
int cudaGraphCreate(void **graph, unsigned flags)
{
    (void)graph;
    (void)flags;
    return wrong(__func__);
}
int cudaGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count)
{
    (void)node;
    (void)graph;
    (void)after;
    (void)count;
    return wrong(__func__);
}
int cudaGraphInstantiate(void **exec, void *graph, void **error_node, char *log, size_t size)
{
    (void)exec;
    (void)graph;
    (void)error_node;
    (void)log;
    (void)size;
    return wrong(__func__);
}
int cudaGraphExecUpdate(void *exec, void *graph, void **error_node, int *result)
{
    (void)exec;
    (void)graph;
    (void)error_node;
    (void)result;
    return wrong(__func__);
}
#endif

#ifndef SHARED
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n.maxntid 64, 1, 1\n{\n ret;\n}\n";

static int attributes(void)
{
    struct {
        struct attributes attributes;
        unsigned char behind[128];
    } room;
    void *library, *kernel, *runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
    CHECK(runtime);
    int (*load)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned) =
        (int (*)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned))dlsym(
            runtime, "cudaLibraryLoadData");
    int (*get)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))dlsym(runtime, "cudaLibraryGetKernel");
    CHECK(load && get && load(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) == 0 && get(&kernel, library, "k") == 0);
    memset(&room, 0xa5, sizeof room);
    CHECK(cudaFuncGetAttributes(&room, kernel) == 0);
    CHECK(room.attributes.max_threads == 64 && room.attributes.ptx == 75);
    for (size_t i = 0; i < sizeof room.behind; i++)
        CHECK(room.behind[i] == 0xa5);
    CHECK(cudaFuncGetAttributes(NULL, kernel) == 1);
    return 0;
}

static int graphs(void)
{
    void *graph, *other, *exec, *node, *error_node = &graph;
    char log[16] = "untouched";
    int result = -1;
    CHECK(cudaGraphCreate(&graph, 0) == 0 && cudaGraphAddEmptyNode(&node, graph, NULL, 0) == 0);
    CHECK(cudaGraphInstantiate(&exec, graph, &error_node, log, sizeof log) == 0);
    CHECK(!error_node && !*log);
    CHECK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0) == 0);
    CHECK(cudaGraphInstantiate(&exec, NULL, NULL, NULL, 0) == 1);
    CHECK(cudaGraphExecUpdate(exec, graph, &error_node, &result) == 0 && !error_node && result == 0);
    CHECK(cudaGraphCreate(&other, 0) == 0);
    CHECK(cudaGraphExecUpdate(exec, other, &error_node, &result) == 910 && result == 2); /* the topology changed */
    return 0;
}

/* cudaTextureDesc of 11, and that of 12 with one member more, which the functions with _v2 have. */
static int textures(void)
{
    struct {
        int kind;
        void *memory;
        int bits[4], format;
        size_t size, none[2];
    } what = {.kind = 2, .bits = {32}, .format = 2, .size = 1024};
    union {
        int words[17];
        unsigned char bytes[128];
    } how;
    unsigned long long object;
    _Static_assert(sizeof how.words == 68, "as CUDA 11.8 has it");
    CHECK(cudaMalloc(&what.memory, 1024) == 0);
    memset(&how, 0, sizeof how);
    how.words[10] = 1; /* coordinates are normalized */
    memset(how.bytes + 68, 0xa5, sizeof how - 68);
    CHECK(cudaCreateTextureObject(&object, &what, &how, NULL) == 0);
    memset(&how, 0xa5, sizeof how);
    CHECK(cudaGetTextureObjectTextureDesc_v2(&how, object) == 0);
    CHECK(how.words[10] == 1 && how.words[16] == 0);
    for (size_t i = 68; i < 72; i++)
        CHECK(how.bytes[i] == 0); /* what lay behind the older structure was not taken */
    for (size_t i = 72; i < sizeof how; i++)
        CHECK(how.bytes[i] == 0xa5);
    how.bytes[68] = 1; /* seamless, which is for cubemaps alone */
    CHECK(cudaCreateTextureObject_v2(&object, &what, &how, NULL) == 1);
    CHECK(cudaCreateTextureObject(&object, &what, &how, NULL) == 0);
    memset(&how, 0xa5, sizeof how);
    CHECK(cudaGetTextureObjectTextureDesc(&how, object) == 0);
    CHECK(how.words[10] == 1 && how.bytes[68] == 0xa5);
    CHECK(cudaGetTextureObjectTextureDesc(NULL, object) == 1 &&
          cudaCreateTextureObject(&object, &what, NULL, NULL) == 1);
    return 0;
}

int main(void)
{
    int version = -1;
    void *function = NULL;
    CHECK(cudaRuntimeGetVersion(&version) == 0 && version == 12090);
    CHECK(cudaGetDriverEntryPoint("cuInit", &function, 0) == 0 && function);
    CHECK(cudaBindTexture(NULL, &version, NULL, NULL, 0) == 1); /* no format */
    if (attributes() || graphs() || textures())
        return 1;
    puts("passed");
    return 0;
}
#endif
