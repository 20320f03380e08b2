/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers that wait (src/libs/nvrtc/standby.h), from outside: what they make is what a compiler of its own makes, to
 * the byte; threads, cancelling, their end, and that a program's children and descriptors stay its own. The library's
 * log says which way a compilation went. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <nvrtc.h>

static char log_path[300], cache[256];
static atomic_int serial;

static int begin(void **state)
{
    (void)state;
    const char *named = getenv("MILLRACE_CC");
    if (!(named && *named) && access("/usr/bin/clang-19", X_OK) != 0)
        skip();
    setenv("MILLRACE_STANDBY", "30", 1);
    return 0;
}

/* How many compilations a waiting process has done, by the log. */
static unsigned done_waiting(void)
{
    FILE *file = fopen(log_path, "r");
    char line[2000];
    unsigned count = 0;
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, "compiled by a process that waited") != NULL;
    if (file)
        fclose(file);
    return count;
}

struct job {
    const char *source, *name;
    const char *options[6];
    const char *header_name, *header;
    const char *expression;
};

struct made {
    nvrtcResult result;
    char *ptx, *log;
};

static struct made compile(const struct job *job)
{
    struct made made = {.ptx = NULL};
    nvrtcProgram program;
    size_t size;
    int count = 0;
    while (count < 6 && job->options[count])
        count++;
    assert_int_equal(
        nvrtcCreateProgram(&program, job->source, job->name, job->header != NULL, &job->header, &job->header_name),
        NVRTC_SUCCESS);
    if (job->expression)
        assert_int_equal(nvrtcAddNameExpression(program, job->expression), NVRTC_SUCCESS);
    made.result = nvrtcCompileProgram(program, count, job->options);
    assert_int_equal(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    made.ptx = calloc(1, size + 1);
    assert_int_equal(nvrtcGetPTX(program, made.ptx), NVRTC_SUCCESS);
    assert_int_equal(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    made.log = calloc(1, size + 1);
    assert_int_equal(nvrtcGetProgramLog(program, made.log), NVRTC_SUCCESS);
    nvrtcDestroyProgram(&program);
    return made;
}

static void forget(struct made *made)
{
    free(made->ptx);
    free(made->log);
}

/* The job with a line of its own, so that the disk cache has never seen it. The text's life is the test's. */
static char *fresh(const char *source)
{
    size_t room = strlen(source) + 80;
    char *text = malloc(room);
    snprintf(text, room, "%s\n// %ld %d %d\n", source, (long)time(NULL), getpid(), atomic_fetch_add(&serial, 1));
    return text;
}

/* Compiles until a process that waited has done it. */
static void warm(const struct job *job)
{
    unsigned before = done_waiting();
    for (int i = 0; i < 600 && done_waiting() == before; i++) {
        struct job again = *job;
        again.source = fresh(job->source);
        struct made made = compile(&again);
        forget(&made);
        free((char *)again.source);
        if (i > 3)
            usleep(100000);
    }
    assert_int_not_equal(done_waiting(), before);
}

/* Architectures that clang does not know: the source sees them, and nothing is said of that, neither by a compiler that
 * reads the precompiled device headers nor by one that waited. */
static void newer_architectures(void **state)
{
    (void)state;
    static const char *const numbers[] = {"100", "103", "120", "121"};
    for (size_t i = 0; i < 3 * sizeof numbers / sizeof *numbers; i++) {
        char source[160], option[32];
        snprintf(source, sizeof source,
                 "__global__ void k(int *p) { static_assert(__CUDA_ARCH__ == %s0); *p = %zu; }\n", numbers[i / 3], i);
        snprintf(option, sizeof option, "-arch=compute_%s", numbers[i / 3]);
        struct job job = {.source = source, .name = "newer.cu", .options = {option}};
        struct made made = compile(&job);
        assert_int_equal(made.result, NVRTC_SUCCESS);
        assert_string_equal(made.log, "");
        forget(&made);
    }
}

/* A process waits also for programs that name folders which are gone, a new one each time, as CuPy does; errors still
 * show the program's name. */
static void folders_that_are_gone(void **state)
{
    (void)state;
    static const char right[] = "extern \"C\" __global__ void k(int *p) { *p = 11; }", wrong[] = "\nint x = missing;";
    unsigned before = done_waiting();
    for (int i = 0; i < 600 && done_waiting() == before; i++) {
        char name[80];
        snprintf(name, sizeof name, "/tmp/millrace-gone-%d-%d/kern.cu", getpid(), i);
        char *source = fresh(right);
        struct made made = compile(&(struct job){.source = source, .name = name, .options = {"-DGONE"}});
        assert_int_equal(made.result, NVRTC_SUCCESS);
        forget(&made);
        free(source);
        if (i > 3)
            usleep(100000);
    }
    assert_int_not_equal(done_waiting(), before);
    struct made made =
        compile(&(struct job){.source = wrong, .name = "/tmp/millrace-gone/kern.cu", .options = {"-DGONE"}});
    assert_non_null(strstr(made.log, "/tmp/millrace-gone/kern.cu(2): error: "));
    forget(&made);
}

/* The same in a process that waits and in one of its own. */
static const struct job jobs[] = {
    {.source = "extern \"C\" __global__ void k(float *p) { p[threadIdx.x] = sinf(p[threadIdx.x]) * N; }",
     .name = "macro.cu",
     .options = {"-DN=3", "-DUNUSED", "-D", "TWICE(x)=((x) * 2)", "-UUNUSED"}},
    {.source = "#include \"some/values.h\"\nextern \"C\" __global__ void k(int *p) { *p = VALUE; }",
     .name = "headers.cu",
     .header_name = "some/values.h",
     .header = "#define VALUE 42\n"},
    {.source =
         "template <class T> __global__ void k(T *p) { __shared__ T s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); *p = s[5]; }",
     .name = "name.cu",
     .expression = "k<double>",
     .options = {"-arch=sm_90", "-std=c++20"}},
    {.source = "\nextern \"C\" __global__ void k(int *p) {\n p[0] = p[1] / 3;\n}",
     .name = "lines.cu",
     .options = {"-lineinfo"}},
    {.source =
         "#include <cuda_fp16.h>\n\n#include <cuda_bf16.h>\nextern \"C\" __global__ void k(__half *p) {\n *p = __hadd(p[0], p[1]);\n}",
     .name = "includes.cu",
     .options = {"-lineinfo"}},
    {.source =
         "#include <cuda_fp16.h>\n\nextern \"C\" __global__ void k(__half *p, int n) {\n for (int i = 0; i < n; i++)\n  p[i] = __hadd(p[i], p[1]);\n}",
     .name = "debug.cu",
     .options = {"-G"}},
    {.source = "extern \"C\" __global__ void k(int *p) { int a[2] = { 1, 2 };\n *p = a[7]; }", .name = "warns.cu"},
    {.source = "#include \"h.h\"\nextern \"C\" __global__ void k(int *p) { *p = f(); }",
     .name = "warns in header.cu",
     .header_name = "h.h",
     .header = "__device__ int f() {\n int a[2] = { 1, 2 };\n return a[9]; }\n"},
    {.source = "extern \"C\" __global__ void k(int *p) {\n *p = missing; }", .name = "wrong.cu"},
    {.source = "extern \"C\" __global__ void k(int *p) {\n *p = 1;", .name = "open.cu"},
    {.source = "\n#include \"some/h.h\"\nextern \"C\" __global__ void k(int *p) { *p = 1; }",
     .name = "no header.cu",
     .header_name = "some/h.h",
     .header = "int a;\n#include \"beside.h\"\n"},
    {.source = "int f(int x) { return x + 1; }\nextern \"C\" __global__ void k(int *p) { assert(*p); *p = f(*p); }",
     .name = "default.cu",
     .options = {"-default-device", "-DNDEBUG"}},
};

static void same_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct job job = jobs[i], right = jobs[i];
        bool lacks = strcmp(job.name, "no header.cu") == 0, debug = strcmp(job.name, "debug.cu") == 0,
             fails = lacks || strcmp(job.name, "wrong.cu") == 0 || strcmp(job.name, "open.cu") == 0;
        if (fails)
            right.source = "__global__ void k() {}";
        if (debug)
            right.options[0] = "-lineinfo";
        warm(&right);
        char *source = fresh(job.source);
        job.source = source;
        unsigned before = done_waiting();
        struct made one = compile(&job);
        /* Other failures are run again elsewhere, and code for debuggers is never compiled there. */
        assert_int_equal(done_waiting(), before + ((!fails || lacks) && !debug));
        setenv("MILLRACE_STANDBY", "0", 1);
        /* Another line behind the end: for the disk cache alone. */
        char *again = fresh(jobs[i].source);
        job.source = again;
        struct made other = compile(&job);
        setenv("MILLRACE_STANDBY", "30", 1);
        assert_int_equal(one.result, fails ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS);
        assert_int_equal(one.result, other.result);
        assert_string_equal(one.log, other.log);
        assert_string_equal(one.ptx, other.ptx);
        if (lacks)
            assert_non_null(strstr(one.log, "some/h.h(2): catastrophic error: cannot open source file \"beside.h\"\n"));
        if (strncmp(job.name, "warns", 5) == 0)
            assert_non_null(strstr(one.log, "warning: array index"));
        forget(&one);
        forget(&other);
        free(source);
        free(again);
    }
}

/* A change of a macro or of an in-memory header between two compilations is seen. */
static void nothing_stale(void **state)
{
    (void)state;
    struct job job = {.source = "#include \"v.h\"\nextern \"C\" __global__ void k(int *p) { *p = A + B; }",
                      .name = "stale.cu",
                      .options = {"-DA=1000"},
                      .header_name = "v.h",
                      .header = "#define B 1\n"};
    warm(&job);
    static const char *const macros[] = {"-DA=2000", "-DA=3000", "-DA=4000"}, *const headers[] = {"#define B 7\n",
                                                                                                  "#define B 8\n",
                                                                                                  "#define B 9\n"};
    for (int i = 0; i < 9; i++) {
        char number[16];
        job.options[0] = macros[i / 3];
        job.header = headers[i % 3];
        struct made made = compile(&job);
        assert_int_equal(made.result, NVRTC_SUCCESS);
        snprintf(number, sizeof number, "%d", (i / 3 + 2) * 1000 + 7 + i % 3);
        assert_non_null(strstr(made.ptx, number));
        forget(&made);
    }
}

static void write_header(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Whether the last compilation was in a process that had read the includes. */
static bool had_read(void)
{
    FILE *file = fopen(log_path, "r");
    char line[2000];
    bool last = false;
    while (file && fgets(line, sizeof line, file))
        if (strstr(line, "compiled by a process that waited"))
            last = strstr(line, "had read its includes") != NULL;
    if (file)
        fclose(file);
    return last;
}

/* Compiles the job's source, fresh, and finds the text in its PTX, or in its log. */
static void expect(const struct job *job, const char *ptx, const char *log)
{
    struct job again = *job;
    again.source = fresh(job->source);
    struct made made = compile(&again);
    assert_int_equal(made.result, NVRTC_SUCCESS);
    if (!strstr(made.ptx, ptx) || !strstr(made.log, log) || strstr(made.log, "millrace-standby"))
        fail_msg("expected '%s' and '%s' in:\n%s\n%s", ptx, log, made.ptx, made.log);
    forget(&made);
    free((char *)again.source);
}

/* A process that waits has read the program's first includes. They are read once, after the macros; what has changed
 * since is seen; what the compiler says about them is in each log; lines are counted as in the source; errors are told
 * as ever. */
static void reads_includes(void **state)
{
    (void)state;
    char folder[300], option[320], path[400];
    snprintf(folder, sizeof folder, "%s-headers", cache);
    snprintf(option, sizeof option, "-I%s", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    /* Without guards, so that a second reading would be an error; asking for a macro of the program's. */
    write_header(folder, "one.h", "__device__ int one(int x) { return x + A; }\n");
    write_header(folder, "two.h", "#include <one.h>\n#undef A\n#define A 555\n");
    sleep(1); /* older than all compilers */
    struct job job = {
        .name = "/tmp/millrace-gone/kern.cu",
        .options = {option, "-DA=333"},
        .source =
            "\n#include <cuda_fp16.h>\n # include  <two.h> \n\nextern \"C\" __global__ void k(int *p) {\n *p = one(*p);\n p[__LINE__] = A * 1000; }\n"};
    warm(&job);
    expect(&job, ", 333;", "");
    assert_true(had_read());
    expect(&job, ", 555000;", "");
    expect(&job, "+28]", ""); /* line 7 */
    /* Other macros: another compiler. */
    job.options[1] = "-DA=444";
    expect(&job, ", 444;", "");
    warm(&job);
    expect(&job, ", 444;", "");
    assert_true(had_read());
    /* An error, and a warning in the source. */
    struct job wrong = job;
    wrong.source =
        "#include <cuda_fp16.h>\n#include <two.h>\nint f() { return missing; }\n__global__ void k() { f(); }";
    warm(&(struct job){
        .name = job.name, .options = {option, "-DA=444"}, .source = "#include <cuda_fp16.h>\n#include <two.h>\n"});
    struct made made = compile(&wrong);
    assert_int_equal(made.result, NVRTC_ERROR_COMPILATION);
    assert_non_null(strstr(made.log, "/tmp/millrace-gone/kern.cu(3): error: "));
    assert_null(strstr(made.log, "millrace-standby"));
    forget(&made);
    wrong.source =
        "#include <cuda_fp16.h>\n#include <two.h>\n__global__ void k(int *p) { int a[2] = { 1 }; *p = a[7]; }";
    expect(&wrong, "entry", "/tmp/millrace-gone/kern.cu(3): warning: array index");
    assert_true(had_read());
    /* A header that changes. */
    write_header(folder, "one.h", "__device__ int one(int x) { return x + 777; }\n");
    expect(&job, ", 777;", "");
    expect(&job, ", 777;", "");
    warm(&job);
    expect(&job, ", 777;", "");
    /* One of which the compiler has something to say, at once or where it is used. */
    write_header(folder, "three.h", "#warning three\n");
    write_header(folder, "four.h", "template <class T> __device__ T four() { T a[2] = { 1 }; return a[9]; }\n");
    sleep(1);
    job.source = "#include <three.h>\nextern \"C\" __global__ void k(int *p) { *p = 4321; }";
    warm(&job);
    assert_false(had_read());
    expect(&job, ", 4321;", "three.h(1): warning: three");
    job.source = "#include <four.h>\nextern \"C\" __global__ void k(int *p) { *p = four<int>(); }";
    for (int i = 0; i < 12; i++) {
        expect(&job, "entry", "four.h(1): warning: array index");
        usleep(100000);
    }
    /* Functions without a word for where they run, in a header too. */
    write_header(folder, "five.h", "int five(int x) { return x + 5555; }\n");
    sleep(1);
    job.source =
        "#include <five.h>\nint six(int x) { return five(x); }\nextern \"C\" __global__ void k(int *p) { *p = six(*p); }";
    job.options[2] = "-default-device";
    warm(&job);
    expect(&job, ", 5555;", "");
    assert_true(had_read());
    static const char *const names[] = {"one.h", "two.h", "three.h", "four.h", "five.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void *compile_many(void *data)
{
    uintptr_t seed = (uintptr_t)data;
    char source[200], number[24];
    for (unsigned i = 0; i < 6; i++) {
        unsigned value = (unsigned)seed * 100 + i + 77000;
        snprintf(source, sizeof source, "extern \"C\" __global__ void k(int *p) { *p = %u; } // %d %ld", value,
                 getpid(), (long)time(NULL));
        struct job job = {.source = source, .name = "thread.cu"};
        struct made made = compile(&job);
        snprintf(number, sizeof number, ", %u;", value);
        bool good = made.result == NVRTC_SUCCESS && strstr(made.ptx, number);
        forget(&made);
        if (!good)
            return "wrong";
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t thread[4];
    warm(&(struct job){.source = "__global__ void k() {}", .name = "thread.cu"});
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, compile_many, (void *)i), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
}

static int refuse(void *data, void *unused)
{
    (void)unused;
    ++*(int *)data;
    return 1;
}

static void cancelled(void **state)
{
    (void)state;
    static char source[200000];
    size_t at = 0;
    int asked = 0;
    warm(&(struct job){.source = "__global__ void k() {}", .name = "cancel.cu"});
    for (int i = 0; at < sizeof source - 200; i++)
        at += (size_t)snprintf(source + at, sizeof source - at,
                               "__global__ void k%d(float *p) { for (int i = 0; i < 9; i++) p[i] = sinf(p[i]); }\n", i);
    nvrtcProgram program;
    char *text = fresh(source);
    assert_int_equal(nvrtcCreateProgram(&program, text, "cancel.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    assert_int_equal(nvrtcSetFlowCallback(program, refuse, &asked), NVRTC_SUCCESS);
    assert_int_equal(nvrtcCompileProgram(program, 0, NULL), NVRTC_ERROR_CANCELLED);
    assert_true(asked > 0);
    nvrtcDestroyProgram(&program);
    free(text);
}

/* Processes with this test's cache in their environment, except for this one and its children that are being looked for
 * elsewhere. */
static unsigned processes(void)
{
    DIR *folder = opendir("/proc");
    unsigned count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[300], facts[16384];
        if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || atoi(entry->d_name) == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        int fd = open(path, O_RDONLY);
        ssize_t got = fd >= 0 ? read(fd, facts, sizeof facts) : 0;
        if (fd >= 0)
            close(fd);
        if (got > 0 && memmem(facts, (size_t)got, cache, strlen(cache)) &&
            memmem(facts, (size_t)got, "MILLRACE_STANDBY_SECONDS=", 25))
            count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

static void wait_for_none(void)
{
    for (int i = 0; i < 600 && processes(); i++)
        usleep(100000);
    assert_int_equal(processes(), 0);
}

/* The program's wait() finds no child of ours; what it has open is not held open; the compiler ends with it. */
static void leaves_nothing(void **state)
{
    (void)state;
    int pipe_ends[2];
    char byte;
    assert_int_equal(pipe(pipe_ends), 0); /* handed on to children, as a careless program does it */
    pid_t child = fork();
    if (child == 0) {
        close(pipe_ends[0]);
        warm(&(struct job){.source = "__global__ void k() {}", .name = "leaves.cu", .options = {"-arch=sm_86"}});
        bool alive = processes() > 0;
        _exit(alive && wait(NULL) < 0 && errno == ECHILD ? 0 : 1);
    }
    close(pipe_ends[1]);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(pipe_ends[0], &byte, 1), 0);
    close(pipe_ends[0]);
}

/* One that has waited long enough ends, and the next compilations begin again. */
static void expires(void **state)
{
    (void)state;
    struct job job = {.source = "__global__ void k() {}", .name = "expires.cu", .options = {"-arch=sm_87"}};
    setenv("MILLRACE_STANDBY", "2", 1);
    pid_t child = fork();
    if (child == 0) {
        warm(&job);
        wait_for_none();
        warm(&job);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wait_for_none();
}

int main(void)
{
    const char *folder = getenv("MR_TEST_FOLDER");
    snprintf(cache, sizeof cache, "%.200s/standby-%d", folder ? folder : "/tmp", getpid());
    snprintf(log_path, sizeof log_path, "%s.log", cache);
    setenv("MILLRACE_CACHE_DIR", cache, 1);
    setenv("MILLRACE_LOG", "debug", 1);
    setenv("MILLRACE_LOG_FILE", log_path, 1);
    const struct CMUnitTest tests[] = {
        /* First those that need a process without compilers of its own. */
        cmocka_unit_test_setup(leaves_nothing, begin),      cmocka_unit_test_setup(expires, begin),
        cmocka_unit_test_setup(newer_architectures, begin), cmocka_unit_test_setup(folders_that_are_gone, begin),
        cmocka_unit_test_setup(same_result, begin),         cmocka_unit_test_setup(nothing_stale, begin),
        cmocka_unit_test_setup(reads_includes, begin),      cmocka_unit_test_setup(threads, begin),
        cmocka_unit_test_setup(cancelled, begin),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(log_path);
    DIR *open_folder = opendir(cache);
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(open_folder), entry->d_name, 0);
    if (open_folder)
        closedir(open_folder);
    rmdir(cache);
    return failed;
}
