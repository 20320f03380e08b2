/* SPDX-License-Identifier: Apache-2.0 */
/* A program that looks for a GPU's files by every call of the C library that takes a path, or starts a program by each.
 *
 *     looks at PATH       a line for each call: its name, and 1 if the file is there
 *     looks start PATH    a line for each call, as the started program writes it
 *     looks errno PATH    each call fails with ENOENT, and nothing else of the program's changes
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { CALLS = 16 };

static int closed(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : -1;
}

static int look(int call, const char *path, const char **name)
{
    struct stat status;
    struct stat64 status64;
    struct statx extended;
    FILE *file;
    DIR *folder;
    switch (call) {
    case 0:
        *name = "open";
        return closed(open(path, O_RDONLY));
    case 1:
        *name = "open64";
        return closed(open64(path, O_RDONLY));
    case 2:
        *name = "openat";
        return closed(openat(AT_FDCWD, path, O_RDONLY));
    case 3:
        *name = "openat64";
        return closed(openat64(AT_FDCWD, path, O_RDONLY));
    case 4:
        *name = "fopen";
        return (file = fopen(path, "r")) ? fclose(file) : -1;
    case 5:
        *name = "fopen64";
        return (file = fopen64(path, "r")) ? fclose(file) : -1;
    case 6:
        *name = "stat";
        return stat(path, &status);
    case 7:
        *name = "lstat";
        return lstat(path, &status);
    case 8:
        *name = "stat64";
        return stat64(path, &status64);
    case 9:
        *name = "fstatat";
        return fstatat(AT_FDCWD, path, &status, 0);
    case 10:
        *name = "statx";
        return statx(AT_FDCWD, path, 0, STATX_TYPE, &extended);
    case 11:
        *name = "access";
        return access(path, R_OK);
    case 12:
        *name = "faccessat";
        return faccessat(AT_FDCWD, path, R_OK, 0);
    case 13:
        *name = "euidaccess";
        return euidaccess(path, R_OK);
    case 14:
        *name = "eaccess";
        return eaccess(path, R_OK);
    default:
        *name = "opendir";
        return (folder = opendir(path))                               ? closedir(folder)
               : stat(path, &status) == 0 && !S_ISDIR(status.st_mode) ? 0
                                                                      : -1;
    }
}

static void start(const char *path)
{
    char *const arguments[] = {"a name", "--version", NULL};
    for (int call = 0; call < 7; call++) {
        pid_t child = -1;
        fflush(stdout);
        if (call < 2) {
            if ((call == 0 ? posix_spawn(&child, path, NULL, NULL, arguments, environ)
                           : posix_spawnp(&child, path, NULL, NULL, arguments, environ)) != 0)
                exit(1);
        } else if ((child = call == 6 ? vfork() : fork()) == 0) {
            switch (call) {
            case 2:
                execv(path, arguments);
                break;
            case 3:
                execvp(path, arguments);
                break;
            case 4:
                execvpe(path, arguments, environ);
                break;
            default:
                execve(path, arguments, environ);
            }
            _exit(1);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *name;
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "start") == 0) {
        start(argv[2]);
        return 0;
    }
    for (int call = 0; call < CALLS; call++) {
        errno = 0;
        int found = look(call, argv[2], &name) == 0;
        if (strcmp(argv[1], "errno") == 0 ? found || errno != ENOENT : 0)
            return printf("%s: errno is %d\n", name, errno), 1;
        if (strcmp(argv[1], "at") == 0)
            printf("%s %d\n", name, found);
    }
    return 0;
}
