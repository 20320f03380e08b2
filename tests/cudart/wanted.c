/* SPDX-License-Identifier: Apache-2.0 */
/* Which compute capability the registered images want (cudart/wanted.h), and what the log says of one that has nothing
 * for the device: the heads of good containers, and of ones that lie, before a page that can't be read. */
#include "expect.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libs/cudart/image_heads.h"
#include "libs/cudart/wanted.h"

void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaUnregisterFatBinary(void **fatCubinHandle);

struct wrapper {
    unsigned magic, version;
    const void *data;
    void *more;
};

static unsigned char *page; /* the next one can't be read */
static size_t page_size;

/* Entries of 64 + 8 bytes, with these kinds (1 PTX, 2 machine code) and targets, at the page's end; returns where the
 * container begins. */
static unsigned char *build(unsigned count, const unsigned short *kinds, const unsigned *targets)
{
    size_t size = 16 + (size_t)count * 72;
    unsigned char *at = page + page_size - size;
    const struct {
        unsigned magic;
        unsigned short version, size;
        unsigned long long rest;
    } head = {0xba55ed50u, 1, 16, size - 16};
    memset(page, 0, page_size);
    memcpy(at, &head, 16);
    for (unsigned i = 0; i < count; i++) {
        const struct {
            unsigned short kind, version;
            unsigned size;
            unsigned long long body;
            unsigned others[3], target;
        } entry = {kinds[i], 0x101, 64, 8, {0, 0, 0}, targets[i]};
        memcpy(at + 16 + i * 72, &entry, sizeof entry);
    }
    return at;
}

static unsigned wanted(const void *data, void *more)
{
    struct wrapper wrapper = {0x466243b1u, more ? 2 : 1, data, more};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    unsigned found = mr_rt_wanted_capability();
    __cudaUnregisterFatBinary(handle);
    return found;
}

static void test_good(void)
{
    static const unsigned short kinds[] = {2, 1, 1, 2};
    static const unsigned targets[] = {50, 120, 90, 80};
    HOLDS(mr_rt_wanted_capability() == 0);
    HOLDS(wanted(build(4, kinds, targets), NULL) == 90);
    HOLDS(wanted(build(1, kinds, targets), NULL) == 0); /* machine code alone */
    HOLDS(wanted(build(1, kinds + 1, targets), NULL) == 50);
    HOLDS(wanted(build(0, NULL, NULL), NULL) == 0);
    /* Of two images the one that wants more counts, and so do objects to be linked. */
    unsigned char *first = build(2, kinds + 1, targets + 1), copy[256];
    memcpy(copy, first, 16 + 144);
    HOLDS(wanted(first, NULL) == 90);
    struct wrapper wrapper = {0x466243b1u, 1, copy, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    HOLDS(wanted(build(1, kinds + 1, targets + 1), NULL) == 120);
    HOLDS(wanted(build(1, kinds + 1, targets), NULL) == 90);
    /* The last of several objects is the device runtime, which doesn't count. */
    void *objects[] = {build(1, kinds + 1, targets + 1), copy, NULL},
         *runtime[] = {copy, build(1, kinds + 1, targets + 1), NULL};
    HOLDS(wanted(copy, objects) == 120);
    HOLDS(wanted(copy, runtime) == 90);
    HOLDS(wanted(copy, objects + 1) == 90 && wanted(copy, runtime + 1) == 120); /* one alone is the program's own */
    __cudaUnregisterFatBinary(handle);
    /* Objects that are to be linked, one of machine code alone: they can't run, whatever the others hold. */
    unsigned char code[256];
    memcpy(code, build(1, kinds, targets), 16 + 72);
    void *mixed[] = {code, build(1, kinds + 1, targets + 1), build(1, kinds + 1, targets + 1), NULL};
    HOLDS(wanted(code, mixed) == 0);
    HOLDS(wanted(code, mixed + 1) == 120);
    HOLDS(mr_rt_wanted_capability() == 0);
}

static void test_lies(void)
{
    static const unsigned short kinds[] = {1, 1, 1};
    static const unsigned targets[] = {75, 90, 120};
    srand(3);
    for (int round = 0; round < 20000; round++) {
        unsigned char *at = build(3, kinds, targets);
        size_t size = 16 + 3 * 72;
        for (int change = rand() % 6; change >= 0; change--)
            at[(size_t)rand() % size] = (unsigned char)(rand() % 3 ? rand() : 0xff);
        if (rand() % 4 == 0)
            at = page + page_size - (size_t)(rand() % 100); /* cut short by the page's end */
        (void)wanted(at, NULL);
    }
    HOLDS(wanted((void *)16, NULL) == 0);
    HOLDS(wanted(page + page_size, NULL) == 0);
    HOLDS(wanted(build(1, kinds, targets), (void *)16) == 75);
    HOLDS(wanted(build(1, kinds, targets), page + page_size) == 75);
}

/* What the log says of such an image. */
static const char *told(const void *data)
{
    static char text[2048];
    char name[] = "/tmp/millrace-test-XXXXXX";
    int file = mkstemp(name), standard = dup(2);
    HOLDS(file >= 0 && standard >= 0 && dup2(file, 2) == 2);
    mr_rt_tell_no_code(data, NULL);
    HOLDS(dup2(standard, 2) == 2);
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    HOLDS(unlink(name) == 0 && close(file) == 0 && close(standard) == 0);
    return text;
}

static void test_told(void)
{
    static const unsigned short kinds[] = {2, 1};
    static const unsigned targets[] = {80, 120};
    static const unsigned char within[64]; /* of this program's own file */
    HOLDS(strstr(told(build(1, kinds, targets)), "holds machine code only"));
    HOLDS(strstr(told(build(2, kinds, targets)), "PTX for compute capability 12.0 and newer only: "
                                                 "MILLRACE_COMPUTE_CAPABILITY=12.0"));
    HOLDS(strstr(told(build(1, kinds, targets)), "the program"));
    HOLDS(strstr(told(within), "test_cudart_wanted"));
}

int main(void)
{
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mprotect(page + page_size, page_size, PROT_NONE) != 0)
        return 1;
    test_good();
    test_lies();
    test_told();
    return failures != 0;
}
