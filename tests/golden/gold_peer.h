/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second process for a case that is about two of them.
 *
 * A peer is this very program, started again with a context of its own.  It
 * runs tasks: functions of the case's file, which get a note (plain bytes),
 * change it, and say words as a case does.  The note comes back, the words join the
 * case's answer.  What a handle means is known only in the process that made
 * it, but notes may carry it to and fro.
 *
 * A case with a peer is .alone.  A peer ends with the case's process at the latest.
 */
#ifndef GOLD_PEER_H
#define GOLD_PEER_H

#include "gold.h"

#include <sys/types.h>

enum { GOLD_NOTE_MAX = 16384 };

struct gold_peer {
    pid_t pid;
    int to, from; /* pipes */
};

/* Starts a peer; ends the case if that fails.  BARE: without cuInit and context. */
struct gold_peer gold_peer_start(bool bare);

/* Runs TASK in the peer on a copy of NOTE, and waits; NOTE is then what the task left. */
void gold_peer_ask(struct gold_peer *peer, void (*task)(void *note), void *note, size_t size);

/* The same in two halves, for what goes on at the same time. */
void gold_peer_send(struct gold_peer *peer, void (*task)(void *note), const void *note, size_t size);
void gold_peer_receive(struct gold_peer *peer, void *note, size_t size);

/* Lets the peer return from main, or kills it; waits for its end either way. */
void gold_peer_end(struct gold_peer *peer);
void gold_peer_kill(struct gold_peer *peer);

/* The peer's main function: called by gold_main.c. */
int gold_peer_main(bool bare);

#endif
