/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN 2 and 3: the same primitives, made by other functions. Version 2 describes memory and convolutions by
 * structures that the caller holds; they are opaque bytes here, more of them than it needs. */
#include "libs/cudnn/dnnl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "libs/math/open.h"
#include "libs/math/work.h"

/* oneDNN's numbers, the same in both versions. */
enum {
    F32 = 3,
    TAG_ANY = 1,
    CPU = 1,
    FORWARD_TRAINING = 64,
    CONVOLUTION_DIRECT = 1,
    SCRATCHPAD_USER = 1,
    QUERY_WEIGHTS = 131,
    QUERY_DIFF_WEIGHTS = 132,
    QUERY_SCRATCHPAD = 136,
    ARG_SRC = 1,
    ARG_DST = 17,
    ARG_WEIGHTS = 33,
    ARG_SCRATCHPAD = 80,
    ARG_DIFF_SRC = 129,
    ARG_DIFF_DST = 145,
    ARG_DIFF_WEIGHTS = 161,
};

#define KEPT 512 /* convolutions that are kept at most while nobody uses them */
#define DIMS 12

struct argument {
    int arg;
    void *memory;
};

static struct {
    bool is_open, is_third;
    void *engine, *attr;
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*stream_wait)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*attr_create)(void **attr);
    int (*attr_set_scratchpad_mode)(void *attr, int mode);
    int (*primitive_create)(void **primitive, void *desc);
    int (*primitive_destroy)(void *primitive);
    int (*primitive_execute)(void *primitive, void *stream, int count, const struct argument *arguments);
    int (*desc_destroy)(void *desc);
    const void *(*query_md)(void *desc, int what, int index);
    size_t (*md_size)(const void *md);
    int (*md_equal)(const void *a, const void *b);
    int (*memory_create)(void **memory, const void *md, void *engine, void *handle);
    int (*memory_destroy)(void *memory);
    int (*reorder_create)(void **desc, const void *from, void *from_engine, const void *to, void *to_engine,
                          void *attr);
    void (*set_threads)(int count); /* of OpenMP; NULL: oneDNN was built without */
    int (*max_threads)(void);
    union {
        struct {
            int (*md_by_tag)(void *md, int n, const int64_t *dims, int type, int tag);
            int (*md_by_strides)(void *md, int n, const int64_t *dims, int type, const int64_t *strides);
            int (*forward)(void *conv, int prop, int algorithm, const void *src, const void *w, const void *bias,
                           const void *dst, const int64_t *strides, const int64_t *dilates, const int64_t *before,
                           const int64_t *after);
            int (*data)(void *conv, int algorithm, const void *dx, const void *w, const void *dy,
                        const int64_t *strides, const int64_t *dilates, const int64_t *before, const int64_t *after);
            int (*filter)(void *conv, int algorithm, const void *x, const void *dw, const void *db, const void *dy,
                          const int64_t *strides, const int64_t *dilates, const int64_t *before, const int64_t *after);
            int (*desc_create)(void **desc, const void *conv, void *attr, void *engine, void *hint);
        } second;
        struct {
            int (*md_by_tag)(void **md, int n, const int64_t *dims, int type, int tag);
            int (*md_by_strides)(void **md, int n, const int64_t *dims, int type, const int64_t *strides);
            int (*md_destroy)(void *md);
            int (*forward)(void **desc, void *engine, int prop, int algorithm, const void *src, const void *w,
                           const void *bias, const void *dst, const int64_t *strides, const int64_t *dilates,
                           const int64_t *before, const int64_t *after, void *attr);
            int (*data)(void **desc, void *engine, int algorithm, const void *dx, const void *w, const void *dy,
                        const int64_t *strides, const int64_t *dilates, const int64_t *before, const int64_t *after,
                        void *hint, void *attr);
            int (*filter)(void **desc, void *engine, int algorithm, const void *x, const void *dw, const void *db,
                          const void *dy, const int64_t *strides, const int64_t *dilates, const int64_t *before,
                          const int64_t *after, void *hint, void *attr);
        } third;
    };
} dnnl;

/* A description of memory. Version 2 writes into `room`, version 3 gives a handle. */
struct md {
    void *handle;
    _Alignas(16) unsigned char room[1024];
};

struct mr_conv {
    struct mr_conv *next;
    struct mr_conv_key key;
    unsigned references; /* under the lock */
    void *desc, *primitive, *reorder;
    struct md x, w, y; /* w: as outputs, inputs, space */
    const void *own_w; /* as oneDNN wants it; it belongs to desc */
    size_t scratch;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* opening, and the list */
static struct mr_conv *list;
static unsigned unused;

static pthread_key_t streams; /* each of our threads has a stream of oneDNN's */

static void end_stream(void *stream)
{
    dnnl.stream_destroy(stream);
}

static const struct mr_cpu_library wanted = {.names = (const char *const[]){"libdnnl.so.2", "libdnnl.so.3", NULL},
                                             .what = "oneDNN",
                                             .without = "convolution",
                                             .package = "libdnnl2",
                                             .is_cpp = true};

static bool find(void *library, void **function, const char *symbol)
{
    return mr_cpu_library_find(&wanted, library, function, symbol);
}

static bool find_second(void *l)
{
    return find(l, (void **)&dnnl.second.md_by_tag, "dnnl_memory_desc_init_by_tag") &&
           find(l, (void **)&dnnl.second.md_by_strides, "dnnl_memory_desc_init_by_strides") &&
           find(l, (void **)&dnnl.second.forward, "dnnl_dilated_convolution_forward_desc_init") &&
           find(l, (void **)&dnnl.second.data, "dnnl_dilated_convolution_backward_data_desc_init") &&
           find(l, (void **)&dnnl.second.filter, "dnnl_dilated_convolution_backward_weights_desc_init") &&
           find(l, (void **)&dnnl.second.desc_create, "dnnl_primitive_desc_create");
}

static bool find_third(void *l)
{
    return find(l, (void **)&dnnl.third.md_by_tag, "dnnl_memory_desc_create_with_tag") &&
           find(l, (void **)&dnnl.third.md_by_strides, "dnnl_memory_desc_create_with_strides") &&
           find(l, (void **)&dnnl.third.md_destroy, "dnnl_memory_desc_destroy") &&
           find(l, (void **)&dnnl.third.forward, "dnnl_convolution_forward_primitive_desc_create") &&
           find(l, (void **)&dnnl.third.data, "dnnl_convolution_backward_data_primitive_desc_create") &&
           find(l, (void **)&dnnl.third.filter, "dnnl_convolution_backward_weights_primitive_desc_create");
}

static bool open_it(void)
{
    void *l = mr_cpu_library_open(&wanted);
    if (!l)
        return false;
    dnnl.is_third = !dlsym(l, "dnnl_dilated_convolution_forward_desc_init");
    if (!find(l, (void **)&dnnl.engine_create, "dnnl_engine_create") ||
        !find(l, (void **)&dnnl.stream_create, "dnnl_stream_create") ||
        !find(l, (void **)&dnnl.stream_wait, "dnnl_stream_wait") ||
        !find(l, (void **)&dnnl.stream_destroy, "dnnl_stream_destroy") ||
        !find(l, (void **)&dnnl.attr_create, "dnnl_primitive_attr_create") ||
        !find(l, (void **)&dnnl.attr_set_scratchpad_mode, "dnnl_primitive_attr_set_scratchpad_mode") ||
        !find(l, (void **)&dnnl.primitive_create, "dnnl_primitive_create") ||
        !find(l, (void **)&dnnl.primitive_destroy, "dnnl_primitive_destroy") ||
        !find(l, (void **)&dnnl.primitive_execute, "dnnl_primitive_execute") ||
        !find(l, (void **)&dnnl.desc_destroy, "dnnl_primitive_desc_destroy") ||
        !find(l, (void **)&dnnl.query_md, "dnnl_primitive_desc_query_md") ||
        !find(l, (void **)&dnnl.md_size, "dnnl_memory_desc_get_size") ||
        !find(l, (void **)&dnnl.md_equal, "dnnl_memory_desc_equal") ||
        !find(l, (void **)&dnnl.memory_create, "dnnl_memory_create") ||
        !find(l, (void **)&dnnl.memory_destroy, "dnnl_memory_destroy") ||
        !find(l, (void **)&dnnl.reorder_create, "dnnl_reorder_primitive_desc_create") ||
        !(dnnl.is_third ? find_third(l) : find_second(l)))
        return false;
    dnnl.set_threads = (void (*)(int))dlsym(l, "omp_set_num_threads");
    dnnl.max_threads = (int (*)(void))dlsym(l, "omp_get_max_threads");
    return pthread_key_create(&streams, end_stream) == 0 && dnnl.engine_create(&dnnl.engine, CPU, 0) == 0 &&
           dnnl.attr_create(&dnnl.attr) == 0 && dnnl.attr_set_scratchpad_mode(dnnl.attr, SCRATCHPAD_USER) == 0;
}

bool mr_dnnl_open(void)
{
    pthread_mutex_lock(&lock);
    if (!dnnl.is_open)
        dnnl.is_open = open_it();
    bool is_open = dnnl.is_open;
    pthread_mutex_unlock(&lock);
    return is_open;
}

static const void *md_of(const struct md *md)
{
    return dnnl.is_third ? md->handle : md->room;
}

static bool md_any(struct md *md, int n, const int64_t *dims)
{
    return (dnnl.is_third ? dnnl.third.md_by_tag(&md->handle, n, dims, F32, TAG_ANY)
                          : dnnl.second.md_by_tag(md->room, n, dims, F32, TAG_ANY)) == 0;
}

static bool md_strided(struct md *md, int n, const int64_t *dims, const int64_t *strides)
{
    return (dnnl.is_third ? dnnl.third.md_by_strides(&md->handle, n, dims, F32, strides)
                          : dnnl.second.md_by_strides(md->room, n, dims, F32, strides)) == 0;
}

static void md_end(struct md *md)
{
    if (dnnl.is_third && md->handle)
        dnnl.third.md_destroy(md->handle);
    md->handle = NULL;
}

/* Images with their channels innermost. */
static bool md_images(struct md *md, int64_t images, int64_t channels, int space, const int64_t *size)
{
    int64_t dims[DIMS] = {images, channels}, strides[DIMS] = {0, 1}, step = channels;
    for (int i = space - 1; i >= 0; i--) {
        dims[2 + i] = size[i];
        strides[2 + i] = step;
        step *= size[i];
    }
    strides[0] = step;
    return md_strided(md, 2 + space, dims, strides);
}

/* Dimensions of a filter: groups first where there are several. */
static int filter_dims(const struct mr_conv_key *key, int64_t *dims)
{
    int n = 0;
    if (key->groups > 1)
        dims[n++] = key->groups;
    dims[n++] = key->outputs / key->groups;
    dims[n++] = key->inputs / key->groups;
    for (int i = 0; i < key->space; i++)
        dims[n++] = key->kernel[i];
    return n;
}

static bool make_desc(struct mr_conv *conv, const void *any_w)
{
    const struct mr_conv_key *k = &conv->key;
    int64_t dilates[3];
    for (int i = 0; i < k->space; i++)
        dilates[i] = k->dilation[i] - 1;
    const void *x = md_of(&conv->x), *y = md_of(&conv->y);
    void *forward = NULL;
    bool made;
    if (dnnl.is_third) {
        made = dnnl.third.forward(&forward, dnnl.engine, FORWARD_TRAINING, CONVOLUTION_DIRECT, x, any_w, NULL, y,
                                  k->stride, dilates, k->before, k->after, dnnl.attr) == 0;
        if (made && k->kind == MR_CONV_DATA)
            made = dnnl.third.data(&conv->desc, dnnl.engine, CONVOLUTION_DIRECT, x, any_w, y, k->stride, dilates,
                                   k->before, k->after, forward, dnnl.attr) == 0;
        else if (made && k->kind == MR_CONV_FILTER)
            made = dnnl.third.filter(&conv->desc, dnnl.engine, CONVOLUTION_DIRECT, x, any_w, NULL, y, k->stride,
                                     dilates, k->before, k->after, forward, dnnl.attr) == 0;
    } else {
        unsigned char *description = calloc(1, 16384);
        made = description &&
               dnnl.second.forward(description, FORWARD_TRAINING, CONVOLUTION_DIRECT, x, any_w, NULL, y, k->stride,
                                   dilates, k->before, k->after) == 0 &&
               dnnl.second.desc_create(&forward, description, dnnl.attr, dnnl.engine, NULL) == 0;
        if (made && k->kind != MR_CONV_FORWARD) {
            memset(description, 0, 16384);
            made = (k->kind == MR_CONV_DATA ? dnnl.second.data(description, CONVOLUTION_DIRECT, x, any_w, y, k->stride,
                                                               dilates, k->before, k->after)
                                            : dnnl.second.filter(description, CONVOLUTION_DIRECT, x, any_w, NULL, y,
                                                                 k->stride, dilates, k->before, k->after)) == 0 &&
                   dnnl.second.desc_create(&conv->desc, description, dnnl.attr, dnnl.engine, forward) == 0;
        }
        free(description);
    }
    if (k->kind == MR_CONV_FORWARD)
        conv->desc = forward;
    else if (forward)
        dnnl.desc_destroy(forward);
    return made;
}

static void conv_end(struct mr_conv *conv)
{
    if (conv->primitive)
        dnnl.primitive_destroy(conv->primitive);
    if (conv->reorder)
        dnnl.primitive_destroy(conv->reorder);
    if (conv->desc)
        dnnl.desc_destroy(conv->desc);
    md_end(&conv->x);
    md_end(&conv->w);
    md_end(&conv->y);
    free(conv);
}

static bool make_reorder(struct mr_conv *conv)
{
    const void *plain = md_of(&conv->w);
    if (dnnl.md_equal(plain, conv->own_w))
        return true;
    bool back = conv->key.kind == MR_CONV_FILTER;
    void *desc;
    if (dnnl.reorder_create(&desc, back ? conv->own_w : plain, dnnl.engine, back ? plain : conv->own_w, dnnl.engine,
                            NULL))
        return false;
    bool made = dnnl.primitive_create(&conv->reorder, desc) == 0;
    dnnl.desc_destroy(desc);
    return made;
}

/* oneDNN asks for the number of threads when a primitive is made. The answer is one: each of our threads works alone.
 */
static struct mr_conv *make(const struct mr_conv_key *key)
{
    struct mr_conv *conv = calloc(1, sizeof *conv);
    if (!conv)
        return NULL;
    conv->key = *key;
    int threads = dnnl.max_threads ? dnnl.max_threads() : 1;
    if (dnnl.set_threads)
        dnnl.set_threads(1);
    int64_t dims[DIMS], strides[DIMS], step = 1;
    int n = filter_dims(key, dims);
    for (int i = n - 1; i >= 0; i--) {
        strides[i] = step;
        step *= dims[i];
    }
    struct md any = {0};
    bool made = md_images(&conv->x, key->images, key->inputs, key->space, key->in) &&
                md_images(&conv->y, key->images, key->outputs, key->space, key->out) && md_any(&any, n, dims) &&
                md_strided(&conv->w, n, dims, strides) && make_desc(conv, md_of(&any)) &&
                dnnl.primitive_create(&conv->primitive, conv->desc) == 0;
    if (made) {
        conv->own_w = dnnl.query_md(conv->desc, key->kind == MR_CONV_FILTER ? QUERY_DIFF_WEIGHTS : QUERY_WEIGHTS, 0);
        const void *scratch = dnnl.query_md(conv->desc, QUERY_SCRATCHPAD, 0);
        conv->scratch = scratch ? dnnl.md_size(scratch) : 0;
        made = conv->own_w && make_reorder(conv);
    }
    md_end(&any);
    if (dnnl.set_threads)
        dnnl.set_threads(threads);
    if (made)
        return conv;
    conv_end(conv);
    return NULL;
}

/* Ends the convolution that has been unused longest, which stands last. */
static void trim(void)
{
    struct mr_conv **last = NULL;
    for (struct mr_conv **at = &list; *at; at = &(*at)->next)
        if ((*at)->references == 0)
            last = at;
    if (!last)
        return;
    struct mr_conv *gone = *last;
    *last = gone->next;
    unused--;
    conv_end(gone);
}

struct mr_conv *mr_conv_get(const struct mr_conv_key *key)
{
    if (!mr_dnnl_open())
        return NULL;
    struct mr_conv *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct mr_conv **at = &list; *at; at = &(*at)->next)
        if (memcmp(&(*at)->key, key, sizeof *key) == 0) { /* goes to the front */
            found = *at;
            *at = found->next;
            unused -= found->references == 0;
            break;
        }
    if (!found)
        found = make(key);
    if (found) {
        found->references++;
        found->next = list;
        list = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void mr_conv_drop(struct mr_conv *conv)
{
    if (!conv)
        return;
    pthread_mutex_lock(&lock);
    if (--conv->references == 0 && ++unused > KEPT)
        trim();
    pthread_mutex_unlock(&lock);
}

struct mr_conv *mr_conv_keep(struct mr_conv *conv)
{
    pthread_mutex_lock(&lock);
    conv->references++;
    pthread_mutex_unlock(&lock);
    return conv;
}

size_t mr_conv_filter_bytes(const struct mr_conv *conv)
{
    return dnnl.md_size(conv->own_w);
}

bool mr_conv_turns(const struct mr_conv *conv)
{
    return conv->reorder != NULL;
}

/* ---- running ---- */

/* The thread's stream of oneDNN's, which ends with the thread. */
static void *stream_of_thread(void)
{
    void *stream = pthread_getspecific(streams);
    if (stream)
        return stream;
    if (dnnl.set_threads)
        dnnl.set_threads(1);
    if (dnnl.stream_create(&stream, dnnl.engine, 1))
        return NULL;
    if (pthread_setspecific(streams, stream)) {
        dnnl.stream_destroy(stream);
        return NULL;
    }
    return stream;
}

static bool execute(void *primitive, const int *args, const void *const *mds, void *const *places, int n)
{
    struct argument arguments[4];
    int made = 0;
    void *stream = stream_of_thread();
    bool done = stream;
    for (; made < n && done; made++) {
        arguments[made].arg = args[made];
        done = dnnl.memory_create(&arguments[made].memory, mds[made], dnnl.engine, places[made]) == 0;
    }
    done = done && dnnl.primitive_execute(primitive, stream, n, arguments) == 0 && dnnl.stream_wait(stream) == 0;
    for (int i = 0; i < made; i++)
        dnnl.memory_destroy(arguments[i].memory);
    return done;
}

bool mr_conv_turn(const struct mr_conv *conv, void *from, void *to)
{
    bool back = conv->key.kind == MR_CONV_FILTER;
    const void *plain = md_of(&conv->w);
    return execute(conv->reorder, (const int[]){ARG_SRC, ARG_DST},
                   (const void *const[]){back ? conv->own_w : plain, back ? plain : conv->own_w},
                   (void *const[]){from, to}, 2);
}

bool mr_conv_run(const struct mr_conv *conv, void *x, void *w, void *y)
{
    static const int args[3][4] = {{ARG_SRC, ARG_WEIGHTS, ARG_DST, ARG_SCRATCHPAD},
                                   {ARG_DIFF_SRC, ARG_WEIGHTS, ARG_DIFF_DST, ARG_SCRATCHPAD},
                                   {ARG_SRC, ARG_DIFF_WEIGHTS, ARG_DIFF_DST, ARG_SCRATCHPAD}};
    void *scratch = conv->scratch ? mr_math_scratch(3, conv->scratch) : NULL;
    if (conv->scratch && !scratch)
        return false;
    return execute(conv->primitive, args[conv->key.kind],
                   (const void *const[]){md_of(&conv->x), conv->own_w, md_of(&conv->y),
                                         conv->scratch ? dnnl.query_md(conv->desc, QUERY_SCRATCHPAD, 0) : NULL},
                   (void *const[]){x, w, y, scratch}, conv->scratch ? 4 : 3);
}
