/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of MPI (mpi.h). */
#include "mpi.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What launchers set for each rank. */
static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK",           "PMI_SIZE", "PMI_RANK",
                                        "MPI_LOCALNRANKS",      "MV2_COMM_WORLD_SIZE", NULL};

static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun", "jsrun", NULL};

/* The program's file, as execvp finds it. */
static bool find_file(const char *program, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
    while (folders) {
        int length = (int)strcspn(folders, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", length, folders, length ? "/" : "", program) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
        folders = folders[length] ? folders + length + 1 : NULL;
    }
    return false;
}

/* A program that is linked with an MPI library has the library's name in it. */
static bool has_name(const char *path)
{
    bool found = false;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, size, "libmpi.so", 9) || memmem(bytes, size, "libmpich.so", 11);
            munmap(bytes, size);
        }
    }
    close(file);
    return found;
}

/* Is this a rank of a program of MPI, is the program a launcher of ranks, or is its file linked with an MPI library? */
static bool is_mpi(const char *program)
{
    char path[PATH_MAX];
    const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
    for (int i = 0; variables[i]; i++)
        if (getenv(variables[i]))
            return true;
    for (int i = 0; launchers[i]; i++)
        if (strncmp(name, launchers[i], strlen(launchers[i])) == 0)
            return true;
    return find_file(program, path) && has_name(path);
}

bool tool_add_mpi(const char *command, const struct tool_paths *paths, const char *program)
{
    char path[PATH_MAX + 64];
    const char *before = getenv("LD_PRELOAD");
    snprintf(path, sizeof path, "%s/libmillrace-mpi.so", paths->libraries);
    if (!is_mpi(program) || access(path, R_OK) != 0 || (before && strstr(before, path)))
        return true;
    if (tool_put_first("LD_PRELOAD", path))
        return true;
    fprintf(stderr, "millrace %s: out of memory\n", command);
    return false;
}
