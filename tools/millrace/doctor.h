/* SPDX-License-Identifier: Apache-2.0 */
/* millrace doctor: checks, each of which says what it found. A finding is good, a note (it matters to some programs),
 * or wrong (something does not work); the latter two come with how to mend it.
 *
 *   doctor.c         the command: findings, how they are printed, a kernel as a trial
 *   doctor_finds.c   what programs would find: drivers, NVIDIA's packages, compilers, libraries
 *   doctor_limits.c  the machine and its limits: processor, memory, rlimits, what a sandbox forbids, the cache,
 *                    settings */
#ifndef MILLRACE_DOCTOR_H
#define MILLRACE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "millrace.h"

enum doctor_verdict { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_WRONG };

struct doctor;

/* Adds a finding. `mend` is NULL if there is nothing to mend, and else one sentence. */
void doctor_say(struct doctor *doctor, enum doctor_verdict verdict, const char *topic, const char *mend,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Fills an empty text with what a program prints on standard output. False if it can't be started, or fails; its other
 * messages are dropped. */
bool doctor_ask(char *const *argv, struct mr_text *said);

/* Fills the array with the first line of a file of the system's, without its end. False if it can't be read. */
bool doctor_read_line(const char *path, char *line, size_t room);

void doctor_look_at_drivers(struct doctor *doctor, const struct tool_paths *paths);
void doctor_look_at_wheels(struct doctor *doctor, const struct tool_paths *paths);
void doctor_look_at_parts(struct doctor *doctor, const struct tool_paths *paths);
void doctor_look_at_compilers(struct doctor *doctor, const struct tool_paths *paths);

void doctor_look_at_machine(struct doctor *doctor);
void doctor_look_at_limits(struct doctor *doctor);
void doctor_look_at_sandbox(struct doctor *doctor);
void doctor_look_at_cache(struct doctor *doctor);
void doctor_look_at_settings(struct doctor *doctor);

#endif
