/* SPDX-License-Identifier: Apache-2.0 */
/* millrace doctor: the machine, and what limits a process on it. */
#include <cuda.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "abi/abi.h"
#include "base/settings.h"
#include "compile/cache.h"
#include "doctor.h"

#define MIB ((uint64_t)1 << 20)

static unsigned long long in_mib(uint64_t bytes)
{
    return (unsigned long long)(bytes / MIB);
}

/* --- Processor and memory -------------------------------------------------------- */

static void look_at_processor(struct doctor *doctor)
{
    const char *set = mr_setting_in_force(MR_SETTING_CPU);
#if defined(__x86_64__)
    const char *vectors = __builtin_cpu_supports("avx512f") ? "AVX-512"
                          : __builtin_cpu_supports("avx2")  ? "AVX2"
                                                            : NULL;
    if (vectors)
        doctor_say(doctor, DOCTOR_GOOD, "processor", NULL, "vectors by %s, %ld processors", vectors,
                   sysconf(_SC_NPROCESSORS_ONLN));
    else
        doctor_say(doctor, DOCTOR_NOTE, "processor",
                   "take a newer processor; in a virtual machine, let it have the host's features (cpu host)",
                   "it has no AVX2: kernels run several times slower");
#else
    doctor_say(doctor, DOCTOR_GOOD, "processor", NULL, "%ld processors", sysconf(_SC_NPROCESSORS_ONLN));
#endif
    if (*set || *mr_setting_in_force(MR_SETTING_CPU_FEATURES))
        doctor_say(doctor, DOCTOR_NOTE, "processor", "unset them, unless that is what you want",
                   "MILLRACE_CPU or MILLRACE_CPU_FEATURES names another processor than this one");
}

/* A line "Name:   NUMBER kB" of /proc/meminfo, in bytes; 0 if there is none. */
static uint64_t read_meminfo(const char *name)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            kilobytes = strtoull(line + strlen(name) + 1, NULL, 10);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

static void look_at_memory(struct doctor *doctor)
{
    enum { LITTLE = 512 };
    char line[64], *end;
    uint64_t free_bytes = read_meminfo("MemAvailable");
    const char *by = "";
    if (doctor_read_line("/sys/fs/cgroup/memory.max", line, sizeof line)) {
        unsigned long long limit = strtoull(line, &end, 10), used = 0;
        if (end != line && doctor_read_line("/sys/fs/cgroup/memory.current", line, sizeof line))
            used = strtoull(line, NULL, 10);
        if (limit && limit - (used < limit ? used : limit) < free_bytes) {
            free_bytes = limit - (used < limit ? used : limit);
            by = " by the limit of this container or service";
        }
    }
    if (free_bytes && free_bytes < LITTLE * MIB)
        doctor_say(doctor, DOCTOR_WRONG, "memory",
                   "end other programs, or give this container more memory; MILLRACE_MEMORY limits what a device shows",
                   "%llu MiB are free%s", in_mib(free_bytes), by);
    else
        doctor_say(doctor, DOCTOR_GOOD, "memory", NULL, "%llu MiB are free%s", in_mib(free_bytes), by);
    if (doctor_read_line("/proc/sys/vm/overcommit_memory", line, sizeof line) && strcmp(line, "2") == 0)
        doctor_say(
            doctor, DOCTOR_NOTE, "memory", "as root: sysctl vm.overcommit_memory=0",
            "the system promises no more memory than it has (vm.overcommit_memory=2): large programs may fail to "
            "reserve addresses");
    if (doctor_read_line("/proc/sys/vm/max_map_count", line, sizeof line) && strtoul(line, NULL, 10) < 65530)
        doctor_say(doctor, DOCTOR_NOTE, "memory", "as root: sysctl vm.max_map_count=262144",
                   "a process may have %s mappings only: programs with many allocations may fail", line);
}

void doctor_look_at_machine(struct doctor *doctor)
{
    look_at_processor(doctor);
    look_at_memory(doctor);
}

/* --- Limits ------------------------------------------------------------------------ */

static bool is_below(int resource, rlim_t least, unsigned long long *value)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *value = limit.rlim_cur;
    return limit.rlim_cur < least;
}

void doctor_look_at_limits(struct doctor *doctor)
{
    unsigned long long value;
    char line[64];
    struct statvfs shm;
    bool good = true;
    /* Addresses are reserved for each device's memory, whether it is used or not. */
    if (is_below(RLIMIT_AS, RLIM_INFINITY, &value)) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "limits", "ulimit -v unlimited",
                   "a process may have %llu MiB of addresses (ulimit -v): devices show less memory, or don't start",
                   in_mib(value));
    }
    if (is_below(RLIMIT_NPROC, 256, &value)) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "limits", "ulimit -u 4096, or fewer threads by MILLRACE_WORKERS",
                   "you may have %llu processes and threads in all (ulimit -u)", value);
    }
    if (doctor_read_line("/sys/fs/cgroup/pids.max", line, sizeof line) && strtoull(line, NULL, 10) > 0 &&
        strtoull(line, NULL, 10) < 256) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "limits", "allow this container more (docker run --pids-limit)",
                   "this container may have %s processes and threads", line);
    }
    if (is_below(RLIMIT_NOFILE, 256, &value)) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "limits", "ulimit -n 1024", "a process may have %llu files open (ulimit -n)",
                   value);
    }
    if (is_below(RLIMIT_STACK, 1 * MIB, &value)) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "limits", "ulimit -s 8192", "a stack may have %llu KiB (ulimit -s)",
                   value / 1024);
    }
    if (statvfs("/dev/shm", &shm) != 0 || (uint64_t)shm.f_blocks * shm.f_frsize <= 64 * MIB) {
        good = false;
        doctor_say(
            doctor, DOCTOR_NOTE, "limits", "give the container more (docker run --shm-size=1g)",
            "/dev/shm has no more than 64 MiB: Millrace needs none, but MPI and PyTorch's loaders share memory there");
    }
    if (good)
        doctor_say(doctor, DOCTOR_GOOD, "limits", NULL, "addresses, threads, files and /dev/shm suffice");
}

/* --- Sandboxes ---------------------------------------------------------------------- */

/* May a process run code that it has made? */
static bool may_run_made_code(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return true; /* another fault */
    bool may = mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
    munmap(page, size);
    return may;
}

static bool may_share(void)
{
    int file = memfd_create("millrace-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0)
        close(file);
    return file >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES);
}

static bool may_read_memory(void)
{
    char from = 1, to = 0;
    struct iovec here = {&to, 1}, there = {&from, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/* Whether a filter of system calls is on. */
static bool is_filtered(void)
{
    char line[256];
    bool filtered = false;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        filtered |= strncmp(line, "Seccomp:", 8) == 0 && strtol(line + 8, NULL, 10) == 2;
    if (file)
        fclose(file);
    return filtered;
}

void doctor_look_at_sandbox(struct doctor *doctor)
{
    static const char loosen[] =
        "loosen the container's or the service's filter (docker run --security-opt seccomp=FILE)";
    bool good = true;
    char line[64];
    if (access("/proc/self/maps", R_OK) != 0) {
        good = false;
        doctor_say(doctor, DOCTOR_WRONG, "sandbox", "mount -t proc proc /proc", "/proc is not there, or can't be read");
    }
    if (!may_run_made_code()) {
        good = false;
        doctor_say(doctor, DOCTOR_WRONG, "sandbox",
                   "allow it (SELinux: setsebool deny_execmem off; systemd: MemoryDenyWriteExecute=no)",
                   "a security policy lets no process run code that it has made: no kernel can run");
    }
    if (!may_share()) {
        good = false;
        doctor_say(doctor, DOCTOR_NOTE, "sandbox", loosen,
                   "memfd_create is forbidden: events and memory can't be shared between processes (cudaIpc*)");
    }
    if (!may_read_memory()) {
        good = false;
        doctor_say(
            doctor, DOCTOR_NOTE, "sandbox", loosen,
            "process_vm_readv is forbidden: what programs want of a device is found less well, and replays can't run");
    }
    if (doctor_read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof line) && strcmp(line, "0") != 0 &&
        geteuid() != 0)
        doctor_say(
            doctor, DOCTOR_NOTE, "sandbox", "as root: sysctl kernel.yama.ptrace_scope=0; or start the program in gdb",
            "gdb can't attach to a program that runs (kernel.yama.ptrace_scope=%s); programs themselves need no such right",
            line);
    if (good)
        doctor_say(doctor, DOCTOR_GOOD, "sandbox", NULL, "%s",
                   is_filtered() ? "a filter of system calls is on (seccomp), and forbids nothing that is needed"
                                 : "nothing that is needed is forbidden");
}

/* --- The cache ------------------------------------------------------------------------ */

struct census {
    unsigned files, old, damaged;
    uint64_t bytes, old_bytes;
};

static void count_file(int folder, const char *name, struct census *census)
{
    struct mr_cache_file head;
    struct stat status;
    size_t length = strlen(name), suffix = sizeof MR_CACHE_SUFFIX - 1;
    if (length <= suffix || strcmp(name + length - suffix, MR_CACHE_SUFFIX) != 0)
        return;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return;
    bool whole =
        fstat(file, &status) == 0 && read(file, &head, sizeof head) == sizeof head && head.magic == MR_CACHE_MAGIC;
    close(file);
    census->files++;
    census->bytes += (uint64_t)status.st_size;
    census->damaged += !whole;
    if (!whole || head.abi != MR_ABI_VERSION) {
        census->old++;
        census->old_bytes += (uint64_t)status.st_size;
    }
}

/* A file can be made there? An errno. */
static int try_to_write(int folder)
{
    char name[64];
    snprintf(name, sizeof name, ".doctor-%ld", (long)getpid());
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int reason = file < 0 || write(file, "x", 1) != 1 ? errno : 0;
    if (file >= 0) {
        close(file);
        unlinkat(folder, name, 0);
    }
    return reason;
}

static void look_into(struct doctor *doctor, const char *path, int folder)
{
    char mend[PATH_MAX + 64];
    struct census census = {.files = 0};
    struct stat status;
    int reason = try_to_write(folder);
    if (fstat(folder, &status) == 0 && (status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))) {
        snprintf(mend, sizeof mend, "chmod go-w %s, or name a folder of your own in MILLRACE_CACHE_DIR", path);
        doctor_say(doctor, DOCTOR_WRONG, "cache", mend,
                   "%s is not yours alone to write, and is not used: kernels are compiled again and again", path);
        return;
    }
    if (reason)
        doctor_say(doctor, DOCTOR_WRONG, "cache", "make it writable, make room, or name another in MILLRACE_CACHE_DIR",
                   "%s can't be written: %s; kernels are compiled again and again", path, strerror(reason));
    int copy = dup(folder);
    DIR *files = copy >= 0 ? fdopendir(copy) : NULL;
    for (struct dirent *entry; files && (entry = readdir(files));)
        count_file(folder, entry->d_name, &census);
    if (files)
        closedir(files);
    snprintf(mend, sizeof mend, "rm -r %s", path);
    if (census.old)
        doctor_say(doctor, DOCTOR_NOTE, "cache", mend,
                   "%u of %u files in %s are of another version of Millrace, or damaged: %llu MiB of no use",
                   census.old, census.files, path, in_mib(census.old_bytes));
    else if (!reason)
        doctor_say(doctor, DOCTOR_GOOD, "cache", NULL, "%u files, %llu MiB, in %s", census.files, in_mib(census.bytes),
                   path);
}

void doctor_look_at_cache(struct doctor *doctor)
{
    char path[PATH_MAX];
    if (!mr_setting_on(MR_SETTING_CACHE)) {
        doctor_say(doctor, DOCTOR_NOTE, "cache", "unset MILLRACE_CACHE",
                   "it is off: each process compiles its kernels");
        return;
    }
    if (!mr_setting_cache_folder(path, sizeof path)) {
        doctor_say(doctor, DOCTOR_NOTE, "cache", "set HOME, or name a folder in MILLRACE_CACHE_DIR",
                   "there is no folder for it: each process compiles its kernels");
        return;
    }
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        look_into(doctor, path, folder);
        close(folder);
        return;
    }
    /* The first program makes it, if it may. */
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    while (*parent && access(parent, F_OK) != 0 && strrchr(parent, '/'))
        *strrchr(parent, '/') = '\0';
    int above = open(*parent ? parent : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool possible = above >= 0 && try_to_write(above) == 0;
    if (above >= 0)
        close(above);
    if (possible)
        doctor_say(doctor, DOCTOR_GOOD, "cache", NULL, "none yet; it will be in %s", path);
    else
        doctor_say(doctor, DOCTOR_WRONG, "cache", "make the folder yours, or name another in MILLRACE_CACHE_DIR",
                   "%s can't be made: kernels are compiled again and again", path);
}

/* --- Settings ------------------------------------------------------------------------- */

struct settings_found {
    struct doctor *doctor;
    bool any;
};

static void say_of_setting(void *context, const char *sentence)
{
    struct settings_found *found = context;
    found->any = true;
    doctor_say(found->doctor, DOCTOR_WRONG, "settings", "unset it, or see `millrace env`", "%s", sentence);
}

void doctor_look_at_settings(struct doctor *doctor)
{
    struct settings_found found = {.doctor = doctor};
    mr_settings_faults(say_of_setting, &found);
    if (!found.any)
        doctor_say(doctor, DOCTOR_GOOD, "settings", NULL, "all variables MILLRACE_* that are set are settings");
}
