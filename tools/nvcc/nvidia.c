/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's own nvcc in clang's place: MILLRACE_CC=nvcc, or a path that ends so.
 *
 * It compiles each source, to PTX or to an object that holds PTX; packing and linking stay here, and so programs get
 * Millrace's runtime library. It hands what it is told to a shell, so a word that a shell would read as more than text
 * is refused before it starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "shim.h"

bool nvidia_chosen(void)
{
    const char *compiler = mr_setting_text(MR_SETTING_CC), *slash = strrchr(compiler, '/');
    return strcmp(slash ? slash + 1 : compiler, "nvcc") == 0;
}

static bool is_other_program(const char *path)
{
    struct stat self, other;
    return access(path, X_OK) == 0 && stat(path, &other) == 0 && S_ISREG(other.st_mode) &&
           stat("/proc/self/exe", &self) == 0 && (self.st_dev != other.st_dev || self.st_ino != other.st_ino);
}

/* The nvcc in PATH that is not this program, or where a toolkit is installed by habit. */
static bool find_nvcc(char out[PATH_MAX])
{
    const char *compiler = mr_setting_text(MR_SETTING_CC), *path = getenv("PATH");
    if (strchr(compiler, '/')) {
        snprintf(out, PATH_MAX, "%s", compiler);
        return is_other_program(out) || complain("MILLRACE_CC names no compiler of NVIDIA's:", compiler);
    }
    for (const char *at = path ? path : ""; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(out, PATH_MAX, "%.*s/nvcc", (int)(length < 3900 ? length : 3900), at);
        if (is_other_program(out))
            return true;
        at += length + (at[length] == ':');
    }
    snprintf(out, PATH_MAX, "/usr/local/cuda/bin/nvcc");
    return is_other_program(out) ||
           complain(
               "MILLRACE_CC is nvcc, and NVIDIA's is neither in PATH nor in /usr/local/cuda/bin; unset MILLRACE_CC for clang",
               NULL);
}

int nvidia_compile(const struct request *request, const char *what, const unsigned *targets, size_t count,
                   const char *source, const char *output)
{
    struct mr_words words = {.items = NULL};
    char program[PATH_MAX], arch[64];
    if (!find_nvcc(program))
        return 1;
    mr_words_add(&words, program, "");
    mr_words_add(&words, what, "");
    for (size_t i = 0; i < count; i++) {
        snprintf(arch, sizeof arch, "arch=compute_%u,code=compute_%u", targets[i], targets[i]);
        mr_words_add(&words, "-gencode", "");
        mr_words_add(&words, arch, "");
    }
    words_add_all(&words, &request->given);
    if (output) {
        mr_words_add(&words, "-o", "");
        mr_words_add(&words, output, "");
    }
    mr_words_add(&words, source, "");
    words_check(&words);
    const char *hostile = guard_shell(&words);
    int status = hostile
                     ? failed("NVIDIA's nvcc would hand this to a shell, which reads more than text in it:", hostile)
                     : step_run(request, &words, NULL);
    mr_words_clear(&words);
    return status;
}
