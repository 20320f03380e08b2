/* SPDX-License-Identifier: Apache-2.0 */
/* Running commands, and files on the way. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "shim.h"

static char folder[PATH_MAX];         /* the temporary one; "" before it is needed */
static struct mr_words made;          /* files in it */
static int folder_lock = -1;          /* the folder, open and locked: it belongs to a living process */
static volatile pid_t running;        /* the command that runs, or 0 */
static volatile sig_atomic_t caught;  /* the signal that ends us, or 0 */
static const char *messages;          /* where commands' messages go; NULL: to standard error */

static void end_short_of_memory(void)
{
    complain("out of memory", NULL);
    step_clean();
    exit(1);
}

void words_check(const struct mr_words *words)
{
    if (words->failed || !words->items)
        end_short_of_memory();
}

void words_add_all(struct mr_words *to, const struct mr_words *from)
{
    for (size_t i = 0; i < from->count; i++)
        mr_words_add(to, from->items[i], "");
    to->failed = to->failed || from->failed;
}

/* --- Places ------------------------------------------------------------------- */

static bool find_place(const char *self, const char *const *relative, size_t count, const char *file,
                       char out[PATH_MAX])
{
    char path[PATH_MAX + 128];
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", self, relative[i], file);
        if (access(path, R_OK) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", self, relative[i]);
        if (realpath(path, out))
            return true;
    }
    return complain("this file is not where the shim looks for it; build or install Millrace again:", file);
}

/* The shim is in bin/, of the build folder or of where Millrace is installed. */
bool places_find(struct places *places)
{
    static const char *const device[] = {"../device", "../lib/millrace/device"};
    static const char *const include[] = {"../include"};
    static const char *const libraries[] = {"../lib"}, *const runtime[] = {"../lib/runtime"}, *const root[] = {".."};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return complain("cannot read /proc/self/exe", NULL);
    self[length] = '\0';
    const char *at = dirname(self);
    return find_place(at, device, 2, "millrace_device.h", places->device) &&
           find_place(at, include, 1, "cuda.h", places->include) &&
           find_place(at, libraries, 1, "libcuda.so.1", places->libraries) &&
           find_place(at, runtime, 1, "libcudart_static.a", places->runtime) &&
           find_place(at, root, 1, "include/cuda.h", places->root);
}

/* Beside the shim in a build. */
bool managed_program(char path[PATH_MAX])
{
    static const char *const beside[] = {".", "../lib/millrace"};
    char self[PATH_MAX], folder_of[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return complain("cannot read /proc/self/exe", NULL);
    self[length] = '\0';
    if (!find_place(dirname(self), beside, 2, "millrace-managed", folder_of))
        return false;
    return snprintf(path, PATH_MAX, "%s/millrace-managed", folder_of) < PATH_MAX ||
           complain("a path is too long:", folder_of);
}

void places_show(const struct places *places)
{
    /* CMake finds the toolkit's root by the name of NVVM's folder, which need not be there. */
    fprintf(
        stderr,
        "#$ _SPACE_= \n#$ TOP=%s/..\n#$ NVVMIR_LIBRARY_DIR=%s/../nvvm/libdevice\n#$ LD_LIBRARY_PATH=%s\n#$ PATH=%s\n#$ INCLUDES=-I%s\n#$ LIBRARIES=-L%s -L%s\n",
        places->include, places->include, places->libraries, getenv("PATH") ? getenv("PATH") : "", places->include,
        places->root, places->runtime);
}

/* --- Commands ------------------------------------------------------------------ */

/* As a shell would read it. */
static void print_word(const char *word)
{
    if (*word && !strpbrk(word, " \t\n\"'$`;|&<>\\*?(){}[]!~#")) {
        fputs(word, stderr);
        return;
    }
    fputc('"', stderr);
    for (; *word; word++) {
        if (strchr("\"\\$`", *word))
            fputc('\\', stderr);
        fputc(*word, stderr);
    }
    fputc('"', stderr);
}

static void print_command(const struct mr_words *command, const char *in)
{
    fputs("#$ ", stderr);
    if (in)
        fprintf(stderr, "cd \"%s\" && ", in);
    for (size_t i = 0; i < command->count; i++) {
        if (i)
            fputc(' ', stderr);
        print_word(command->items[i]);
    }
    fputc('\n', stderr);
}

/* Variables that make clang do other things than it is told. */
static void clean_environment(void)
{
    static const char *const dropped[] = {"CCC_OVERRIDE_OPTIONS",
                                          "CCC_ADD_ARGS",
                                          "CC_PRINT_OPTIONS",
                                          "CC_PRINT_HEADERS",
                                          "CC_LOG_DIAGNOSTICS",
                                          "CL",
                                          "_CL_",
                                          "CLANG_CONFIG_FILE_SYSTEM_DIR",
                                          "CLANG_CONFIG_FILE_USER_DIR"};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        unsetenv(dropped[i]);
}

/* All that end a process by their default and may be caught, except those of faults in this program. */
static const int ends_by[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,  SIGALRM,
                              SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM};
enum { ENDING = sizeof ends_by / sizeof *ends_by };

/* Clang removes what it has written so far when it is ended by a signal; a program that --run has started hears the
 * same signal as we do. */
static void catch (int number)
{
    int before = errno;
    caught = number;
    if (running > 0)
        kill(running, number);
    errno = before;
}

void step_watch_signals(void)
{
    struct sigaction action = {.sa_handler = catch}, old;
    for (int i = 0; i < ENDING; i++)
        if (sigaction(ends_by[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup */
            sigaction(ends_by[i], &action, NULL);
}

static void end_if_caught(void)
{
    int number = caught;
    if (!number)
        return;
    step_clean();
    signal(number, SIG_DFL);
    raise(number);
}

/* Starts a command, which gets signals as this process got them; an errno. */
static int start(const struct mr_words *command, posix_spawn_file_actions_t *actions)
{
    posix_spawnattr_t attributes;
    sigset_t all, before;
    pid_t child = 0;
    int reason = posix_spawnattr_init(&attributes);
    if (reason)
        return reason;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* none comes before there is a child to end */
    if (!caught)
        reason = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!reason)
        reason = posix_spawnattr_setsigmask(&attributes, &before);
    if (!reason && !caught)
        reason = posix_spawnp(&child, command->items[0], actions, &attributes, command->items, environ);
    running = reason ? 0 : child;
    sigprocmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    return reason;
}

/* Waits for its end; its status as waitpid gives it. */
static int wait_for_end(void)
{
    int status = 0;
    siginfo_t end;
    while (running > 0 && waitid(P_PID, (id_t)running, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
    pid_t ended = running;
    running = 0; /* from here on its number may be another process's */
    if (ended > 0 && waitpid(ended, &status, 0) < 0)
        status = -1;
    return status;
}

void step_messages(const char *path)
{
    messages = path;
}

int step_run(const struct request *request, const struct mr_words *command, const char *in)
{
    posix_spawn_file_actions_t actions;
    words_check(command);
    if (request->verbose || request->dry_run)
        print_command(command, in);
    if (request->dry_run)
        return 0;
    clean_environment();
    int reason = posix_spawn_file_actions_init(&actions);
    if (!reason && in)
        reason = posix_spawn_file_actions_addchdir_np(&actions, in);
    if (!reason && messages)
        reason =
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!reason)
        reason = start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    if (reason) {
        bool clang = strncmp(basename(command->items[0]), "clang", 5) == 0;
        fprintf(stderr, "nvcc (Millrace): error: cannot start '%s': %s%s\n", command->items[0], strerror(reason),
                reason == ENOENT && clang ? "; on Debian it is in the package clang-19 (apt-get install clang-19)"
                                          : "");
        return 1;
    }
    int status = wait_for_end();
    end_if_caught();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* --- Files ---------------------------------------------------------------------- */

static const char folder_name[] = "millrace-nvcc-";

/* Removes the files in an open folder, and the folder. */
static void remove_folder(int parent, const char *name, int fd)
{
    int copy = dup(fd);
    DIR *files = copy >= 0 ? fdopendir(copy) : NULL;
    for (struct dirent *entry; files && (entry = readdir(files));)
        unlinkat(fd, entry->d_name, 0);
    if (files)
        closedir(files);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Folders of shims that were ended at once (SIGKILL) stay behind. They are known by their lock, which nobody holds any
 * more; a new one may not be locked yet. */
static void remove_left(const char *in)
{
    enum { NEW_SECONDS = 60 };
    DIR *all = opendir(in);
    int parent = all ? dirfd(all) : -1;
    for (struct dirent *entry; parent >= 0 && (entry = readdir(all));) {
        struct stat status;
        if (strncmp(entry->d_name, folder_name, sizeof folder_name - 1) != 0)
            continue;
        int fd = openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && time(NULL) - status.st_mtime > NEW_SECONDS &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_folder(parent, entry->d_name, fd);
        close(fd);
    }
    if (all)
        closedir(all);
}

const char *step_folder(const struct request *request)
{
    if (request->keep_folder)
        return request->keep_folder;
    const char *in = getenv("TMPDIR");
    if (*folder)
        return folder;
    in = in && *in == '/' ? in : "/tmp";
    remove_left(in);
    snprintf(folder, sizeof folder, "%.3900s/%sXXXXXX", in, folder_name);
    if (!mkdtemp(folder)) {
        fprintf(stderr, "nvcc (Millrace): error: cannot make the folder %s: %s\n", folder, strerror(errno));
        exit(1);
    }
    folder_lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_lock >= 0)
        flock(folder_lock, LOCK_EX | LOCK_NB);
    return folder;
}

static char *text_or_end(struct mr_text *text)
{
    if (text->failed || !text->data)
        end_short_of_memory();
    return text->data;
}

char *step_file(const struct request *request, const char *base, const char *ending)
{
    struct mr_text path = {.data = NULL};
    char *name = output_name(base, ending);
    mr_text_format(&path, "%s/%s", step_folder(request), name);
    mr_free(name);
    if (!request->keep_folder)
        mr_words_add(&made, path.failed ? "" : path.data, "");
    return text_or_end(&path);
}

void step_clean(void)
{
    for (size_t i = 0; i < made.count; i++)
        unlink(made.items[i]);
    mr_words_clear(&made);
    /* Others may be there that a command left when it was ended. */
    if (*folder && folder_lock >= 0)
        remove_folder(AT_FDCWD, folder, folder_lock);
    else if (*folder)
        rmdir(folder);
    if (folder_lock >= 0)
        close(folder_lock);
    folder_lock = -1;
    *folder = '\0';
}

char *output_name(const char *source, const char *ending)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source, *dot = strrchr(base, '.');
    struct mr_text name = {.data = NULL};
    mr_text_add(&name, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
    mr_text_put(&name, ending);
    return text_or_end(&name);
}

char *output_path(const struct request *request, const char *source, const char *ending)
{
    char *name = output_name(source, ending);
    struct mr_text path = {.data = NULL};
    if (!request->output_folder)
        return name;
    mr_text_format(&path, "%s/%s", request->output_folder, name);
    mr_free(name);
    return text_or_end(&path);
}

bool file_write(const struct request *request, const char *path, const void *data, size_t size)
{
    if (request->verbose || request->dry_run)
        fprintf(stderr, "#$ # writes %s\n", path);
    if (request->dry_run)
        return true;
    FILE *file = fopen(path, "we");
    bool good = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "nvcc (Millrace): error: cannot write %s: %s\n", path, strerror(errno));
    return good;
}

bool file_read(const char *path, struct mr_text *text)
{
    bool good = mr_text_read(text, path);
    if (!good)
        fprintf(stderr, "nvcc (Millrace): error: cannot read %s: %s\n", path, strerror(errno));
    if (text->failed)
        end_short_of_memory();
    return good;
}
