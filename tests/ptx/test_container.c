/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The container reader. Containers are assembled here, entry by entry, so that
 * each field can be damaged in turn. If the fatbinary tool of a CUDA toolkit is
 * in PATH, its own containers are read as well; else that test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "base/alloc.h"
#include "ptx/container.h"

#define PTX_TEXT(target) \
    ".version 7.0\n.target sm_" target "\n.address_size 64\n.visible .entry k() { ret; }\n// " target "\n"

enum { PLAIN, LZ4, ZSTD };

struct builder {
    unsigned char bytes[8192];
    size_t length;
};

static void put(unsigned char *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void start(struct builder *builder)
{
    memset(builder, 0, sizeof *builder);
    put(builder->bytes, 0xba55ed50, 4);
    put(builder->bytes + 4, 1, 2);
    put(builder->bytes + 6, 16, 2);
    builder->length = 16;
}

/* Adds an entry and returns its header. */
static unsigned char *add(struct builder *builder, unsigned kind, unsigned target, int method, const char *text)
{
    unsigned char *head = builder->bytes + builder->length, *data = head + 64;
    size_t room = sizeof builder->bytes - builder->length - 64, full = strlen(text), size = full;
    uint64_t flags = 0x11;
    assert_true(room > full + 512);
    if (method == PLAIN) {
        memcpy(data, text, full);
    } else if (method == LZ4) {
        size = (size_t)LZ4_compress_default(text, (char *)data, (int)full, (int)room);
        flags |= 0x2000;
    } else {
        size = ZSTD_compress(data, room, text, full, 3);
        flags |= 0x8000;
    }
    size_t padded = (size + 7) & ~(size_t)7;
    put(head, kind, 2);
    put(head + 2, 0x101, 2);
    put(head + 4, 64, 4);
    put(head + 8, padded, 8);
    put(head + 16, method == PLAIN ? 0 : size, 4);
    put(head + 28, target, 4);
    put(head + 40, flags, 8);
    put(head + 56, method == PLAIN ? 0 : full, 8);
    builder->length += 64 + padded;
    put(builder->bytes + 8, builder->length - 16, 8);
    return head;
}

static enum mr_ptx_container_status read_all(const struct builder *builder, uint32_t capability,
                                             struct mr_ptx_text *text)
{
    /* A copy of exactly the right size lets a sanitizer see reads behind it. */
    unsigned char *copy = malloc(builder->length ? builder->length : 1);
    assert_non_null(copy);
    memcpy(copy, builder->bytes, builder->length);
    enum mr_ptx_container_status status = mr_ptx_container_read(copy, builder->length, capability, text);
    if (status == MR_PTX_CONTAINER_OK && !text->owned) {
        text->owned = mr_memdup(text->text, text->length);
        text->text = text->owned;
    }
    free(copy);
    return status;
}

static void expect_text(const struct builder *builder, uint32_t capability, const char *expected)
{
    struct mr_ptx_text text;
    assert_int_equal(read_all(builder, capability, &text), MR_PTX_CONTAINER_OK);
    assert_true(text.length >= strlen(expected));
    assert_memory_equal(text.text, expected, strlen(expected));
    mr_ptx_text_free(&text);
    mr_ptx_text_free(&text);
}

static void expect_status(const struct builder *builder, enum mr_ptx_container_status expected)
{
    struct mr_ptx_text text;
    assert_int_equal(read_all(builder, 80, &text), expected);
    assert_null(text.text);
    assert_null(text.owned);
}

static void test_kinds(void **state)
{
    (void)state;
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
    static const unsigned char noise[] = {0xff, 0xfe, 0, 1};
    struct mr_ptx_text text;
    assert_int_equal(mr_ptx_container_read(elf, sizeof elf, 80, &text), MR_PTX_CONTAINER_NO_BINARY);
    assert_int_equal(mr_ptx_container_read(noise, sizeof noise, 80, &text), MR_PTX_CONTAINER_INVALID);
    assert_int_equal(mr_ptx_container_read("", 0, 80, &text), MR_PTX_CONTAINER_INVALID);
    assert_int_equal(mr_ptx_container_read("", MR_PTX_SIZE_UNKNOWN, 80, &text), MR_PTX_CONTAINER_INVALID);
    assert_int_equal(mr_ptx_container_read("//x", MR_PTX_SIZE_UNKNOWN, 80, &text), MR_PTX_CONTAINER_OK);
    assert_int_equal(text.length, 3);
    assert_null(text.owned);
    assert_int_equal(mr_ptx_container_read("\n.version", 5, 80, &text), MR_PTX_CONTAINER_OK);
    assert_int_equal(text.length, 5);
    for (size_t size = 0; size < sizeof elf; size++)
        assert_int_equal(mr_ptx_image_kind_find(elf, size), size < 4 ? MR_PTX_IMAGE_UNKNOWN : MR_PTX_IMAGE_ELF);
}

static void test_methods(void **state)
{
    (void)state;
    for (int method = PLAIN; method <= ZSTD; method++) {
        struct builder builder;
        start(&builder);
        add(&builder, 1, 80, method, PTX_TEXT("80"));
        expect_text(&builder, 80, PTX_TEXT("80"));
    }
}

/* The newest target that is not newer than the device. */
static void test_choice(void **state)
{
    (void)state;
    struct builder builder;
    start(&builder);
    add(&builder, 2, 80, PLAIN, "machine code");
    add(&builder, 1, 90, ZSTD, PTX_TEXT("90"));
    add(&builder, 1, 52, LZ4, PTX_TEXT("52"));
    add(&builder, 1, 75, ZSTD, PTX_TEXT("75"));
    add(&builder, 1, 60, PLAIN, PTX_TEXT("60"));
    add(&builder, 77, 80, PLAIN, "a kind that nobody knows");
    expect_text(&builder, 80, PTX_TEXT("75"));
    expect_text(&builder, 90, PTX_TEXT("90"));
    expect_text(&builder, 61, PTX_TEXT("60"));
    struct mr_ptx_text text;
    assert_int_equal(read_all(&builder, 50, &text), MR_PTX_CONTAINER_NO_BINARY);
    assert_int_equal(text.newer, 52);

    start(&builder);
    add(&builder, 2, 80, PLAIN, "machine code");
    expect_status(&builder, MR_PTX_CONTAINER_NO_BINARY);
    start(&builder);
    expect_status(&builder, MR_PTX_CONTAINER_NO_BINARY);
}

static void test_wrapper(void **state)
{
    (void)state;
    struct builder builder;
    struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1, 1, builder.bytes, NULL};
    struct mr_ptx_text text;
    start(&builder);
    add(&builder, 1, 80, LZ4, PTX_TEXT("80"));
    assert_int_equal(mr_ptx_container_read(&wrapper, MR_PTX_SIZE_UNKNOWN, 80, &text), MR_PTX_CONTAINER_OK);
    assert_int_equal(text.length, strlen(PTX_TEXT("80")));
    mr_ptx_text_free(&text);
    assert_int_equal(mr_ptx_container_read(&wrapper, sizeof wrapper - 1, 80, &text), MR_PTX_CONTAINER_INVALID);
    wrapper.data = NULL;
    assert_int_equal(mr_ptx_container_read(&wrapper, sizeof wrapper, 80, &text), MR_PTX_CONTAINER_INVALID);
    wrapper.data = "text";
    assert_int_equal(mr_ptx_container_read(&wrapper, sizeof wrapper, 80, &text), MR_PTX_CONTAINER_INVALID);
}

static void test_cut_short(void **state)
{
    (void)state;
    struct builder builder;
    start(&builder);
    add(&builder, 1, 80, ZSTD, PTX_TEXT("80"));
    size_t whole = builder.length;
    /* The first byte alone is the letter P, and so a text. */
    for (builder.length = 2; builder.length < whole; builder.length++)
        expect_status(&builder, MR_PTX_CONTAINER_INVALID);
}

/* One damaged field at a time. */
static void test_damage(void **state)
{
    (void)state;
    static const struct {
        int method;
        unsigned at, size; /* in the entry */
        uint64_t value;
    } cases[] = {
        {ZSTD, 4, 4, 0},      {ZSTD, 4, 4, 63},          {ZSTD, 4, 4, UINT32_MAX}, {ZSTD, 8, 8, UINT64_MAX},
        {ZSTD, 8, 8, 1},      {ZSTD, 16, 4, UINT32_MAX}, {ZSTD, 16, 4, 5},         {ZSTD, 56, 8, 0},
        {ZSTD, 56, 8, 10},    {ZSTD, 56, 8, UINT64_MAX}, {ZSTD, 64, 8, 0},         {LZ4, 56, 8, 0},
        {LZ4, 56, 8, 10},     {LZ4, 56, 8, UINT64_MAX},  {LZ4, 56, 8, 1 << 27},    {LZ4, 64, 8, UINT64_MAX},
        {LZ4, 40, 8, 0x8011}, {ZSTD, 40, 8, 0x2011},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct builder builder;
        start(&builder);
        unsigned char *entry = add(&builder, 1, 80, cases[i].method, PTX_TEXT("80"));
        put(entry + cases[i].at, cases[i].value, cases[i].size);
        expect_status(&builder, MR_PTX_CONTAINER_INVALID);
    }
    struct builder builder;
    start(&builder);
    add(&builder, 1, 80, PLAIN, PTX_TEXT("80"));
    put(builder.bytes + 8, UINT64_MAX, 8);
    expect_status(&builder, MR_PTX_CONTAINER_INVALID);
    put(builder.bytes + 8, 0, 8);
    expect_status(&builder, MR_PTX_CONTAINER_NO_BINARY);
    put(builder.bytes + 6, 8, 2);
    expect_status(&builder, MR_PTX_CONTAINER_INVALID);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct builder builder;
    struct mr_ptx_text text;
    start(&builder);
    add(&builder, 1, 80, ZSTD, PTX_TEXT("80"));
    mr_alloc_fail_after(1);
    assert_int_equal(mr_ptx_container_read(builder.bytes, builder.length, 80, &text), MR_PTX_CONTAINER_NO_MEMORY);
    mr_alloc_fail_after(0);
}

/* Runs the toolkit's fatbinary on `ptx` and reads what it wrote. */
static void read_toolkit(const char *folder, const char *option)
{
    char command[1024], path[512];
    struct builder builder;
    snprintf(path, sizeof path, "%s/out.fatbin", folder);
    snprintf(command, sizeof command,
             "fatbinary -64 %s --create=%s --image3=kind=ptx,sm=80,file=%s/in.ptx >/dev/null 2>&1", option, path,
             folder);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    builder.length = fread(builder.bytes, 1, sizeof builder.bytes, file);
    fclose(file);
    remove(path);
    expect_text(&builder, 80, ".version 7.0"); /* the tool drops the comment */
}

static void test_toolkit(void **state)
{
    (void)state;
    if (system("command -v fatbinary >/dev/null 2>&1") != 0)
        skip();
    const char *parent = getenv("TMPDIR");
    char folder[256], path[512];
    snprintf(folder, sizeof folder, "%s/mr-container-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/in.ptx", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(PTX_TEXT("80"), file);
    fclose(file);
    read_toolkit(folder, "--compress=false");
    read_toolkit(folder, "--compress-all");
    read_toolkit(folder, "--compress-all --compress-mode=speed");
    remove(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),   cmocka_unit_test(test_methods),       cmocka_unit_test(test_choice),
        cmocka_unit_test(test_wrapper), cmocka_unit_test(test_cut_short),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_toolkit), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
