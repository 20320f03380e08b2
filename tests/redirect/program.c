/* SPDX-License-Identifier: Apache-2.0 */
/* A program that carries a runtime library (carried.c), and that loads objects which do. test_redirect.py runs it, with
 * a word that says what to do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carried.h"

#define CHECK(what) \
    do { \
        if (!(what)) { \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            exit(1); \
        } \
    } while (0)

static int version_of(void *object)
{
    int (*check)(int *) = (int (*)(int *))dlsym(object, "carried_check"), version;
    CHECK(check);
    int failed = check(&version);
    if (failed)
        printf("line %d of carried.c failed\n", failed);
    return failed ? -failed : version;
}

static void *open_object(const char *path, int mode)
{
    void *object = dlopen(path, mode);
    if (!object)
        printf("%s\n", dlerror());
    CHECK(object);
    return object;
}

/* Objects of both versions by path, in all ways of opening, beside the program's own; then again after they were
 * closed. */
static void load(char **objects)
{
    static const int modes[] = {RTLD_NOW | RTLD_LOCAL, RTLD_LAZY | RTLD_GLOBAL, RTLD_NOW | RTLD_DEEPBIND};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        void *twelve = open_object(objects[0], modes[i]), *thirteen = open_object(objects[1], modes[i]);
        CHECK(version_of(twelve) / 1000 == 12);
        CHECK(version_of(thirteen) / 1000 == 13);
        CHECK(dlclose(twelve) == 0 && dlclose(thirteen) == 0);
    }
}

struct sharer {
    void *object; /* its runtime library is called */
    void *context; /* out: the thread's context afterwards */
    void *memory; /* of another's; out: the context that it belongs to */
};

/* A thread that has no context yet calls one of the runtime libraries. */
static void *share_in_thread(void *arg)
{
    struct sharer *sharer = arg;
    void *driver = open_object("libcuda.so.1", RTLD_NOW);
    int (*current)(void **) = (int (*)(void **))dlsym(driver, "cuCtxGetCurrent");
    int (*attribute)(void *, int, void *) = (int (*)(void *, int, void *))dlsym(driver, "cuPointerGetAttribute");
    int (*synchronize)(void) = (int (*)(void))dlsym(sharer->object, "cudaDeviceSynchronize");
    CHECK(current && attribute && current(&sharer->context) == 0 && !sharer->context);
    if (synchronize) /* the object is a runtime library */
        CHECK(synchronize() == 0);
    else
        CHECK(version_of(sharer->object) > 0);
    CHECK(current(&sharer->context) == 0 && sharer->context);
    void *of = NULL;
    CHECK(attribute(&of, 1, sharer->memory) == 0); /* CU_POINTER_ATTRIBUTE_CONTEXT */
    sharer->memory = of;
    return NULL;
}

/* Runtime libraries in one process: the program's, two objects' and one that is linked dynamically. The device has one
 * primary context, and all use it. */
static void share(char **objects)
{
    static const char *const linked = "libcudart.so.13";
    void *driver = open_object("libcuda.so.1", RTLD_NOW), *context = NULL, *memory = NULL;
    int (*current)(void **) = (int (*)(void **))dlsym(driver, "cuCtxGetCurrent");
    CHECK(current && carried_malloc(&memory) == 0 && current(&context) == 0 && context);
    for (int i = 0; i < 3; i++) {
        struct sharer sharer = {.object = open_object(i < 2 ? objects[i] : linked, RTLD_NOW), .memory = memory};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, share_in_thread, &sharer) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(sharer.context == context && sharer.memory == context);
    }
}

/* Loads and unloads; the process's mappings must not become more. */
static int count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0, c;
    CHECK(file);
    while ((c = fgetc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void repeat(char **objects, int times)
{
    int before = 0;
    for (int i = 0; i < times; i++) {
        void *object = open_object(objects[i % 2], RTLD_NOW);
        CHECK(version_of(object) > 0);
        CHECK(dlclose(object) == 0);
        if (i == 3)
            before = count_mappings();
    }
    CHECK(count_mappings() <= before + 3);
}

/* A thread is the first to open the driver and a runtime library, as in a program that does nothing before it starts
 * threads. */
static void *load_in_thread(void *path)
{
    CHECK(dlopen("libcuda.so.1", RTLD_NOW) && dlopen("/nowhere/libcudart-0123abcd.so.12.1", RTLD_NOW));
    for (int i = 0; i < 100; i++) {
        void *object = open_object(path, RTLD_NOW);
        CHECK(version_of(object) > 0);
        CHECK(dlclose(object) == 0);
    }
    return NULL;
}

static void load_at_once(char **objects)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, load_in_thread, objects[i % 2]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* No mapping is writable and executable, and the one with the changed function is not writable. */
static void look_at_pages(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1024];
    unsigned long from, to, at = (unsigned long)carried_function();
    int found = 0;
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        char flags[5];
        CHECK(sscanf(line, "%lx-%lx %4s", &from, &to, flags) == 3);
        if (flags[1] == 'w' && flags[2] == 'x' && !strstr(line, "[stack]"))
            printf("%s", line);
        CHECK(!(flags[1] == 'w' && flags[2] == 'x'));
        if (at >= from && at < to) {
            CHECK(strcmp(flags, "r-xp") == 0);
            found++;
        }
    }
    fclose(file);
    CHECK(found == 1);
}

static void library(const char *name)
{
    void *object = open_object(name, RTLD_NOW);
    int (*own)(void) = (int (*)(void))dlsym(object, "nvidias_own");
    Dl_info info;
    void *known = dlsym(object, "cudaMalloc");
    printf("%s\n", own ? "NVIDIA's" : known && dladdr(known, &info) ? info.dli_fname : "neither");
}

int main(int argc, char **argv)
{
    int version;
    CHECK(argc > 1);
    if (strcmp(argv[1], "own") == 0) {
        int failed = carried_check(&version);
        printf("%d\n", failed ? -failed : version);
        return failed != 0;
    }
    if (strcmp(argv[1], "load") == 0)
        load(argv + 2);
    else if (strcmp(argv[1], "share") == 0)
        share(argv + 2);
    else if (strcmp(argv[1], "repeat") == 0)
        repeat(argv + 2, 1000);
    else if (strcmp(argv[1], "threads") == 0)
        load_at_once(argv + 2);
    else if (strcmp(argv[1], "pages") == 0)
        look_at_pages();
    else if (strcmp(argv[1], "absent") == 0)
        printf("%d %d\n", carried_absent(), carried_absent());
    else if (strcmp(argv[1], "library") == 0)
        library(argv[2]);
    else if (strcmp(argv[1], "try") == 0) { /* an object that may be broken in any way that still loads */
        void *object = dlopen(argv[2], RTLD_NOW);
        printf("%s\n", object ? "loaded" : "refused");
    } else
        return 2;
    CHECK(carried_check(&version) == 0);
    puts("passed");
    return 0;
}
