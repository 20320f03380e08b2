/* SPDX-License-Identifier: Apache-2.0 */
/* libmillrace-standby.so: what makes a compiler wait. It is preloaded into clang and stands before the C library's
 * open, where it looks for one name; standby_protocol.h tells what happens there. It uses nothing but the C library. */
#undef _FILE_OFFSET_BITS   /* open and open64 are two functions here */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libs/nvrtc/standby_protocol.h"

#define VISIBLE __attribute__((visibility("default")))

static int reply = -1;

/* Runs first of all that exit() runs, and is the end of the process: the outputs are written, the rest is the system's
 * to clear away. */
static void tell(int status, void *unused)
{
    (void)unused;
    unsigned char byte = (unsigned char)status;
    ssize_t wrote;
    do
        wrote = write(reply, &byte, 1);
    while (wrote < 0 && errno == EINTR);
    _exit(status);
}

/* One request's descriptors; false when there will be no more. */
static bool receive(int files[MR_STANDBY_FILES])
{
    const char *seconds = getenv(MR_STANDBY_SECONDS);
    struct pollfd control = {.fd = MR_STANDBY_CONTROL_FD, .events = POLLIN};
    int ready;
    do
        ready = poll(&control, 1, seconds ? atoi(seconds) * 1000 : 0);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return false;
    char byte;
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(MR_STANDBY_FILES * sizeof(int))];
    } extra;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = extra.room, .msg_controllen = sizeof extra.room};
    ssize_t got;
    do
        got = recvmsg(MR_STANDBY_CONTROL_FD, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *header = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(MR_STANDBY_FILES * sizeof(int)))
        return false;
    memcpy(files, CMSG_DATA(header), MR_STANDBY_FILES * sizeof(int));
    return true;
}

/* In the child: puts the descriptors in their places. The source's is the result. */
static int take_over(const int files[MR_STANDBY_FILES])
{
    signal(SIGCHLD, SIG_DFL);
    reply = files[MR_STANDBY_REPLY];
    dup2(files[MR_STANDBY_OUTPUT], STDOUT_FILENO);
    dup2(files[MR_STANDBY_MESSAGES], STDERR_FILENO);
    dup2(files[MR_STANDBY_DEPENDS], 3);
    dup2(files[MR_STANDBY_FOLDER], MR_STANDBY_HEADERS_FD);
    close(MR_STANDBY_CONTROL_FD);
    if (on_exit(tell, NULL) != 0 || fcntl(reply, F_SETOWN, getpid()) != 0 || fcntl(reply, F_SETSIG, SIGKILL) != 0 ||
        fcntl(reply, F_SETFL, O_ASYNC) != 0)
        _exit(1);
    /* Closed before it was watched. */
    struct pollfd other = {.fd = reply};
    if (poll(&other, 1, 0) > 0)
        _exit(1);
    return files[MR_STANDBY_INPUT];
}

/* Serves requests. Returns in each request's child alone. */
static int wait_for_source(void)
{
    signal(SIGCHLD, SIG_IGN);
    if (send(MR_STANDBY_CONTROL_FD, "", 1, MSG_NOSIGNAL) != 1)
        _exit(0);
    for (int files[MR_STANDBY_FILES]; receive(files);) {
        if (fork() == 0)
            return take_over(files);
        for (int i = 0; i < MR_STANDBY_FILES; i++)
            close(files[i]);
    }
    _exit(0);
}

static int open_file(const char *path, int flags, int mode)
{
    const char *slash = strrchr(path, '/');
    if (reply < 0 && strcmp(slash ? slash + 1 : path, MR_STANDBY_SOURCE) == 0)
        return wait_for_source();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

VISIBLE int open(const char *path, int flags, ...);
VISIBLE int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, int) : 0;
    va_end(rest);
    return open_file(path, flags, mode);
}
