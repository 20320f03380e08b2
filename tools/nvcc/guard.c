/* SPDX-License-Identifier: Apache-2.0 */
/* What of other programs' options may pass on.
 *
 * An option here can come from a build file or a web form, and must not make a compiler load code or read options from
 * elsewhere. So the host compiler gets options only of kinds that can't do so; all others are refused by name, and so
 * is what the linker would take for a plugin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

static bool begins_with_any(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins(word, list[i]))
            return true;
    return false;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

bool guard_linker(struct mr_words *words, const char *option)
{
    if (!*option || strstr(option, "plugin") || strchr(option, '@') || strstr(option, "mllvm"))
        return complain("cannot honour the linker's option", option);
    mr_words_add(words, "-Xlinker", "");
    mr_words_add(words, option, "");
    return true;
}

/* -Wl,a,b: each by itself. */
static bool guard_linker_list(struct request *request, const char *list)
{
    while (*list) {
        char option[PATH_MAX];
        size_t length = strcspn(list, ",");
        if (length >= sizeof option)
            return complain("this option is too long:", list);
        memcpy(option, list, length);
        option[length] = '\0';
        if (!guard_linker(&request->linking, option))
            return false;
        list += length + (list[length] == ',');
    }
    return true;
}

const char *guard_libomp(void)
{
    static const char *const places[] = {"/usr/lib/llvm-19/lib/libomp.so", "/usr/lib/x86_64-linux-gnu/libomp.so",
                                         "/usr/lib/aarch64-linux-gnu/libomp.so", "/usr/lib64/libomp.so",
                                         "/usr/lib/libomp.so"};
    if (strcmp(host_clang(), "clang-19") != 0)
        return "-lomp";
    for (size_t i = 0; i < COUNT(places); i++)
        if (access(places[i], R_OK) == 0)
            return places[i];
    return NULL;
}

bool guard_host(struct request *request, const char *option)
{
    static const char *const refused[] = {"-fplugin",
                                          "-fpass-plugin",
                                          "-fuse-ld",
                                          "-fload",
                                          "-fintegrated-cc1",
                                          "-fno-integrated",
                                          "-mllvm",
                                          "-Wa,",
                                          "-Wp,",
                                          "-fcuda-include",
                                          "-fembed",
                                          "-fprofile-",
                                          "-fmodule",
                                          "-fprebuilt",
                                          "-fdepscan",
                                          "-fcrash",
                                          "-fcas",
                                          "-fdiagnostics-add-output",
                                          "-fthinlto",
                                          "-fxray",
                                          "-fbasic-block",
                                          "-foffload"};
    static const char *const passed[] = {"-W", "-f", "-m",    "-O",       "-g",         "-D",
                                         "-U", "-I", "-std=", "-isystem", "-idirafter", "-iquote"};
    static const char *const exact[] = {"-w",
                                        "-ansi",
                                        "-pipe",
                                        "-pthread",
                                        "-pedantic",
                                        "-pedantic-errors",
                                        "-static-libgcc",
                                        "-static-libstdc++",
                                        "-rdynamic",
                                        "-v"};
    if (strcmp(option, "-P") == 0) { /* no line markers */
        request->plain_preprocess = true;
        return true;
    }
    /* What build systems ask to learn which compiler it is. A compiler that is asked answers and compiles nothing. */
    static const char *const questions[] = {"--version", "-dumpversion", "-dumpfullversion", "-dumpmachine",
                                            "-print-multiarch"};
    for (size_t i = 0; i < COUNT(questions); i++)
        if (strcmp(option, questions[i]) == 0) {
            mr_words_add(&request->questions, option, "");
            return true;
        }
    if (begins(option, "-Wl,"))
        return guard_linker_list(request, option + 4);
    bool known = begins_with_any(option, passed, COUNT(passed)) && !begins_with_any(option, refused, COUNT(refused));
    for (size_t i = 0; i < COUNT(exact); i++)
        known |= strcmp(option, exact[i]) == 0;
    /* One that takes the next word as its value would take a word of ours. */
    static const char *const bare[] = {"-I", "-D", "-U", "-isystem", "-idirafter", "-iquote"};
    for (size_t i = 0; i < COUNT(bare); i++)
        known &= strcmp(option, bare[i]) != 0;
    if (!known || strchr(option, '@'))
        return complain("cannot honour the host compiler's option", option);
    if (strcmp(option, "-fopenmp") == 0 && !guard_libomp()) {
        if (!request->serial_openmp)
            fprintf(
                stderr,
                "nvcc (Millrace): warning: clang-19 has no libomp (on Debian it is in the package libomp-19-dev): what OpenMP would run in parallel runs "
                "in one thread\n");
        request->serial_openmp = true;
        return true;
    }
    mr_words_add(&request->host, option, "");
    if (begins(option, "-pthread") || begins(option, "-fopenmp") || begins(option, "-static-lib") ||
        begins(option, "-rdynamic") || begins(option, "-v") || begins(option, "-fsanitize=") || begins(option, "-m") ||
        begins(option, "-flto"))
        mr_words_add(&request->linking, option, "");
    return true;
}

bool guard_is_for_link(const char *option)
{
    static const char *const exact[] = {
        "-static", "-static-libgcc", "-static-libstdc++", "-rdynamic", "-pie", "-no-pie", "-s", "-pthread"};
    for (size_t i = 0; i < COUNT(exact); i++)
        if (strcmp(option, exact[i]) == 0)
            return true;
    return begins(option, "-Wl,");
}

bool guard_host_link(struct request *request, const char *option)
{
    if (!guard_is_for_link(option) || strchr(option, '@'))
        return false;
    if (begins(option, "-Wl,"))
        return guard_linker_list(request, option + 4);
    mr_words_add(&request->linking, option, "");
    return true;
}

const char *guard_shell(const struct mr_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (strpbrk(words->items[i], "$`;|&<>\\\"'\n\r*?(){}[]!~#"))
            return words->items[i];
    return NULL;
}
