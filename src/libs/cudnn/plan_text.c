/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as text. The text has the descriptors in a list, each behind those that it names, the engine configuration
 * last:
 *
 *   {"millrace_plan":1,"descriptors":[[TYPE,[NAME,TYPE,COUNT,"ELEMENTS"],...],...]}
 *
 * ELEMENTS are the bytes of the attribute's elements as hexadecimal digits. An element that is a descriptor is its
 * place in the list, in eight bytes. Handles and pointers are left out: they mean nothing to another process. */
#include "libs/cudnn/plan_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

struct writer {
    const struct mr_descriptor **written; /* in the order of the list */
    int64_t count;
    FILE *out;
    bool failed; /* memory is short */
};

static int64_t place_of(const struct writer *w, const struct mr_descriptor *d)
{
    for (int64_t i = 0; i < w->count; i++)
        if (w->written[i] == d)
            return i;
    return -1;
}

static bool is_kept(const struct mr_attribute *a)
{
    return a->type != CUDNN_TYPE_HANDLE && a->type != CUDNN_TYPE_VOID_PTR && a->count > 0;
}

static void write_elements(const struct writer *w, const struct mr_attribute *a)
{
    size_t size = mr_attribute_size(a->type);
    for (int64_t i = 0; i < a->count; i++) {
        const unsigned char *bytes = (const unsigned char *)a->elements + (size_t)i * size;
        int64_t place;
        if (a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
            place = place_of(w, ((struct mr_descriptor *const *)a->elements)[i]);
            bytes = (const unsigned char *)&place;
        }
        for (size_t k = 0; k < size; k++)
            fprintf(w->out, "%02x", bytes[k]);
    }
}

static void write_descriptor(struct writer *w, const struct mr_descriptor *d)
{
    if (w->failed || place_of(w, d) >= 0)
        return;
    for (const struct mr_attribute *a = d->attributes; a; a = a->next)
        for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->count; i++)
            write_descriptor(w, ((struct mr_descriptor *const *)a->elements)[i]);
    fprintf(w->out, "%s[%d", w->count ? "," : "", (int)d->type);
    for (const struct mr_attribute *a = d->attributes; a; a = a->next)
        if (is_kept(a)) {
            fprintf(w->out, ",[%d,%d,%lld,\"", (int)a->name, (int)a->type, (long long)a->count);
            write_elements(w, a);
            fputs("\"]", w->out);
        }
    fputc(']', w->out);
    const struct mr_descriptor **more = realloc(w->written, (size_t)(w->count + 1) * sizeof *more);
    if (!more) {
        w->failed = true;
        return;
    }
    w->written = more;
    more[w->count++] = d;
}

char *mr_plan_text(const struct mr_descriptor *plan)
{
    char *text = NULL;
    size_t length;
    struct writer w = {.out = open_memstream(&text, &length)};
    if (!w.out)
        return NULL;
    fputs("{\"millrace_plan\":1,\"descriptors\":[", w.out);
    write_descriptor(&w, mr_attribute_descriptor(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
    fputs("]}", w.out);
    free(w.written);
    if (fclose(w.out) == 0 && !w.failed)
        return text;
    free(text);
    return NULL;
}

/* ---- reading ---- */

struct reader {
    const struct mr_plan_maker *maker;
    const char *at, *end;
    struct mr_descriptor **made;
    int64_t count;
};

static cudnnStatus_t bad_text(const struct reader *r)
{
    return mr_dnn_bad(r->maker->function, CUDNN_STATUS_BAD_PARAM, "the text is not a plan that this library wrote");
}

/* Goes past the word if it comes next. */
static bool take(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_number(struct reader *r, int64_t *number)
{
    int64_t value = 0;
    const char *begin = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (value > 100000000)
            return false;
        value = value * 10 + (*r->at - '0');
    }
    *number = value;
    return r->at > begin;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_bytes(struct reader *r, unsigned char *bytes, size_t size)
{
    if ((size_t)(r->end - r->at) / 2 < size)
        return false;
    for (size_t i = 0; i < size; i++, r->at += 2) {
        int high = digit(r->at[0]), low = digit(r->at[1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* Places in the list become descriptors. */
static bool find_descriptors(const struct reader *r, int64_t count, void *elements)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t place;
        memcpy(&place, (char *)elements + i * 8, 8);
        if (place < 0 || place >= r->count)
            return false;
        memcpy((char *)elements + i * 8, &r->made[place], 8);
    }
    return true;
}

static cudnnStatus_t read_attribute(struct reader *r, struct mr_descriptor *d)
{
    int64_t name, type, count;
    if (!take_number(r, &name) || !take(r, ",") || !take_number(r, &type) || !take(r, ",") || !take_number(r, &count) ||
        !take(r, ",\""))
        return bad_text(r);
    size_t size = mr_attribute_size((cudnnBackendAttributeType_t)type), bytes = (size_t)count * size;
    if (!size || type == CUDNN_TYPE_HANDLE || type == CUDNN_TYPE_VOID_PTR || bytes > (size_t)(r->end - r->at))
        return bad_text(r);
    void *elements = malloc(bytes ? bytes : 1);
    if (!elements)
        return mr_dnn_bad(r->maker->function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (!take_bytes(r, elements, bytes) || !take(r, "\"]") ||
        (type == CUDNN_TYPE_BACKEND_DESCRIPTOR && !find_descriptors(r, count, elements)))
        status = bad_text(r);
    else
        status = r->maker->set(r->maker->data, d, (cudnnBackendAttributeName_t)name, (cudnnBackendAttributeType_t)type,
                               count, elements);
    free(elements);
    return status;
}

static cudnnStatus_t read_descriptor(struct reader *r)
{
    int64_t type;
    struct mr_descriptor *d;
    if (!take(r, "[") || !take_number(r, &type) || type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        return bad_text(r);
    struct mr_descriptor **more = realloc(r->made, (size_t)(r->count + 1) * sizeof *more);
    if (!more)
        return mr_dnn_bad(r->maker->function, CUDNN_STATUS_ALLOC_FAILED, "memory is short");
    r->made = more;
    MR_STEP(r->maker->create(r->maker->data, (cudnnBackendDescriptorType_t)type, &d));
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    while (status == CUDNN_STATUS_SUCCESS && take(r, ",["))
        status = read_attribute(r, d);
    if (status == CUDNN_STATUS_SUCCESS && !take(r, "]"))
        status = bad_text(r);
    if (status == CUDNN_STATUS_SUCCESS)
        status = r->maker->finalize(r->maker->data, d);
    if (status == CUDNN_STATUS_SUCCESS)
        r->made[r->count++] = d;
    else
        mr_descriptor_drop(d);
    return status;
}

/* The last of the list goes to the caller. */
static cudnnStatus_t read_list(struct reader *r, struct mr_descriptor **config)
{
    if (!take(r, "{\"millrace_plan\":1,\"descriptors\":["))
        return bad_text(r);
    do
        MR_STEP(read_descriptor(r));
    while (take(r, ","));
    struct mr_descriptor *last = r->made && r->count > 0 ? r->made[r->count - 1] : NULL;
    if (!last || last->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR || !take(r, "]}"))
        return bad_text(r);
    *config = last;
    r->count--;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t mr_plan_of_text(const struct mr_plan_maker *maker, const char *text, size_t length,
                              struct mr_descriptor **config)
{
    struct reader r = {.maker = maker, .at = text, .end = text + length};
    cudnnStatus_t status = read_list(&r, config);
    for (int64_t i = 0; r.made && i < r.count; i++)
        mr_descriptor_drop(r.made[i]);
    free(r.made);
    return status;
}
