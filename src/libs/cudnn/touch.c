/* SPDX-License-Identifier: Apache-2.0 */
/* What descriptors stand for, for observers (touch.h). */
#include "libs/cudnn/touch.h"

#include "libs/cudnn/dropout.h"

struct dimension {
    int64_t count, stride;
};

/* The dimensions that have more than one place, the closest first, those that follow each other as one; how many. */
static int sorted(const struct mr_tensor *t, struct dimension *to)
{
    int n = 0, joined = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->dim[i] == 1 || t->stride[i] == 0)
            continue;
        int at = n++;
        for (; at > 0 && to[at - 1].stride > t->stride[i]; at--)
            to[at] = to[at - 1];
        to[at] = (struct dimension){t->dim[i], t->stride[i]};
    }
    for (int i = 0; i < n; i++)
        if (joined && to[joined - 1].stride * to[joined - 1].count == to[i].stride)
            to[joined - 1].count *= to[i].count;
        else
            to[joined++] = to[i];
    return joined;
}

void mr_touch_elements(const char *function, unsigned how, const void *at, const struct mr_tensor *t)
{
    struct dimension d[CUDNN_DIM_MAX];
    if (!at || !t || t->n == 0 || !mr_tensor_fits(t))
        return;
    size_t size = mr_dnn_size(t->type);
    int n = sorted(t, d), inner = n > 0 && d[0].stride == 1;
    size_t width = inner ? (size_t)d[0].count * size : size;
    int64_t boxes = 1;
    for (int i = inner + 1; i < n; i++)
        boxes *= d[i].count;
    for (int64_t box = 0; box < boxes; box++) {
        int64_t rest = box, place = 0;
        for (int i = inner + 1; i < n; i++) {
            place += rest % d[i].count * d[i].stride;
            rest /= d[i].count;
        }
        bool has_rows = n > inner;
        (void)mr_tell_rows(function, (const char *)at + (size_t)place * size, width,
                           has_rows ? (size_t)d[inner].count : 1, has_rows ? (size_t)d[inner].stride * size : 0, how);
    }
}

void mr_touch_states(const char *function, unsigned how, const struct cudnnDropoutStruct *dropout)
{
    if (dropout && dropout->states)
        mr_touch_bytes(function, how, dropout->states, sizeof(struct mr_dropout_states));
}
