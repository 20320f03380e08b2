/* SPDX-License-Identifier: Apache-2.0 */
/* Opening FFTW, and the list of the plans that were made. Some plans that are not in use stay in it for later calls. */
#include "libs/cufft/fftw.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mutex.h"
#include "libs/math/open.h"

/* FFTW's numbers. */
#define FORWARD (-1)
#define BACKWARD 1
#define DESTROY_INPUT (1u << 0)
#define PRESERVE_INPUT (1u << 4)
#define ESTIMATE (1u << 6)

#define ALONE_FROM 64 /* elements of lines that are transformed one by one: from here to there */
#define ALONE_TO 255
#define BOUNDARY 16 /* bytes: plans are for pointers that stand on it */

#define KEPT 256 /* plans that are kept at most while nobody uses them */

/* The functions of one precision. The types of their elements are void here. */
struct fftw {
    void *(*plan_many_dft)(int rank, const int *n, int howmany, void *in, const int *inembed, int istride, int idist,
                           void *out, const int *onembed, int ostride, int odist, int sign, unsigned flags);
    void *(*plan_many_dft_r2c)(int rank, const int *n, int howmany, void *in, const int *inembed, int istride,
                               int idist, void *out, const int *onembed, int ostride, int odist, unsigned flags);
    void *(*plan_many_dft_c2r)(int rank, const int *n, int howmany, void *in, const int *inembed, int istride,
                               int idist, void *out, const int *onembed, int ostride, int odist, unsigned flags);
    void (*execute_dft)(const void *plan, void *in, void *out);
    void (*execute_dft_r2c)(const void *plan, void *in, void *out);
    void (*execute_dft_c2r)(const void *plan, void *in, void *out);
    void (*destroy_plan)(void *plan);
    bool is_open;
};

static struct fftw fftws[2]; /* by precision: float, double */

struct mr_lines {
    struct mr_lines *next;
    struct mr_lines_key key;
    unsigned references; /* under the lock */
    void *plan;
    int64_t times; /* how often it is run for all lines, and how many bytes further each time */
    int64_t from_step, to_step;
    const struct fftw *fftw;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the planner, the list, all that follows */
static struct mr_lines *list;
static unsigned unused;

static const struct mr_cpu_library libraries[2] = {
    {.names = (const char *const[]){"libfftw3f.so.3", NULL},
     .what = "FFTW 3 for float",
     .without = "Fourier transform",
     .package = "libfftw3-single3"},
    {.names = (const char *const[]){"libfftw3.so.3", NULL},
     .what = "FFTW 3 for double",
     .without = "Fourier transform of double",
     .package = "libfftw3-double3"},
};

/* Tells FFTW to lock its planner, which is the program's as well if that uses FFTW. Debian has the function in the same
 * package as the rest. */
static void lock_planner(bool wide)
{
    void *threads = mr_cpu_library_load(wide ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3", false);
    void (*make_safe)(void) = NULL;
    if (threads)
        make_safe =
            (void (*)(void))dlsym(threads, wide ? "fftw_make_planner_thread_safe" : "fftwf_make_planner_thread_safe");
    if (make_safe)
        make_safe();
    else
        mr_log(MR_LOG_INFO, "FFTW's planner can't be locked: no thread of the program may plan with FFTW itself");
}

static bool open_one(bool wide)
{
    struct fftw found = {.is_open = true};
    const struct mr_cpu_library *wanted = &libraries[wide];
    void *library = mr_cpu_library_open(wanted);
    if (!library)
        return false;
#define FIND(name) \
    if (!mr_cpu_library_find(wanted, library, (void **)&found.name, wide ? "fftw_" #name : "fftwf_" #name)) \
        return false;
    FIND(plan_many_dft)
    FIND(plan_many_dft_r2c)
    FIND(plan_many_dft_c2r)
    FIND(execute_dft)
    FIND(execute_dft_r2c)
    FIND(execute_dft_c2r)
    FIND(destroy_plan)
#undef FIND
    lock_planner(wide);
    fftws[wide] = found;
    return true;
}

bool mr_fftw_open(bool wide)
{
    pthread_mutex_lock(&lock);
    bool is_open = fftws[wide].is_open || open_one(wide);
    pthread_mutex_unlock(&lock);
    return is_open;
}

/* Lines whose plan is for one of them. For many lines at once FFTW estimates plans that take up to 2.4 times as long
 * (128 elements); of longer lines they are as quick. Each line has to stand on the plan's boundary. */
static void set_alone(struct mr_lines *lines, struct mr_lines_key *planned)
{
    int64_t size = lines->key.wide ? 16 : 8;
    bool is_complex = lines->key.kind == MR_LINE_FORWARD || lines->key.kind == MR_LINE_INVERSE;
    lines->times = 1;
    lines->from_step = lines->key.from_distance * size;
    lines->to_step = lines->key.to_distance * size;
    if (!is_complex || lines->key.rank || lines->key.length < ALONE_FROM || lines->key.length > ALONE_TO ||
        lines->from_step % BOUNDARY || lines->to_step % BOUNDARY)
        return;
    lines->times = lines->key.count;
    planned->count = 1;
}

/* When FFTW estimates, it looks only at the boundaries on which the pointers stand, and writes nothing. */
static void *plan_for(const struct fftw *fftw, const struct mr_lines_key *key)
{
    MR_MUTEX_HELD(&lock);
    static _Alignas(64) char places[2][64];
    int rank = key->rank ? key->rank : 1, n[3] = {(int)key->length, 1, 1};
    int count = (int)key->count, from = (int)key->from_distance, to = (int)key->to_distance;
    for (int i = 0; i < key->rank; i++)
        n[i] = (int)key->n[i];
    void *in = places[0], *out = key->in_place ? in : places[1];
    switch (key->kind) {
    case MR_LINE_REAL_IN:
        return fftw->plan_many_dft_r2c(rank, n, count, in, NULL, 1, from, out, NULL, 1, to, ESTIMATE | PRESERVE_INPUT);
    case MR_LINE_REAL_OUT:
        return fftw->plan_many_dft_c2r(rank, n, count, in, NULL, 1, from, out, NULL, 1, to, ESTIMATE | DESTROY_INPUT);
    default:
        return fftw->plan_many_dft(rank, n, count, in, NULL, 1, from, out, NULL, 1, to,
                                   key->kind == MR_LINE_FORWARD ? FORWARD : BACKWARD,
                                   ESTIMATE | (key->in_place ? 0 : PRESERVE_INPUT));
    }
}

static bool same(const struct mr_lines_key *a, const struct mr_lines_key *b)
{
    return a->wide == b->wide && a->in_place == b->in_place && a->kind == b->kind && a->length == b->length &&
           a->rank == b->rank && memcmp(a->n, b->n, sizeof a->n) == 0 && a->count == b->count &&
           a->from_distance == b->from_distance && a->to_distance == b->to_distance;
}

static bool fits(int64_t value)
{
    return value >= 0 && value <= INT_MAX;
}

/* Ends the plan that has been unused longest, which stands last. Lock held. */
static void trim(void)
{
    MR_MUTEX_HELD(&lock);
    struct mr_lines **last = NULL;
    for (struct mr_lines **at = &list; *at; at = &(*at)->next)
        if ((*at)->references == 0)
            last = at;
    if (!last)
        return;
    struct mr_lines *gone = *last;
    *last = gone->next;
    gone->fftw->destroy_plan(gone->plan);
    free(gone);
    unused--;
}

struct mr_lines *mr_lines_get(const struct mr_lines_key *key)
{
    struct mr_lines *found = NULL;
    if (!fits(key->length) || !fits(key->count) || !fits(key->from_distance) || !fits(key->to_distance))
        return NULL;
    pthread_mutex_lock(&lock);
    for (struct mr_lines **at = &list; *at; at = &(*at)->next)
        if (same(&(*at)->key, key)) { /* goes to the front */
            found = *at;
            *at = found->next;
            unused -= found->references == 0;
            break;
        }
    if (!found && (found = malloc(sizeof *found))) {
        *found = (struct mr_lines){.key = *key, .fftw = &fftws[key->wide]};
        struct mr_lines_key planned = *key;
        set_alone(found, &planned);
        found->plan = plan_for(found->fftw, &planned);
        if (!found->plan) {
            free(found);
            found = NULL;
        }
    }
    if (found) {
        found->references++;
        found->next = list;
        list = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void mr_lines_drop(struct mr_lines *lines)
{
    if (!lines)
        return;
    pthread_mutex_lock(&lock);
    if (--lines->references == 0 && ++unused > KEPT)
        trim();
    pthread_mutex_unlock(&lock);
}

void mr_lines_run(const struct mr_lines *lines, void *from, void *to)
{
    const struct fftw *fftw = lines->fftw;
    if (lines->key.kind == MR_LINE_REAL_IN)
        fftw->execute_dft_r2c(lines->plan, from, to);
    else if (lines->key.kind == MR_LINE_REAL_OUT)
        fftw->execute_dft_c2r(lines->plan, from, to);
    else
        for (int64_t i = 0; i < lines->times; i++)
            fftw->execute_dft(lines->plan, (char *)from + i * lines->from_step, (char *)to + i * lines->to_step);
}
