/* SPDX-License-Identifier: Apache-2.0 */
/* millrace doctor: what programs would find here, with `millrace run` and without. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "doctor.h"

static bool is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* The next folder of a list with colons between; an empty one is the working directory. False at the end. */
static bool next_folder(const char **at, char folder[PATH_MAX])
{
    if (!*at || !**at)
        return false;
    size_t length = strcspn(*at, ":");
    snprintf(folder, PATH_MAX, "%.*s", (int)(length < PATH_MAX ? length : 0), length ? *at : ".");
    *at += length + ((*at)[length] == ':');
    return true;
}

/* The first folder of the list that has the file. */
static bool find_in(const char *list, const char *file, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    while (next_folder(&list, folder))
        if (snprintf(path, PATH_MAX, "%s/%s", folder, file) < PATH_MAX && access(path, R_OK) == 0)
            return true;
    return false;
}

/* Where the loader finds a library that no variable names: its cache says so. */
static bool find_in_cache(const char *name, char path[PATH_MAX])
{
    struct mr_text said = {.data = NULL};
    bool found = false;
    if (doctor_ask((char *const[]){"/sbin/ldconfig", "-p", NULL}, &said)) {
        char start[128];
        snprintf(start, sizeof start, "\t%s (libc6,", name);
        char *line = strstr(mr_text_chars(&said), start), *arrow = line ? strstr(line, " => ") : NULL;
        if (arrow) {
            size_t length = strcspn(arrow + 4, "\n");
            snprintf(path, PATH_MAX, "%.*s", (int)(length < PATH_MAX ? length : 0), arrow + 4);
            found = true;
        }
    }
    mr_text_clear(&said);
    return found;
}

/* The driver that this command got: the loader gave it the first of LD_LIBRARY_PATH, before its own. */
static void look_at_own(struct doctor *doctor, const char *ours)
{
    Dl_info info;
    const char *loaded = dladdr((void *)cuInit, &info) && info.dli_fname ? info.dli_fname : "an unknown file";
    if (is_same_file(loaded, ours))
        doctor_say(doctor, DOCTOR_GOOD, "driver", NULL, "%s", ours);
    else
        doctor_say(doctor, DOCTOR_WRONG, "driver",
                   "take the folder of the other driver out of LD_LIBRARY_PATH and LD_PRELOAD",
                   "this command itself got another driver, %s, in place of %s", loaded, ours);
}

void doctor_look_at_drivers(struct doctor *doctor, const struct tool_paths *paths)
{
    char ours[PATH_MAX + 16], found[PATH_MAX];
    const char *list = getenv("LD_LIBRARY_PATH"), *preload = getenv("LD_PRELOAD");
    snprintf(ours, sizeof ours, "%s/libcuda.so.1", paths->libraries);
    look_at_own(doctor, ours);
    bool named = find_in(list, "libcuda.so.1", found);
    if (named && !is_same_file(found, ours))
        doctor_say(doctor, DOCTOR_WRONG, "driver",
                   "put Millrace's folder before it, or start programs with `millrace run`, which does so",
                   "LD_LIBRARY_PATH leads programs to another driver: %s", found);
    else if (named)
        doctor_say(doctor, DOCTOR_GOOD, "driver", NULL, "LD_LIBRARY_PATH leads programs to it");
    else if (find_in_cache("libcuda.so.1", found) && !is_same_file(found, ours))
        doctor_say(doctor, DOCTOR_NOTE, "driver",
                   "start programs with `millrace run`, or put Millrace's folder into LD_LIBRARY_PATH",
                   "the system has another driver, which programs get without `millrace run`: %s", found);
    else if (find_in_cache("libcuda.so.1", found))
        doctor_say(doctor, DOCTOR_GOOD, "driver", NULL, "the system's loader leads programs to it");
    else
        doctor_say(doctor, DOCTOR_GOOD, "driver", NULL, "the system has no other; start programs with `millrace run`");
    if (preload && strstr(preload, "cuda"))
        doctor_say(doctor, DOCTOR_NOTE, "driver", "unset LD_PRELOAD", "LD_PRELOAD names a library of CUDA's: %s",
                   preload);
    /* Under `millrace run` programs are shown one that is not there. */
    const char *audit = getenv("LD_AUDIT");
    if (!(audit && strstr(audit, "libmillrace-audit")) && access("/dev/nvidiactl", F_OK) == 0)
        doctor_say(doctor, DOCTOR_NOTE, "driver", "start programs without `millrace run` to use it",
                   "this machine has a GPU of NVIDIA's, which Millrace does not use");
}

/* NVIDIA's libraries of PyPI's packages, folder by folder. */
static const char list_wheels[] =
    "import glob, os, sys\n"
    "for entry in sys.path:\n"
    "    for folder in sorted(glob.glob(os.path.join(glob.escape(entry or '.'), 'nvidia', '*', 'lib'))):\n"
    "        if any(glob.glob(os.path.join(glob.escape(folder), name + '.so*')) for name in\n"
    "               ('libcudart', 'libnvrtc', 'libnvJitLink', 'libcublas', 'libcufft', 'libcufftw', 'libcurand', 'libcusolver', 'libcusparse')):\n"
    "            print(folder)\n";

void doctor_look_at_wheels(struct doctor *doctor, const struct tool_paths *paths)
{
    struct mr_text said = {.data = NULL};
    const char *list = getenv("LD_LIBRARY_PATH");
    char folder[PATH_MAX], own[PATH_MAX] = "";
    bool asked = doctor_ask((char *const[]){"python3", "-c", (char *)list_wheels, NULL}, &said);
    bool first = false, ours = false;
    while (asked && !ours && !first && next_folder(&list, folder)) {
        ours = is_same_file(folder, paths->libraries);
        first = strstr(folder, "/nvidia/") && strstr(mr_text_chars(&said), folder);
        if (first)
            snprintf(own, sizeof own, "%s", folder);
    }
    unsigned count = 0;
    for (const char *at = mr_text_chars(&said); (at = strchr(at, '\n')); at++)
        count++;
    int length = (int)strcspn(mr_text_chars(&said), "\n");
    if (!asked)
        doctor_say(doctor, DOCTOR_GOOD, "wheels", NULL, "there is no python3 to ask for NVIDIA's packages");
    else if (first)
        doctor_say(doctor, DOCTOR_WRONG, "wheels", "take that folder out of LD_LIBRARY_PATH",
                   "LD_LIBRARY_PATH leads programs to NVIDIA's package %s first", own);
    else if (count && !mr_setting_on(MR_SETTING_REDIRECT))
        doctor_say(doctor, DOCTOR_WRONG, "wheels", "unset MILLRACE_REDIRECT",
                   "python3 has %u of NVIDIA's packages, and with MILLRACE_REDIRECT off programs use them: %.*s, ...",
                   count, length, mr_text_chars(&said));
    else if (count)
        doctor_say(doctor, DOCTOR_NOTE, "wheels",
                   "start programs with `millrace run`, which leads them to Millrace's libraries",
                   "python3 has %u of NVIDIA's packages, which programs use without `millrace run`: %.*s, ...", count,
                   length, mr_text_chars(&said));
    else
        doctor_say(doctor, DOCTOR_GOOD, "wheels", NULL, "python3 has none of NVIDIA's packages");
    mr_text_clear(&said);
}

#ifndef MR_LOADERS_LIB
#define MR_LOADERS_LIB "lib"
#endif

void doctor_look_at_parts(struct doctor *doctor, const struct tool_paths *paths)
{
    static const struct {
        const char *file, *what;
    } parts[] = {
        {"libmillrace-compile.so", "the code generator, without which no kernel runs that is not in the cache"},
        {"millrace/audit/" MR_LOADERS_LIB "/libmillrace-audit.so",
         "the loader's companion, without which programs that carry NVIDIA's runtime library can't run"},
        {"libcudart.so.13", "the runtime library"},
        {"libnvrtc.so.13", "the run-time compiler"}};
    static const struct {
        const char *name, *other, *package, *what;
    } libraries[] = {{"libopenblas.so.0", "libopenblasp.so.0", "libopenblas0-pthread", "cuBLAS and cuSOLVER"},
                     {"libfftw3f.so.3", NULL, "libfftw3-single3", "cuFFT of float"},
                     {"libfftw3.so.3", NULL, "libfftw3-double3", "cuFFT of double"}};
    char path[PATH_MAX + 128], mend[128];
    bool whole = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", paths->libraries, parts[i].file);
        if (access(path, R_OK) == 0)
            continue;
        whole = false;
        doctor_say(doctor, DOCTOR_WRONG, "parts", "build or install Millrace again", "%s is not there: %s", path,
                   parts[i].what);
    }
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i].name, RTLD_LAZY | RTLD_LOCAL);
        if (!library && libraries[i].other)
            library = dlopen(libraries[i].other, RTLD_LAZY | RTLD_LOCAL);
        if (library)
            continue;
        whole = false;
        snprintf(mend, sizeof mend, "on Debian: apt-get install %s", libraries[i].package);
        doctor_say(doctor, DOCTOR_NOTE, "parts", mend, "there is no %s, and so no %s", libraries[i].name,
                   libraries[i].what);
    }
    if (whole)
        doctor_say(doctor, DOCTOR_GOOD, "parts", NULL, "all libraries are there, also those of mathematics");
}

void doctor_look_at_compilers(struct doctor *doctor, const struct tool_paths *paths)
{
    struct mr_text said = {.data = NULL};
    char found[PATH_MAX], ours[PATH_MAX + 8];
    const char *set = mr_setting_text(MR_SETTING_CC), *compiler = *set ? set : "clang-19";
    bool started = doctor_ask((char *const[]){(char *)compiler, "--version", NULL}, &said);
    const char *version = strstr(mr_text_chars(&said), "clang version ");
    if (!started)
        doctor_say(doctor, DOCTOR_WRONG, "compiler",
                   *set ? "unset MILLRACE_CC, or name a compiler that is there" : "on Debian: apt-get install clang-19",
                   "%s can't be started: kernels in CUDA C++ (nvcc, NVRTC) can't be compiled", compiler);
    else if (version && strncmp(version + 14, "19.", 3) != 0)
        doctor_say(doctor, DOCTOR_NOTE, "compiler", "unset MILLRACE_CC, and install clang-19",
                   "%s is version %.*s; Millrace is tested with 19", compiler, (int)strcspn(version + 14, " \n"),
                   version + 14);
    else
        doctor_say(doctor, DOCTOR_GOOD, "compiler", NULL, "%s%s%.*s", compiler, version ? ", version " : "",
                   version ? (int)strcspn(version + 14, " \n") : 0, version ? version + 14 : "");
    snprintf(ours, sizeof ours, "%s/nvcc", paths->shims);
    if (find_in(getenv("PATH"), "nvcc", found) && !is_same_file(found, ours))
        doctor_say(doctor, DOCTOR_NOTE, "compiler",
                   "use `millrace cc`, `millrace run -- make`, or put Millrace's bin first in PATH",
                   "the nvcc in PATH is another: %s", found);
    mr_text_clear(&said);
}
