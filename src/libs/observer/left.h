/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a process leaves for the command: written under another name and then renamed, so that a file with its
 * name is whole. One at a time; one thread at a time. Takes no lock and allocates nothing, so that it serves a process
 * that has crashed. */
#ifndef MR_OBSERVER_LEFT_H
#define MR_OBSERVER_LEFT_H

#include <stdbool.h>
#include <stddef.h>

/* Opens PATH.part. `fresh`: neither it nor PATH may be there. False with errno set. */
bool obs_left_open(const char *path, bool fresh);

/* Adds to it; what fails is told by obs_left_close. A piece is shorter than 1,024 bytes. */
void obs_left_put(const char *text, size_t length);
__attribute__((format(printf, 1, 2))) void obs_left_print(const char *format, ...);

/* Gives the file its name. False with errno set: something could not be written, and no part of it is left. */
bool obs_left_close(void);

#endif
