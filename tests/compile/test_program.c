/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: what loading refuses and with which status and log, symbols and entries, code by block shape, and the disk
 * cache behind it. The code generation library is the fake of this folder. */
#include "program_support.h"

/* How often of these for a first version. */
static int in_a_hurry(void)
{
    FILE *file = fopen(counter, "r");
    int count = 0;
    for (int byte; file && (byte = fgetc(file)) != EOF;)
        count += byte == 'h';
    if (file)
        fclose(file);
    return count;
}

static const struct mr_code *code_for(struct mr_program *program, unsigned x, unsigned y)
{
    return code_of(program, 0, x, y);
}

static void refused(const char *text, CUresult expected, const char *words)
{
    char log[4096] = "", tiny[8];
    struct mr_program *program = NULL;
    assert_int_equal(load(text, log, sizeof log, &program), expected);
    assert_null(program);
    if (!strstr(log, words))
        fail_msg("'%s' is not in: %s", words, log);
    memset(tiny, 'x', sizeof tiny);
    assert_int_equal(load(text, tiny, sizeof tiny, &program), expected);
    assert_int_equal(tiny[sizeof tiny - 1], '\0');
}

static void bad_images_are_refused_with_a_reason(void **unused)
{
    (void)unused;
    refused("", CUDA_ERROR_INVALID_IMAGE, "image");
    refused("plain text", CUDA_ERROR_INVALID_IMAGE, "image");
    refused(".target sm_75\n.address_size 64\n" EMPTY("k"), CUDA_ERROR_INVALID_IMAGE, "");
    refused(".version 99.0\n.target sm_75\n.address_size 64\n" EMPTY("k"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "99");
    refused(".version 7.0\n.address_size 64\n" EMPTY("k"), CUDA_ERROR_INVALID_PTX, "target");
    refused(".version 8.0\n.target sm_90\n.address_size 64\n" EMPTY("k"), CUDA_ERROR_INVALID_PTX, "sm_90");
    refused(HEAD ".visible .entry k()\n{\n    frobnicate.u32 %r1;\n}\n", CUDA_ERROR_INVALID_PTX, "line 6");
    refused(HEAD ".visible .entry k()\n{\n    ret;\n", CUDA_ERROR_INVALID_PTX, "");
    refused(HEAD ".visible .entry k()\n{\n    .shared .b8 much[50000];\n    ret;\n}\n", CUDA_ERROR_INVALID_PTX,
            "50000");
}

static void symbols_and_entries_are_described(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(
        HEAD
        ".visible .global .align 4 .u32 counter = 7;\n"
        ".global .align 8 .u64 pointer[2] = {counter, 5};\n"
        ".visible .const .align 4 .u32 constants[4] = {1, 2};\n"
        ".func helper() { ret; }\n"
        ".visible .entry first(.param .u64 target, .param .u8 a, .param .u32 b) .maxntid 64, 2, 1 {\n"
        "    .shared .align 4 .b8 fixed[1000];\n    .reg .b32 %r<2>;\n    mov.u32 %r0, fixed;\n    st.shared.u32 [%r0], %r0;\n    ret;\n}\n"
        ".visible .entry second() .reqntid 32 { ret; }\n");
    assert_int_equal(mr_program_entry_count(program), 2);
    const struct mr_entry *first = mr_program_entry(program, 0), *second = mr_program_entry(program, 1);
    assert_string_equal(first->name, "first");
    assert_int_equal(first->param_count, 3);
    assert_int_equal(first->params[1].offset, 8);
    assert_int_equal(first->params[2].offset, 12);
    assert_int_equal(first->params[2].size, 4);
    assert_int_equal(first->param_bytes, 16);
    assert_int_equal(first->max_threads, 128);
    assert_int_equal(first->static_shared, 1000);
    assert_true(first->dynamic_offset >= 1000 && first->dynamic_offset % 16 == 0);
    assert_int_equal(first->constant_bytes, 16);
    assert_int_equal(first->ptx_version, 75);
    assert_int_equal(first->binary_version, 80);
    assert_int_equal(second->param_count, 0);
    assert_int_equal(second->max_threads, 1024);
    assert_int_equal(second->required[0], 32);
    assert_true(mr_program_symbol_count(program) >= 3);
    const struct mr_symbol *variable = mr_program_symbol(program, 0), *pointer = mr_program_symbol(program, 1),
                           *constants = mr_program_symbol(program, 2);
    assert_string_equal(variable->name, "counter");
    assert_int_equal(variable->what, MR_SYMBOL_VARIABLE);
    assert_int_equal(variable->size, 4);
    assert_int_equal(*(const uint32_t *)variable->initial, 7);
    assert_int_equal(pointer->size, 16);
    assert_int_equal(pointer->relocation_count, 1);
    assert_int_equal(pointer->relocations[0].symbol, 0);
    assert_int_equal(pointer->relocations[0].width, 8);
    assert_int_equal(((const uint64_t *)pointer->initial)[1], 5);
    assert_true(constants->constant && constants->visible && constants->size == 16);
    assert_int_equal(((const uint32_t *)constants->initial)[1], 2);
    assert_true(constants->initial_size == 8 || ((const uint32_t *)constants->initial)[2] == 0);
    assert_in_range(constants->initial_size, 8, 16);
    mr_program_drop(program);
}

static void code_is_made_once_per_class_of_shapes(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(HEAD EMPTY("k"));
    assert_int_equal(compiled(), 0);
    const struct mr_code *full = code_for(program, 64, 1);
    assert_ptr_equal(code_for(program, 256, 4), full);
    assert_int_equal(compiled(), 1);
    const struct mr_code *ragged = code_for(program, 33, 1);
    assert_ptr_not_equal(ragged, full);
    assert_ptr_equal(code_for(program, 5, 1), ragged);
    assert_ptr_not_equal(code_for(program, 8, 4), code_for(program, 7, 3));
    assert_int_equal(compiled(), 4);
    const struct mr_code *code;
    assert_int_equal(mr_program_code(program, 1, (unsigned[3]){1, 1, 1}, &code), CUDA_ERROR_INVALID_VALUE);
    mr_program_drop(program);
}

static void the_next_load_takes_code_from_disk(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct mr_program *program = loaded(HEAD EMPTY("k"));
        code_for(program, 32, 1);
        assert_int_equal(compiled(), 1);
        mr_program_drop(program);
    }
    struct mr_program *other = loaded(HEAD "\n" EMPTY("k"));
    code_for(other, 32, 1);
    assert_int_equal(compiled(), 2);
    mr_program_drop(other);
    setenv("MILLRACE_CPU_FEATURES", "+sse3", 1);
    struct mr_program *features = loaded(HEAD EMPTY("k"));
    code_for(features, 32, 1);
    assert_int_equal(compiled(), 3);
    mr_program_drop(features);
    unsetenv("MILLRACE_CPU_FEATURES");
}

/* One key, one entry of the cache: bad names give the default's. */
static void unknown_processors_give_the_default(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *value;
    } bad[] = {
        {"MILLRACE_CPU", "haswel"},
        {"MILLRACE_CPU", "native"},
        {"MILLRACE_CPU", "i386"},
        {"MILLRACE_CPU", " "},
        {"MILLRACE_CPU_FEATURES", "+x"},
        {"MILLRACE_CPU_FEATURES", "avx2"},
        {"MILLRACE_CPU_FEATURES", "-sse2"},
        {"MILLRACE_CPU_FEATURES", "-64bit"},
        {"MILLRACE_CPU_FEATURES", "+avx2,,+fma"},
        {"MILLRACE_CPU_FEATURES", "+soft-float"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv(bad[i].name, bad[i].value, 1);
        struct mr_code_settings settings = {0};
        assert_true(mr_code_settings_read(&settings));
        assert_null(settings.cpu);
        assert_null(settings.features);
        mr_code_settings_clear(&settings);
        unsetenv(bad[i].name);
    }
    setenv("MILLRACE_CPU", "haswell", 1);
    setenv("MILLRACE_CPU_FEATURES", "+avx2,-fma", 1);
    struct mr_code_settings settings = {0};
    assert_true(mr_code_settings_read(&settings));
    assert_string_equal(settings.cpu, "haswell");
    assert_string_equal(settings.features, "+avx2,-fma");
    mr_code_settings_clear(&settings);
    unsetenv("MILLRACE_CPU");
    unsetenv("MILLRACE_CPU_FEATURES");
}

static void failures_of_code_generation_are_reported(void **unused)
{
    (void)unused;
    const struct mr_code *code = NULL;
    struct mr_program *program = loaded(HEAD EMPTY("refuse") EMPTY("damage"));
    assert_int_equal(mr_program_code(program, 0, (unsigned[3]){32, 1, 1}, &code), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(mr_program_code(program, 1, (unsigned[3]){32, 1, 1}, &code), CUDA_ERROR_INVALID_IMAGE);
    assert_null(code);
    mr_program_drop(program);
}

static void dumps_are_written(void **unused)
{
    (void)unused;
    setenv("MILLRACE_DUMP", dump, 1);
    struct mr_program *program = loaded(HEAD EMPTY("k"));
    code_for(program, 32, 1);
    mr_program_drop(program);
    assert_int_equal(clear(dump), 2);
    /* Lists of stages; a word that is none is passed over beside one that is. */
    static const struct {
        const char *stages;
        int files;
    } cases[] = {{"ptx", 1}, {"ir,asm", 1}, {"ptx,ir,asm", 2}, {"asm", 0}, {"ptx,cubin", 1}};
    setenv("MILLRACE_DUMP_DIR", dump, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("MILLRACE_DUMP", cases[i].stages, 1);
        program = loaded(HEAD EMPTY("k"));
        code_for(program, 32, 1);
        mr_program_drop(program);
        assert_int_equal(clear(dump), cases[i].files);
    }
    unsetenv("MILLRACE_DUMP_DIR");
    unsetenv("MILLRACE_DUMP");
}

/* Each allocation in turn fails: the status says so, or the load has managed without; nothing is lost. */
static void memory_shortage_anywhere(void **unused)
{
    (void)unused;
    uint64_t before = mr_alloc_live();
    for (uint64_t n = 1; n < 400; n++) {
        struct mr_program *program = NULL;
        const struct mr_code *code = NULL;
        mr_alloc_fail_after(n);
        CUresult status = load(HEAD ".global .u32 v[2] = {1, 2};\n.global .u64 p = v;\n" EMPTY("k"), NULL, 0, &program);
        if (status == CUDA_SUCCESS) {
            CUresult made = mr_program_code(program, 0, (unsigned[3]){32, 1, 1}, &code);
            assert_true(made == CUDA_SUCCESS || made == CUDA_ERROR_OUT_OF_MEMORY);
            mr_program_drop(program);
        } else
            assert_int_equal(status, CUDA_ERROR_OUT_OF_MEMORY);
        mr_alloc_fail_after(0);
        assert_int_equal(mr_alloc_live(), before);
    }
}

static void *race(void *data)
{
    const struct mr_code *code = NULL;
    struct mr_program *program = data;
    for (unsigned i = 1; i < 64; i++)
        if (mr_program_code(program, 0, (unsigned[3]){i, 1, 1}, &code) != CUDA_SUCCESS)
            return program;
    return NULL;
}

static void threads_share_the_code(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(HEAD EMPTY("k"));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race, program), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(compiled(), 2);
    mr_program_hold(program);
    mr_program_drop(program);
    mr_program_drop(program);
}

/* More programs than keep their trees: the text of the others is parsed again, and the generator sees the same kernels.
 */
static void programs_that_were_not_used_lately_get_code_too(void **unused)
{
    (void)unused;
    enum { COUNT = 20 };
    struct mr_program *programs[COUNT];
    char text[200];
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("k") EMPTY("refuse"), i);
        programs[i] = loaded(text);
    }
    for (int i = 0; i < COUNT; i++) {
        const struct mr_code *code = NULL;
        assert_string_equal(code_for(programs[i], 32, 1)->name, "k");
        assert_int_equal(mr_program_code(programs[i], 1, (unsigned[3]){32, 1, 1}, &code), CUDA_ERROR_INVALID_PTX);
    }
    assert_int_equal(compiled(), 2 * COUNT);
    for (int i = 0; i < COUNT; i++)
        mr_program_drop(programs[i]);
}

/* Each allocation of a parse for the second time fails. */
static void memory_shortage_when_code_is_made_late(void **unused)
{
    (void)unused;
    uint64_t before = mr_alloc_live();
    setenv("MILLRACE_CACHE", "off", 1);
    mr_cache_reset();
    for (uint64_t n = 1; n < 100; n++) {
        struct mr_program *late = loaded(HEAD EMPTY("k")), *others[8];
        const struct mr_code *code = NULL;
        char text[100];
        for (int i = 0; i < 8; i++) {
            snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("k"), i);
            others[i] = loaded(text);
        }
        mr_alloc_fail_after(n);
        CUresult status = mr_program_code(late, 0, (unsigned[3]){32, 1, 1}, &code);
        assert_true(status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY);
        mr_alloc_fail_after(0);
        assert_non_null(code_for(late, 32, 1));
        mr_program_drop(late);
        for (int i = 0; i < 8; i++)
            mr_program_drop(others[i]);
        assert_int_equal(mr_alloc_live(), before);
    }
}

static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* A kernel of 400 instructions, whose tree has some 140 KB, and whose number is in its text. */
static void write_kernel(char *text, size_t room, int number)
{
    int length = snprintf(
        text, room, HEAD "// %d\n.visible .entry k()\n{\n    .reg .u32 %%r<4>;\n    mov.u32 %%r1, %%tid.x;\n", number);
    for (int i = 0; i < 400; i++)
        length += snprintf(text + length, room - (size_t)length, "    mad.lo.u32 %%r2, %%r1, %d, %%r2;\n", number + i);
    snprintf(text + length, room - (size_t)length, "    ret;\n}\n");
}

#if defined(MR_ASAN) || defined(MR_TSAN)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* 400 programs with their code take 400 times 40 KB at most, four times what they do, and less than a third of their
 * trees'. */
static void programs_take_little_memory(void **unused)
{
    (void)unused;
    enum { COUNT = 400, EACH = 40 << 10 };
    static struct mr_program *programs[COUNT];
    static char text[20000];
    if (SANITIZED)
        skip(); /* a sanitizer's allocator keeps what was freed */
    long before = 0;
    for (int i = -20; i < COUNT; i++) {
        write_kernel(text, sizeof text, 10000 + i);
        struct mr_program *program = loaded(text);
        code_for(program, 32, 1);
        if (i < 0)
            mr_program_drop(program); /* whatever is made once */
        else
            programs[i] = program;
        if (i == -1)
            before = resident_bytes();
    }
    long grown = resident_bytes() - before;
    for (int i = 0; i < COUNT; i++)
        mr_program_drop(programs[i]);
    if (grown > (long)COUNT * EACH)
        fail_msg("%d programs take %ld bytes each", COUNT, grown / COUNT);
}

static void programs_that_come_and_go_leave_nothing(void **unused)
{
    (void)unused;
    static char text[20000];
    if (SANITIZED)
        skip();
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        write_kernel(text, sizeof text, 20000 + i);
        struct mr_program *program = loaded(text);
        code_for(program, 32, 1);
        mr_program_drop(program);
        if (i == 100)
            before = resident_bytes();
    }
    long grown = resident_bytes() - before;
    if (grown > 8 << 20)
        fail_msg("1,899 programs left %ld bytes", grown);
}

/* What is run in the first version is counted; once it is enough a better one is made, once, and takes the place, in
 * memory and on disk. */
static void hot_code_is_made_again(void **unused)
{
    (void)unused;
    struct mr_program *program = loaded(HEAD EMPTY("k"));
    const struct mr_code *first = code_for(program, 32, 1);
    assert_non_null(first->tier);
    assert_int_equal(compiled(), 1);
    mr_code_ran(first, first->tier->enough - 1);
    mr_tiers_settle();
    assert_ptr_equal(mr_code_now(first), first);
    mr_code_ran(first, 1);
    mr_tiers_settle();
    const struct mr_code *better = mr_code_now(first);
    assert_ptr_not_equal(better, first);
    assert_null(better->tier);
    assert_ptr_equal(mr_code_now(better), better);
    assert_ptr_equal(code_for(program, 32, 1), better);
    assert_int_equal(compiled(), 2);
    mr_code_ran(first, first->tier->enough);
    mr_tiers_settle();
    assert_ptr_equal(mr_code_now(first), better);
    assert_int_equal(compiled(), 2);
    /* Another shape begins with a first version of its own. */
    assert_non_null(code_for(program, 33, 1)->tier);
    mr_program_drop(program);
    struct mr_program *again = loaded(HEAD EMPTY("k"));
    assert_null(code_for(again, 32, 1)->tier);
    assert_non_null(code_for(again, 33, 1)->tier);
    assert_int_equal(compiled(), 3);
    assert_int_equal(in_a_hurry(), 2);
    mr_program_drop(again);
}

/* A program that says how much to optimise, and a user who says that it shall be at once. */
static void code_that_is_optimised_at_once_stays(void **unused)
{
    (void)unused;
    struct mr_program_options options = {.capability = 80, .optimisation = 4, .level_is_said = true};
    struct mr_program *program = NULL;
    assert_int_equal(mr_program_load(HEAD EMPTY("k"), (size_t)-1, &options, &program), CUDA_SUCCESS);
    assert_null(code_for(program, 32, 1)->tier);
    mr_program_drop(program);
    setenv("MILLRACE_OPTIMISE_AFTER", "0", 1);
    program = loaded(HEAD EMPTY("k"));
    assert_null(code_for(program, 33, 1)->tier);
    mr_program_drop(program);
    setenv("MILLRACE_OPTIMISE_AFTER", "7", 1);
    program = loaded(HEAD EMPTY("k"));
    unsetenv("MILLRACE_OPTIMISE_AFTER");
    assert_int_equal(code_for(program, 8, 4)->tier->enough, 7000);
    mr_program_drop(program);
    assert_int_equal(compiled(), 3);
    assert_int_equal(in_a_hurry(), 1);
}

/* The first version goes on; its program may end before the better one is there; and many may be hot at a time. */
static void better_versions_may_fail_or_come_late(void **unused)
{
    (void)unused;
    enum { COUNT = 40 };
    uint64_t before = mr_alloc_live();
    struct mr_program *program = loaded(HEAD EMPTY("refuse_later"));
    const struct mr_code *first = code_for(program, 32, 1);
    mr_code_ran(first, first->tier->enough);
    mr_tiers_settle();
    assert_true(first->tier->watched); /* its runs are announced to nobody any more */
    assert_ptr_equal(mr_code_now(first), first);
    assert_ptr_equal(code_for(program, 32, 1), first);
    mr_program_drop(program);
    for (int i = 0; i < COUNT; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("k"), i);
        program = loaded(text);
        for (unsigned x = 32; x < 34; x++) {
            first = code_for(program, x, 1);
            mr_code_ran(first, first->tier->enough);
        }
        if (i % 2)
            assert_non_null(code_for(program, 7, 3)); /* while the others are being made */
        mr_program_drop(program);
    }
    mr_tiers_settle();
    assert_in_range(compiled(), 2 + 2 * COUNT + COUNT / 2, 2 + 4 * COUNT + COUNT / 2);
    assert_int_equal(mr_alloc_live(), before);
}

/* One run that goes on for long is enough: the better version is there before it ends. */
static void long_runs_are_noticed_under_way(void **unused)
{
    (void)unused;
    unsigned turn = 0;
    uint64_t before = mr_alloc_live();
    struct mr_program *program = loaded(HEAD EMPTY("k"));
    const struct mr_code *first = code_for(program, 32, 1);
    uint64_t run = mr_code_begins(first, &turn), other = mr_code_begins(first, &turn);
    assert_true(run != 0 && other != 0);
    mr_code_ends(first, other);
    while (mr_code_now(first) == first)
        sched_yield();
    assert_true(atomic_load(&first->tier->spent) >= first->tier->enough);
    mr_code_ends(first, run);
    mr_tiers_settle();
    assert_int_equal(compiled(), 2);
    assert_int_equal(in_a_hurry(), 1);
    mr_program_drop(program);
    assert_int_equal(mr_alloc_live(), before);
}

/* A run may end, and its program with it, while somebody looks at it. */
static void runs_that_are_looked_at_may_end(void **unused)
{
    (void)unused;
    enum { COUNT = 300 };
    uint64_t before = mr_alloc_live();
    setenv("MILLRACE_OPTIMISE_AFTER", "20", 1);
    for (unsigned i = 0; i < COUNT; i++) {
        unsigned turn = 0;
        struct mr_program *program = loaded(HEAD EMPTY("k"));
        const struct mr_code *first = code_for(program, 32 + i % 2, 1);
        for (unsigned k = 0; k < i % 4 && first->tier; k++) {
            uint64_t run = mr_code_begins(first, &turn);
            for (volatile unsigned spin = 0; spin < i * 100; spin++)
                ;
            mr_code_ends(first, run);
        }
        mr_program_drop(program);
        if (i % 10 == 0) {
            mr_tiers_settle(); /* before its cache is cleared */
            clear(root);
            assert_int_equal(mkdir(root, 0700), 0);
        }
    }
    unsetenv("MILLRACE_OPTIMISE_AFTER");
    mr_tiers_settle();
    assert_int_equal(mr_alloc_live(), before);
}

static void make_hot(struct mr_program *program)
{
    const struct mr_code *first = code_for(program, 32, 1);
    mr_code_ran(first, first->tier->enough);
}

/* While one better version is being made, modules that others wait for are unloaded: nothing is made of these. */
static void what_has_gone_is_not_made_again(void **unused)
{
    (void)unused;
    enum { COUNT = 20 };
    char gate[320];
    snprintf(gate, sizeof gate, "%s/gate", root);
    setenv("MILLRACE_FAKE_GATE", gate, 1);
    struct mr_program *gated = loaded(HEAD EMPTY("gated")), *stays = loaded(HEAD "// stays\n" EMPTY("k"));
    make_hot(gated);
    for (int i = 0; i < COUNT; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "// %d\n" EMPTY("k"), i);
        struct mr_program *program = loaded(text);
        make_hot(program);
        mr_program_drop(program);
    }
    make_hot(stays);
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    fclose(file);
    mr_tiers_settle();
    assert_null(code_for(gated, 32, 1)->tier);
    assert_null(code_for(stays, 32, 1)->tier);
    assert_int_equal(in_a_hurry(), 2 + COUNT);
    assert_int_equal(compiled(), 2 + COUNT + 2);
    mr_program_drop(gated);
    mr_program_drop(stays);
}

/* What has run longest, for what its optimised code costs, gets that first. */
static void the_hottest_is_made_first(void **unused)
{
    (void)unused;
    static const char *const texts[] = {HEAD EMPTY("gated"), HEAD EMPTY("a"), HEAD EMPTY("b"), HEAD EMPTY("c")};
    static const uint64_t heats[] = {100, 2, 5, 3};
    struct mr_program *programs[4];
    char gate[320], made[16] = "";
    snprintf(gate, sizeof gate, "%s/gate", root);
    setenv("MILLRACE_FAKE_GATE", gate, 1);
    for (int i = 0; i < 4; i++) {
        programs[i] = loaded(texts[i]);
        const struct mr_code *first = code_for(programs[i], 32, 1);
        mr_code_ran(first, first->tier->enough * heats[i]);
    }
    FILE *file = fopen(gate, "w");
    assert_non_null(file);
    fclose(file);
    mr_tiers_settle();
    file = fopen(counter, "r");
    assert_non_null(file);
    for (size_t n = 0, byte; n + 1 < sizeof made && (byte = (size_t)fgetc(file)) != (size_t)EOF;)
        if (byte != 'h')
            made[n++] = (char)byte;
    fclose(file);
    assert_string_equal(made, "GBCA");
    for (int i = 0; i < 4; i++)
        mr_program_drop(programs[i]);
}

/* Each allocation of a better version fails. */
static void memory_shortage_in_better_versions(void **unused)
{
    (void)unused;
    uint64_t before = mr_alloc_live();
    bool good = false;
    setenv("MILLRACE_CACHE", "off", 1);
    mr_cache_reset();
    for (uint64_t n = 1; n < 100 && !good; n++) {
        struct mr_program *program = loaded(HEAD EMPTY("k"));
        const struct mr_code *first = code_for(program, 32, 1);
        mr_alloc_fail_after(n);
        mr_code_ran(first, first->tier->enough);
        mr_tiers_settle();
        mr_alloc_fail_after(0);
        good = mr_code_now(first) != first;
        assert_ptr_equal(code_for(program, 32, 1), mr_code_now(first));
        mr_program_drop(program);
        assert_int_equal(mr_alloc_live(), before);
    }
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bad_images_are_refused_with_a_reason),
        TEST(symbols_and_entries_are_described),
        TEST(code_is_made_once_per_class_of_shapes),
        TEST(the_next_load_takes_code_from_disk),
        TEST(unknown_processors_give_the_default),
        TEST(failures_of_code_generation_are_reported),
        TEST(dumps_are_written),
        TEST(memory_shortage_anywhere),
        TEST(threads_share_the_code),
        TEST(programs_that_were_not_used_lately_get_code_too),
        TEST(memory_shortage_when_code_is_made_late),
        TEST(hot_code_is_made_again),
        TEST(code_that_is_optimised_at_once_stays),
        TEST(long_runs_are_noticed_under_way),
        TEST(runs_that_are_looked_at_may_end),
        TEST(better_versions_may_fail_or_come_late),
        TEST(what_has_gone_is_not_made_again),
        TEST(the_hottest_is_made_first),
        TEST(memory_shortage_in_better_versions),
        TEST(programs_take_little_memory),
        TEST(programs_that_come_and_go_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
