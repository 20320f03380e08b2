/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the driver lies a code generation library of another build (MILLRACE_COMPILER, other_compiler.c): it is
 * refused, the log says what to do, and what needs no machine code goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/log.h"
#include "compile/codegen.h"
#include "compile/compile.h"

bool mr_codegen_check(const struct mr_ptx_module *module, struct mr_ptx_diag *diag)
{
    (void)module, (void)diag;
    return true;
}

static char log_file[256];

static bool read_log(char *text, size_t room)
{
    FILE *file = fopen(log_file, "r");
    size_t size = file ? fread(text, 1, room - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return size > 0;
}

static void another_builds_library_is_refused(void **unused)
{
    (void)unused;
    struct mr_program_options options = {.capability = 80, .optimisation = 4};
    struct mr_program *program = NULL;
    const struct mr_code *code = NULL;
    char text[4096];
    assert_int_equal(mr_program_load(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n",
                                     (size_t)-1, &options, &program),
                     CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mr_program_code(program, 0, (unsigned[]){32, 1, 1}, &code), CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
    assert_null(code);
    assert_true(read_log(text, sizeof text));
    assert_non_null(strstr(text, getenv("MILLRACE_COMPILER")));
    assert_true(strstr(text, "install both from one build") ||
                strstr(text, "set MILLRACE_COMPILER to the one of this driver"));
    mr_program_drop(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_builds_library_is_refused)};
    const char *temporary = getenv("TMPDIR");
    snprintf(log_file, sizeof log_file, "%.200s/millrace-log-XXXXXX", temporary ? temporary : "/tmp");
    int file = mkstemp(log_file);
    if (file < 0)
        return 1;
    close(file);
    setenv("MILLRACE_LOG_FILE", log_file, 1);
    setenv("MILLRACE_LOG", "error", 1);
    setenv("MILLRACE_CACHE", "off", 1);
    mr_log_setup();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(log_file);
    return failed;
}
