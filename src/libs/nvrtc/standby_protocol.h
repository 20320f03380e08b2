/* SPDX-License-Identifier: Apache-2.0 */
/* What libnvrtc (standby.c) and the library inside the waiting compiler (standby_inside.c) agree on.
 *
 * The compiler gets a program whose last line includes MR_STANDBY_SOURCE. It comes to open that file when it has read
 * the device headers, and there it waits: it sends one byte on the control socket, and then takes requests. A request
 * is one byte with the descriptors below. For each, the waiting process forks, and its child goes on with the
 * descriptors in their places; when the compiler has ended with a status of its own, the child writes that status to
 * the reply socket. A reply socket that closes without one tells of a compiler that crashed. A child whose reply socket
 * is closed by the other side is killed. */
#ifndef MR_NVRTC_STANDBY_PROTOCOL_H
#define MR_NVRTC_STANDBY_PROTOCOL_H

#define MR_STANDBY_SOURCE "millrace-standby-source.cu"
/* The program's line, and the name of the file that it claims to be in, for messages. Before it may stand
 * MR_STANDBY_MARKER and lines that the compiler is to read before it waits. */
#define MR_STANDBY_NAME "millrace-standby"
#define MR_STANDBY_MARKER "# 1 \"" MR_STANDBY_NAME "-before\"\n"
#define MR_STANDBY_PROGRAM "# 1 \"" MR_STANDBY_NAME "\"\n#include \"" MR_STANDBY_SOURCE "\"\n"

/* Descriptors of the waiting compiler beside 0 to 3, which are those of mr_run: the control socket, and the folder of
 * in-memory headers. */
enum { MR_STANDBY_CONTROL_FD = 4, MR_STANDBY_HEADERS_FD = 5, MR_STANDBY_FIRST_FREE_FD = 6 };
#define MR_STANDBY_HEADERS "/proc/self/fd/5"

/* A request's descriptors. */
enum {
    MR_STANDBY_INPUT,
    MR_STANDBY_OUTPUT,
    MR_STANDBY_MESSAGES,
    MR_STANDBY_DEPENDS,
    MR_STANDBY_REPLY,
    MR_STANDBY_FOLDER,
    MR_STANDBY_FILES
};

/* Seconds to wait for a request before the process ends, in the waiting compiler's environment. */
#define MR_STANDBY_SECONDS "MILLRACE_STANDBY_SECONDS"

#endif
