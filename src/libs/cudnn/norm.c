/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation, group by group: a group's elements share statistics. Sums are of doubles. */
#include "libs/cudnn/norm.h"

#include <math.h>

/* Lines of one piece of a row. */
struct lines {
    double x[MR_LINE], dy[MR_LINE], scale[MR_LINE], bias[MR_LINE], mean[MR_LINE], inverse[MR_LINE];
};

struct statistics {
    double mean, variance, inverse;
};

static double one(const struct mr_tensor *t, const void *at, int64_t place)
{
    double value = 0;
    mr_line_load(t->type, at, place, 1, 1, true, &value);
    return value;
}

/* A piece of a group's row: elements [from, from + n) of row `row`. */
struct piece {
    const struct mr_groups *groups;
    int64_t group, row, from, n;
};

static void load(const struct piece *p, const struct mr_tensor *t, const void *at, double *to)
{
    int64_t stride = mr_rows_stride(&p->groups->over, t);
    mr_line_load(t->type, at,
                 mr_groups_at(p->groups, t, p->group) + mr_rows_at(&p->groups->over, t, p->row) + p->from * stride,
                 stride, p->n, true, to);
}

static void store(const struct piece *p, const struct mr_tensor *t, void *at, const double *from)
{
    int64_t stride = mr_rows_stride(&p->groups->over, t);
    mr_line_store(t->type, at,
                  mr_groups_at(p->groups, t, p->group) + mr_rows_at(&p->groups->over, t, p->row) + p->from * stride,
                  stride, p->n, true, from);
}

/* The next piece; false after the last. Begins with n == 0. */
static bool next(struct piece *p)
{
    const struct mr_rows *over = &p->groups->over;
    p->from += p->n;
    if (p->n && p->from >= over->length) {
        p->from = 0;
        p->row++;
    }
    int64_t left = over->length - p->from;
    p->n = left < MR_LINE ? left : MR_LINE;
    return p->row < over->count && left > 0;
}

#define PIECES(p, of_groups, of_group) for (struct piece p = {.groups = (of_groups), .group = (of_group)}; next(&p);)

static struct statistics statistics_of(const struct mr_norm *norm, const struct mr_groups *groups, int64_t group,
                                       struct lines *l)
{
    struct statistics s = {0};
    double count = (double)groups->size;
    if (!norm->rms) {
        PIECES(p, groups, group)
        {
            load(&p, &norm->x, norm->x_at, l->x);
            for (int64_t i = 0; i < p.n; i++)
                s.mean += l->x[i];
        }
        s.mean /= count;
    }
    PIECES(p, groups, group)
    {
        load(&p, &norm->x, norm->x_at, l->x);
        for (int64_t i = 0; i < p.n; i++)
            s.variance += (l->x[i] - s.mean) * (l->x[i] - s.mean);
    }
    s.variance /= count;
    s.inverse = 1 / sqrt(s.variance + norm->epsilon);
    return s;
}

/* The statistics of a group of x: given, or worked out. */
static struct statistics take(const struct mr_norm *norm, const struct mr_groups *groups, int64_t group,
                              struct lines *l)
{
    int64_t at = mr_groups_at(groups, &norm->stats, group);
    if (norm->inference) {
        double variance = one(&norm->stats, norm->inverse_at, at);
        return (struct statistics){one(&norm->stats, norm->mean_at, at), variance, 1 / sqrt(variance + norm->epsilon)};
    }
    if (norm->given_inverse)
        return (struct statistics){.mean = norm->rms ? 0 : one(&norm->stats, norm->mean_at, at),
                                   .inverse = one(&norm->stats, norm->inverse_at, at)};
    return statistics_of(norm, groups, group, l);
}

static void keep(const struct mr_norm *norm, int64_t group, const struct statistics *s)
{
    int64_t at = mr_groups_at(&norm->groups, &norm->stats, group);
    cudnnDataType_t type = norm->stats.type;
    if (norm->mean_at)
        mr_line_store(type, norm->mean_at, at, 1, 1, true, &s->mean);
    if (norm->inverse_at)
        mr_line_store(type, norm->inverse_at, at, 1, 1, true, &s->inverse);
    if (norm->new_mean_at && norm->new_variance_at) {
        double count = (double)norm->groups.size,
               unbiased = count > 1 ? s->variance * count / (count - 1) : s->variance;
        double old_mean = norm->factor == 1 ? 0 : one(&norm->stats, norm->old_mean_at, at);
        double old_variance = norm->factor == 1 ? 0 : one(&norm->stats, norm->old_variance_at, at);
        double mean = norm->factor * s->mean + (1 - norm->factor) * old_mean;
        double variance = norm->factor * unbiased + (1 - norm->factor) * old_variance;
        mr_line_store(type, norm->new_mean_at, at, 1, 1, true, &mean);
        mr_line_store(type, norm->new_variance_at, at, 1, 1, true, &variance);
    }
}

/* alpha * line + beta * what is there. */
static void blend(const struct piece *p, const struct mr_tensor *t, void *at, double alpha, double beta, double *line,
                  double *room)
{
    if (beta != 0)
        load(p, t, at, room);
    for (int64_t i = 0; i < p->n; i++)
        line[i] = alpha * line[i] + (beta != 0 ? beta * room[i] : 0);
    store(p, t, at, line);
}

/* ---- forward ---- */

uint64_t mr_norm_forward_prepare(struct mr_norm *norm)
{
    mr_tensors_join((struct mr_tensor *[]){&norm->x, &norm->y, &norm->stats, &norm->scale}, 4);
    norm->groups = mr_groups_of(&norm->x, &norm->stats);
    return mr_groups_parts(&norm->groups);
}

void mr_norm_forward_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_norm *norm = record;
    struct lines *l = mr_math_scratch(0, sizeof *l);
    if (!l) {
        mr_math_short_of_memory(norm->function);
        return;
    }
    int64_t last = mr_groups_first(&norm->groups, end);
    for (int64_t group = mr_groups_first(&norm->groups, first); group < last; group++) {
        struct statistics s = take(norm, &norm->groups, group, l);
        PIECES(p, &norm->groups, group)
        {
            load(&p, &norm->x, norm->x_at, l->x);
            load(&p, &norm->scale, norm->scale_at, l->scale);
            if (norm->bias_at)
                load(&p, &norm->scale, norm->bias_at, l->bias);
            for (int64_t i = 0; i < p.n; i++)
                l->x[i] = (l->x[i] - s.mean) * s.inverse * l->scale[i] + (norm->bias_at ? l->bias[i] : 0);
            blend(&p, &norm->y, norm->y_at, norm->alpha, norm->beta, l->x, l->dy);
        }
        if (!norm->inference && !norm->given_inverse)
            keep(norm, group, &s);
    }
}

/* ---- backward ---- */

uint64_t mr_norm_scale_prepare(struct mr_norm *norm)
{
    mr_tensors_join((struct mr_tensor *[]){&norm->x, &norm->y, &norm->dx, &norm->stats, &norm->scale}, 5);
    norm->scales = mr_groups_of(&norm->x, &norm->scale);
    return mr_groups_parts(&norm->scales);
}

static void put_gradient(const struct mr_norm *norm, void *to, int64_t at, double value)
{
    value *= norm->alpha_scale;
    if (norm->beta_scale != 0)
        value += norm->beta_scale * one(&norm->scale, to, at);
    mr_line_store(norm->scale.type, to, at, 1, 1, true, &value);
}

void mr_norm_scale_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_norm *norm = record;
    struct lines *l = mr_math_scratch(0, sizeof *l);
    if (!l) {
        mr_math_short_of_memory(norm->function);
        return;
    }
    int64_t last = mr_groups_first(&norm->scales, end);
    for (int64_t group = mr_groups_first(&norm->scales, first); group < last; group++) {
        double dscale = 0, dbias = 0;
        struct statistics s = {0};
        if (!norm->given_inverse)
            s = statistics_of(norm, &norm->scales, group, l);
        PIECES(p, &norm->scales, group)
        {
            load(&p, &norm->x, norm->x_at, l->x);
            load(&p, &norm->y, norm->dy_at, l->dy);
            if (norm->given_inverse) {
                load(&p, &norm->stats, norm->inverse_at, l->inverse);
                if (!norm->rms)
                    load(&p, &norm->stats, norm->mean_at, l->mean);
            }
            for (int64_t i = 0; i < p.n; i++) {
                double mean = norm->given_inverse ? (norm->rms ? 0 : l->mean[i]) : s.mean;
                dscale += l->dy[i] * (l->x[i] - mean) * (norm->given_inverse ? l->inverse[i] : s.inverse);
                dbias += l->dy[i];
            }
        }
        int64_t at = mr_groups_at(&norm->scales, &norm->scale, group);
        if (norm->dscale_at)
            put_gradient(norm, norm->dscale_at, at, dscale);
        if (norm->dbias_at)
            put_gradient(norm, norm->dbias_at, at, dbias);
    }
}

uint64_t mr_norm_data_prepare(struct mr_norm *norm)
{
    mr_tensors_join((struct mr_tensor *[]){&norm->x, &norm->y, &norm->dx, &norm->stats, &norm->scale}, 5);
    norm->groups = mr_groups_of(&norm->x, &norm->stats);
    return mr_groups_parts(&norm->groups);
}

void mr_norm_data_run(void *record, uint64_t first, uint64_t end)
{
    const struct mr_norm *norm = record;
    struct lines *l = mr_math_scratch(0, sizeof *l);
    if (!l) {
        mr_math_short_of_memory(norm->function);
        return;
    }
    int64_t last = mr_groups_first(&norm->groups, end);
    for (int64_t group = mr_groups_first(&norm->groups, first); group < last; group++) {
        struct statistics s = take(norm, &norm->groups, group, l);
        double sum = 0, product = 0, count = (double)norm->groups.size;
        for (int turn = 0; turn < 2; turn++)
            PIECES(p, &norm->groups, group)
            {
                load(&p, &norm->x, norm->x_at, l->x);
                load(&p, &norm->y, norm->dy_at, l->dy);
                load(&p, &norm->scale, norm->scale_at, l->scale);
                for (int64_t i = 0; i < p.n; i++) {
                    double moved = (l->x[i] - s.mean) * s.inverse, g = l->dy[i] * l->scale[i];
                    if (turn == 0) {
                        sum += g;
                        product += g * moved;
                    } else {
                        l->x[i] = s.inverse * (g - (norm->rms ? 0 : sum / count) - moved * product / count);
                    }
                }
                if (turn == 1)
                    blend(&p, &norm->dx, norm->dx_at, norm->alpha, norm->beta, l->x, l->mean);
            }
    }
}
