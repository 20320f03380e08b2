/* SPDX-License-Identifier: Apache-2.0 */
/* The words for a finding. Which sentence fits depends on where the two operations are: in two streams, in one run of a
 * graph, in one stream, or one of them in the host. */
#include "libs/observer/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORD = 96 };

/* A side in words. */
struct words {
    char noun[WORD]; /* "the kernel" */
    char stream[WORD]; /* "stream 5"; "the host" */
    char after[WORD]; /* when it has been asked for: "the launch" */
};

static const char *noun_of(enum mr_side_what what)
{
    static const char *const nouns[] = {
        [MR_SIDE_KERNEL] = "the kernel",
        [MR_SIDE_COPY] = "the copy",
        [MR_SIDE_FILL] = "the fill",
        [MR_SIDE_HOST_FUNCTION] = "the host function",
        [MR_SIDE_MEMORY_OP] = "the memory operation",
        [MR_SIDE_GRAPH] = "the graph's node",
        [MR_SIDE_HOST] = "the host",
        [MR_SIDE_MESSAGE] = "the message",
        [MR_SIDE_ALLOCATION] = "the allocation",
        [MR_SIDE_FREE] = "the free",
        [MR_SIDE_OTHER] = "the operation",
    };
    return nouns[what];
}

static void say_stream(const struct mr_side *side, char out[WORD])
{
    if (side->stream_kind == MR_STREAM_NONE)
        snprintf(out, WORD, "the host");
    else if (side->stream_kind == MR_STREAM_LEGACY)
        snprintf(out, WORD, "the legacy default stream");
    else if (side->stream_kind == MR_STREAM_PER_THREAD)
        snprintf(out, WORD, "the default stream of thread %" PRIu32, side->thread);
    else if (side->stream)
        snprintf(out, WORD, "stream %" PRIu64, side->stream);
    else
        snprintf(out, WORD, "the stream of %s", noun_of(side->what));
}

static struct words words_of(const struct mr_side *side)
{
    struct words words;
    const char *noun = noun_of(side->what);
    snprintf(words.noun, WORD, "%s", noun);
    say_stream(side, words.stream);
    if (side->node)
        snprintf(words.after, WORD, "the launch of the graph");
    else if (side->what == MR_SIDE_KERNEL)
        snprintf(words.after, WORD, "the launch");
    else if (side->what == MR_SIDE_HOST || side->what == MR_SIDE_MESSAGE || side->what == MR_SIDE_OTHER)
        snprintf(words.after, WORD, "%s", side->call ? side->call : "the call");
    else
        snprintf(words.after, WORD, "%s", noun);
    return words;
}

static bool in_host(const struct mr_side *side)
{
    return side->stream_kind == MR_STREAM_NONE;
}

static bool same_stream(const struct mr_side *one, const struct mr_side *other)
{
    if (one->stream_kind != other->stream_kind)
        return false;
    if (one->stream_kind == MR_STREAM_PER_THREAD && one->thread != other->thread)
        return false;
    return one->stream == other->stream && (one->stream || one->stream_kind != MR_STREAM_MADE);
}

/* If one side is in the legacy default stream and the other in a stream that doesn't wait for it, the latter side. */
static const struct mr_side *apart_from_legacy(const struct mr_side *one, const struct mr_side *other)
{
    if (one->stream_kind == MR_STREAM_LEGACY && other->stream_kind == MR_STREAM_NONBLOCKING)
        return other;
    return other->stream_kind == MR_STREAM_LEGACY && one->stream_kind == MR_STREAM_NONBLOCKING ? one : NULL;
}

#define MISSING(...) snprintf(missing, OBS_ADVICE_ROOM, __VA_ARGS__)
#define ADVICE(...) snprintf(advice, OBS_ADVICE_ROOM, __VA_ARGS__)

static const char *call_of(const struct mr_side *side)
{
    return side->call ? side->call : "the call";
}

const char obs_host_code[] = "the host's code";

static const char *touches(const struct mr_side *side)
{
    return side->how & MR_ACCESS_WRITE ? "writes" : "reads";
}

/* The host's own code and something in a stream. */
static void advise_host_code(const struct mr_side *code, const struct mr_side *work, char *missing, char *advice)
{
    struct words words = words_of(work);
    MISSING("the host's code %s the bytes and does not wait for %s in %s", touches(code), words.noun, words.stream);
    ADVICE("synchronise with %s, or with an event recorded in it after %s, before the host %s them", words.stream,
           words.after, touches(code));
}

/* When the message has ended: "MPI_Send has returned". */
static void say_end(const struct mr_side *message, char out[WORD])
{
    const char *call = call_of(message);
    if (strncmp(call, "MPI_I", 5) == 0 || strncmp(call, "MPI_Start", 9) == 0)
        snprintf(out, WORD, "the request of %s is complete (MPI_Wait)", call);
    else
        snprintf(out, WORD, "%s has returned", call);
}

/* Something that the program has asked for, or done itself, while a message was under way. */
static void advise_message(const struct mr_side *message, const struct mr_side *later, char *missing, char *advice)
{
    struct words words = words_of(later);
    const char *call = call_of(message);
    char end[WORD];
    say_end(message, end);
    if (!in_host(later)) {
        MISSING("%s in %s does not wait for the message by %s", words.noun, words.stream, call);
        ADVICE("ask for %s when %s", words.noun, end);
    } else {
        MISSING("%s does not wait for the message by %s", call_of(later), call);
        ADVICE("wait until %s before the host %s the bytes", end, touches(later));
    }
}

/* The host is one side, or both. */
static void advise_host(const struct mr_finding *finding, char *missing, char *advice)
{
    const struct mr_side *earlier = &finding->earlier, *later = &finding->later;
    struct words first = words_of(earlier), second = words_of(later);
    if (earlier->what == MR_SIDE_MESSAGE) {
        advise_message(earlier, later, missing, advice);
    } else if (later->what == MR_SIDE_MESSAGE && in_host(earlier)) { /* neither is a call with a number */
        advise_message(later, earlier, missing, advice);
    } else if (later->call == obs_host_code && !in_host(earlier)) {
        advise_host_code(later, earlier, missing, advice);
    } else if (in_host(earlier) && in_host(later)) {
        MISSING("nothing orders %s in thread %" PRIu32 " and %s in thread %" PRIu32, call_of(earlier), earlier->thread,
                call_of(later), later->thread);
        ADVICE("let one thread wait for the other between the two calls");
    } else if (in_host(later)) {
        MISSING("%s does not wait for %s in %s", call_of(later), first.noun, first.stream);
        ADVICE("synchronise with %s, or with an event recorded in it after %s, before %s", first.stream, first.after,
               call_of(later));
    } else {
        MISSING("%s in %s does not wait for what the host does in %s", second.noun, second.stream, call_of(earlier));
        ADVICE("ask for %s when %s has returned: let thread %" PRIu32 " wait for thread %" PRIu32, second.noun,
               call_of(earlier), later->thread, earlier->thread);
    }
}

/* Both are in streams, or in graphs that run in streams. */
static void advise_streams(const struct mr_finding *finding, char *missing, char *advice)
{
    const struct mr_side *earlier = &finding->earlier, *later = &finding->later;
    struct words first = words_of(earlier), second = words_of(later);
    const struct mr_side *apart = apart_from_legacy(earlier, later);
    if (later->overlaps && (same_stream(earlier, later) || earlier->work == later->work)) {
        MISSING("%s may begin before %s in front of it has ended (programmatic dependent launch), and does not wait "
                "for it before it %s the bytes",
                second.noun, first.noun, touches(later));
        ADVICE("call cudaGridDependencySynchronize() (griddepcontrol.wait) in the later kernel before it %s them",
               touches(later));
        return;
    }
    if (earlier->node && later->node && earlier->work == later->work) {
        MISSING("the graph has no path of edges between the nodes of %s and %s", first.noun, second.noun);
        ADVICE("add an edge to the graph, so that one of the two nodes depends on the other");
        return;
    }
    if (same_stream(earlier, later)) {
        MISSING("nothing orders thread %" PRIu32 " and thread %" PRIu32 ", which both use %s", earlier->thread,
                later->thread, first.stream);
        ADVICE("let thread %" PRIu32 " ask for %s when thread %" PRIu32 " has asked for %s", later->thread, second.noun,
               earlier->thread, first.noun);
        return;
    }
    if (finding->luck)
        MISSING("%s waits for %s in %s on hardware, but no manual promises it", second.stream, first.noun,
                first.stream);
    else if (apart)
        MISSING(
            "%s does not wait for %s in %s: a non-blocking stream and the legacy default stream do not wait for each "
            "other",
            second.stream, first.noun, first.stream);
    else
        MISSING("%s does not wait for %s in %s", second.stream, first.noun, first.stream);
    if (!later->node)
        ADVICE("make %s wait for an event recorded in %s after %s", second.stream, first.stream, first.after);
    else
        ADVICE("make %s wait for an event recorded in %s after %s, before it launches its graph", second.stream,
               first.stream, first.after);
}

static bool is_free(const struct mr_side *side)
{
    return side->what == MR_SIDE_FREE || side->how & OBS_ACCESS_FREES;
}

static void advise_early_free(const struct mr_finding *finding, char *missing, char *advice)
{
    bool free_is_later = is_free(&finding->later);
    const struct mr_side *use = free_is_later ? &finding->earlier : &finding->later;
    const struct mr_side *end = free_is_later ? &finding->later : &finding->earlier;
    struct words used = words_of(use), ended = words_of(end);
    if (use->node && end->node && use->work == end->work) {
        MISSING("the graph has no path of edges from the node of %s to the free", used.noun);
        ADVICE("add an edge to the graph, so that the free depends on %s", used.noun);
    } else if (use->what == MR_SIDE_MESSAGE) {
        char done[WORD];
        say_end(use, done);
        MISSING("%s does not wait for the message by %s, which uses the memory", call_of(end), call_of(use));
        ADVICE("call %s when %s", call_of(end), done);
    } else if (in_host(end)) {
        MISSING("%s does not wait for %s in %s, %s", call_of(end), used.noun, used.stream,
                use->how & OBS_ACCESS_RUNS ? "whose code it takes away" : "which uses the memory");
        if (in_host(use))
            ADVICE("let thread %" PRIu32 " wait for thread %" PRIu32 " before %s", end->thread, use->thread,
                   call_of(end));
        else
            ADVICE("synchronise with %s after %s and before %s", used.stream, used.after, call_of(end));
    } else {
        MISSING("%s in %s does not wait for %s in %s, which uses the memory", call_of(end), ended.stream, used.noun,
                used.stream);
        if (in_host(use))
            ADVICE("call %s when %s has returned", call_of(end), call_of(use));
        else
            ADVICE("make %s wait for an event recorded in %s after %s, before %s", ended.stream, used.stream,
                   used.after, call_of(end));
    }
}

static void advise_late_use(const struct mr_finding *finding, char *missing, char *advice)
{
    bool free_is_later = is_free(&finding->later);
    const struct mr_side *use = free_is_later ? &finding->earlier : &finding->later;
    const struct mr_side *end = free_is_later ? &finding->later : &finding->earlier;
    struct words used = words_of(use);
    if (end->how & OBS_ACCESS_FREES) {
        MISSING("%s that frees the memory is asked for before %s that uses it", noun_of(end->what), used.noun);
        ADVICE("free the memory in a kernel that is launched after its last use, and waits for it");
        return;
    }
    if (use->node && end->node && use->work == end->work) {
        MISSING("%s comes after the free in the graph", used.noun);
        ADVICE("turn the edges round, so that the free depends on %s", used.noun);
        return;
    }
    if (use->how & OBS_ACCESS_RUNS)
        MISSING("%s takes the code of %s away before it runs", call_of(end), used.noun);
    else
        MISSING("%s gives the memory back before %s uses it", call_of(end), used.noun);
    if (in_host(end))
        ADVICE("call %s after %s, when %s has ended", call_of(end), used.after, used.noun);
    else
        ADVICE("call %s after %s, in a stream that waits for %s", call_of(end), used.after, used.noun);
}

void obs_advise(const struct mr_finding *finding, char missing[OBS_ADVICE_ROOM], char advice[OBS_ADVICE_ROOM])
{
    missing[0] = advice[0] = 0;
    if (finding->kind == MR_FINDING_EARLY_FREE)
        advise_early_free(finding, missing, advice);
    else if (finding->kind == MR_FINDING_USE_AFTER_FREE)
        advise_late_use(finding, missing, advice);
    else if (in_host(&finding->earlier) || in_host(&finding->later))
        advise_host(finding, missing, advice);
    else
        advise_streams(finding, missing, advice);
}
