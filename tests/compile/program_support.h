/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs with the fake code generation library of this folder: a cache of each test's own, how often code
 * was generated, programs from text and their code. */
#ifndef TESTS_COMPILE_PROGRAM_SUPPORT_H
#define TESTS_COMPILE_PROGRAM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sanitizer.h"
#include "compile/cache.h"
#include "compile/codegen.h"
#include "compile/compile.h"
#include "compile/program.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define EMPTY(name) ".visible .entry " name "() { ret; }\n"

/* The fake can do everything. */
bool mr_codegen_check(const struct mr_ptx_module *module, struct mr_ptx_diag *diag)
{
    (void)module;
    (void)diag;
    return true;
}

static char root[256], counter[300], dump[300];

static int begin(void **unused)
{
    (void)unused;
    const char *temporary = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.200s/millrace-program-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(root))
        return -1;
    snprintf(counter, sizeof counter, "%s/count", root);
    snprintf(dump, sizeof dump, "%s/dump", root);
    setenv("MILLRACE_CACHE_DIR", root, 1);
    setenv("MILLRACE_CACHE", "on", 1);
    setenv("MILLRACE_FAKE_COUNT", counter, 1);
    unsetenv("MILLRACE_DUMP");
    mr_cache_reset();
    return 0;
}

/* Removes a folder's files, then the folder; returns how many there were. */
static int clear(const char *folder)
{
    int count = 0;
    char path[700];
    DIR *entries = opendir(folder);
    if (!entries)
        return 0;
    for (struct dirent *one; (one = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%.255s", folder, one->d_name);
        count += unlink(path) == 0;
    }
    closedir(entries);
    rmdir(folder);
    return count;
}

static int end(void **unused)
{
    (void)unused;
    clear(dump);
    clear(root);
    return 0;
}

/* How often the fake has generated code. */
static long compiled(void)
{
    struct stat facts;
    return stat(counter, &facts) == 0 ? (long)facts.st_size : 0;
}

static CUresult load(const char *text, char *log, size_t room, struct mr_program **out)
{
    struct mr_program_options options = {.capability = 80, .optimisation = 4, .error_log = log, .error_room = room};
    CUresult status = mr_program_load(text, (size_t)-1, &options, out);
    if (log)
        assert_true(options.error_used <= room && (status == CUDA_SUCCESS || options.error_used == strlen(log) + 1));
    return status;
}

static struct mr_program *loaded(const char *text)
{
    struct mr_program *program = NULL;
    assert_int_equal(load(text, NULL, 0, &program), CUDA_SUCCESS);
    return program;
}

/* The code of a kernel for blocks of x by y threads, which is that of the fake. */
static const struct mr_code *code_of(struct mr_program *program, size_t entry, unsigned x, unsigned y)
{
    const struct mr_code *code = NULL;
    assert_int_equal(mr_program_code(program, entry, (unsigned[3]){x, y, 1}, &code), CUDA_SUCCESS);
    assert_non_null(code->function);
    mr_kernel_call(code->function, NULL, 0, 1);
    assert_int_equal(code->flags, MR_CODE_WAITS);
    assert_int_equal(code->stack_bytes, 16384);
    return code;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
