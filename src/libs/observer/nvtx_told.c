/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread has a list of the ranges that it is in; streams have a table of names. Texts stay, up to a bound. */
#include "libs/observer/nvtx_told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "libs/observer/order_call.h"

enum { KEPT = 1 << 14, NAMED = 1 << 10, DEEP = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Texts that stay, by what they say; names of streams. Both by open addresses; guarded by the lock, but names are read
 * without.
 */
static _Atomic(const char *) kept[2 * KEPT];
static size_t kept_count;
static struct {
    _Atomic uint64_t stream;
    _Atomic(const char *) name;
} named[2 * NAMED];
static size_t named_count;

/* The ranges that the thread is in, the innermost last; those beyond DEEP are only counted. */
static _Thread_local struct {
    unsigned depth;
    uint64_t domains[DEEP];
    const char *texts[DEEP];
} ranges;

static size_t hash_of(const char *bytes, size_t length)
{
    uint64_t hash = length;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 29) % (2 * KEPT);
}

/* The same text, where it stays; NULL: memory is short, or there are very many. */
static const char *stays(const char *bytes, size_t length)
{
    size_t at = hash_of(bytes, length);
    const char *found;
    pthread_mutex_lock(&lock);
    for (; (found = kept[at]); at = (at + 1) % (2 * KEPT))
        if (strncmp(found, bytes, length) == 0 && !found[length])
            break;
    if (!found && kept_count < KEPT && (found = strndup(bytes, length))) {
        kept[at] = found;
        kept_count++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void nvtx_told_push(uint64_t domain, const char *bytes, size_t length)
{
    if (ranges.depth < DEEP) {
        ranges.domains[ranges.depth] = domain;
        ranges.texts[ranges.depth] = stays(bytes, length);
    }
    ranges.depth++;
}

/* Ends the innermost range of the domain; others may be further in. */
void nvtx_told_pop(uint64_t domain)
{
    if (ranges.depth == 0)
        return;
    unsigned at = ranges.depth-- - 1;
    if (at >= DEEP)
        return;
    while (at > 0 && ranges.domains[at] != domain)
        at--;
    for (; at < ranges.depth; at++) {
        ranges.domains[at] = ranges.domains[at + 1];
        ranges.texts[at] = ranges.texts[at + 1];
    }
}

static const char *range_here(void)
{
    return ranges.depth == 0 ? NULL : ranges.texts[ranges.depth < DEEP ? ranges.depth - 1 : DEEP - 1];
}

/* Where a stream's name stands, or may be put. */
static size_t place_of(uint64_t stream)
{
    size_t at = (size_t)(stream * 0x9e3779b97f4a7c15u >> 32) % (2 * NAMED);
    while (named[at].stream && named[at].stream != stream)
        at = (at + 1) % (2 * NAMED);
    return at;
}

void nvtx_told_stream(uint64_t stream, const char *bytes, size_t length)
{
    const char *text = stays(bytes, length);
    pthread_mutex_lock(&lock);
    size_t at = place_of(stream);
    if (text && (named[at].stream || named_count < NAMED)) {
        named_count += named[at].stream == 0;
        named[at].name = text;
        named[at].stream = stream;
    }
    pthread_mutex_unlock(&lock);
}

static const char *stream_name(uint64_t stream)
{
    size_t at = place_of(stream);
    return named[at].stream == stream ? named[at].name : NULL;
}

void nvtx_told_begin(void)
{
    atomic_store(&obs_range_here, range_here);
    atomic_store(&obs_stream_name, stream_name);
}
