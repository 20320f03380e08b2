/* SPDX-License-Identifier: Apache-2.0 */
/* A second process for the tests of handles: this program, started again in a role. A role is a function that gets one
 * end of a socket; the test has the other. Whoever finds something wrong in a role ends the process with a number that
 * tells where (ROLE_NEED). */
#ifndef TESTS_API_IPC_SUPPORT_H
#define TESTS_API_IPC_SUPPORT_H

#include "memory_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct role {
    const char *name;
    void (*run)(int socket);
};
static const struct role roles[];   /* the test's own; ends with an empty one */

struct helper {
    pid_t pid;
    int socket;
};

#define ROLE_NEED(condition) ((condition) ? (void)0 : role_fail(__LINE__, #condition))

__attribute__((unused)) static void role_fail(int line, const char *what)
{
    fprintf(stderr, "role, line %d: %s\n", line, what);
    _exit(3);
}

static inline bool send_bytes(int socket, const void *bytes, size_t size)
{
    return send(socket, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static inline bool receive_bytes(int socket, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t step = recv(socket, (char *)bytes + done, size - done, 0);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return false;
        done += (size_t)step;
    }
    return true;
}

/* Tells the other side that a step is done, and waits for its word. */
static inline bool give_turn(int socket)
{
    return send_bytes(socket, "x", 1);
}

static inline bool take_turn(int socket)
{
    char byte;
    return receive_bytes(socket, &byte, 1);
}

static struct helper helper_start(const char *role)
{
    int ends[2];
    struct helper helper = {0, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return helper;
    helper.pid = fork();
    if (helper.pid == 0) {
        char number[16];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(number, sizeof number, "%d", fcntl(ends[1], F_DUPFD, 100));
        execl("/proc/self/exe", "helper", role, number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    helper.socket = ends[0];
    return helper;
}

/* Waits for the helper's end: its exit status, or 256 and the signal that killed it. */
static inline int helper_end(struct helper *helper)
{
    int status = 0;
    close(helper->socket);
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* In main: runs the role that the arguments name, if they do. */
static inline void role_run(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[0], "helper") != 0)
        return;
    fcntl(atoi(argv[2]), F_SETFD, FD_CLOEXEC);
    for (const struct role *role = roles; role->name; role++)
        if (strcmp(role->name, argv[1]) == 0) {
            role->run(atoi(argv[2]));
            exit(0);
        }
    _exit(126);
}

static inline void role_begin(void)
{
    ROLE_NEED(support_begin(NULL) == 0);
}

static inline unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Entries of the folder where shared memory with a name would be, if the driver made any. */
static inline unsigned count_shared_files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/dev/shm");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += strstr(entry->d_name, "millrace") != NULL || strstr(entry->d_name, "cuda") != NULL;
    if (folder)
        closedir(folder);
    return count;
}

static inline unsigned count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

#endif
