/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuSOLVER stand on. */
#include "sv.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void sv(cusolverStatus_t status)
{
    static const struct {
        int value;
        const char *name;
    } names[] = {
        {0, "SUCCESS"},
        {1, "NOT_INITIALIZED"},
        {2, "ALLOC_FAILED"},
        {3, "INVALID_VALUE"},
        {4, "ARCH_MISMATCH"},
        {5, "MAPPING_ERROR"},
        {6, "EXECUTION_FAILED"},
        {7, "INTERNAL_ERROR"},
        {8, "MATRIX_TYPE_NOT_SUPPORTED"},
        {9, "NOT_SUPPORTED"},
        {10, "ZERO_PIVOT"},
        {11, "INVALID_LICENSE"},
        {12, "IRS_PARAMS_NOT_INITIALIZED"},
        {13, "IRS_PARAMS_INVALID"},
        {14, "IRS_PARAMS_INVALID_PREC"},
        {15, "IRS_PARAMS_INVALID_REFINE"},
        {16, "IRS_PARAMS_INVALID_MAXITER"},
        {20, "IRS_INTERNAL_ERROR"},
        {21, "IRS_NOT_SUPPORTED"},
        {22, "IRS_OUT_OF_RANGE"},
        {23, "IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES"},
        {25, "IRS_INFOS_NOT_INITIALIZED"},
        {26, "IRS_INFOS_NOT_DESTROYED"},
        {30, "IRS_MATRIX_SINGULAR"},
        {31, "INVALID_WORKSPACE"},
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].value == (int)status) {
            say_text(names[i].name);
            return;
        }
    say_value("status", status);
}

void sv_need(cusolverStatus_t status, const char *what)
{
    char text[200];
    if (status == CUSOLVER_STATUS_SUCCESS)
        return;
    snprintf(text, sizeof text, "%s status=%d", what, (int)status);
    gold_stop(text);
}

static double complex element(enum sv_kind kind, int i, int j)
{
    double at = (double)((i * 7 + j * 5 + i * j) % 9 - 4), other = (double)((j * 7 + i * 5 + i * j) % 9 - 4);
    double complex both = at + other + (at - other) * 0.5 * I;
    switch (kind) {
    case SV_GENERAL:
        return at + ((i * 3 + j) % 5 - 2) * 0.5 * I + (i == j ? 12 : 0);
    case SV_POSITIVE:
        return both + (i == j ? 60 : 0);
    case SV_HERMITIAN:
        return both + (i == j ? (i % 2 ? 9 : -11) : 0);
    case SV_SYMMETRIC:
        return at + other + ((i * j) % 4 - 1) * I + (i == j ? 12 : 0);
    case SV_SINGULAR: /* the third column is the second */
        return element(SV_GENERAL, i, j == 2 ? 1 : j);
    default:
        return 0;
    }
}

static bool is_complex(char type)
{
    return type == 'C' || type == 'Z';
}

void sv_put(char type, void *device, size_t count, const double complex *in)
{
    static char bytes[4096 * 16];
    size_t size = type == 'S' ? 4 : type == 'Z' ? 16 : 8;
    for (size_t i = 0; i < count; i++)
        switch (type) {
        case 'S':
            ((float *)(void *)bytes)[i] = (float)creal(in[i]);
            break;
        case 'D':
            ((double *)(void *)bytes)[i] = creal(in[i]);
            break;
        case 'C':
            ((float complex *)(void *)bytes)[i] = (float complex)in[i];
            break;
        default:
            ((double complex *)(void *)bytes)[i] = in[i];
        }
    RT_NEED(cudaMemcpy(device, bytes, count * size, cudaMemcpyHostToDevice));
}

void sv_get(char type, const void *device, size_t count, double complex *out)
{
    static char bytes[4096 * 16];
    size_t size = type == 'S' ? 4 : type == 'Z' ? 16 : 8;
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(bytes, device, count * size, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        out[i] = type == 'S'   ? (double complex)((float *)(void *)bytes)[i]
                 : type == 'D' ? (double complex)((double *)(void *)bytes)[i]
                 : type == 'C' ? (double complex)((float complex *)(void *)bytes)[i]
                               : ((double complex *)(void *)bytes)[i];
}

void sv_real(char type, const void *device, size_t count, double *out)
{
    double complex some[256];
    sv_get(type == 'S' || type == 'C' ? 'S' : 'D', device, count, some);
    for (size_t i = 0; i < count; i++)
        out[i] = creal(some[i]);
}

void sv_fill(char type, void *device, enum sv_kind kind, double complex *host)
{
    double complex all[SV_N * SV_N];
    for (int j = 0; j < SV_N; j++)
        for (int i = 0; i < SV_N; i++) {
            double complex value = element(kind, i, j);
            all[i + j * SV_N] = is_complex(type) ? value : creal(value);
        }
    sv_put(type, device, SV_N * SV_N, all);
    if (host)
        memcpy(host, all, sizeof all);
}

struct sv *sv_begin(char type, enum sv_kind kind)
{
    static struct sv s;
    if (!s.h) {
        SV_NEED(cusolverDnCreate(&s.h));
        void **all[] = {&s.a, &s.b, &s.c, &s.u, &s.v, &s.w, &s.tau, &s.work, (void **)&s.info, (void **)&s.pivots};
        for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
            RT_NEED(cudaMalloc(all[i], SV_ROOM));
    }
    SV_NEED(cusolverDnSetStream(s.h, NULL));
    void *zeroed[] = {s.b, s.c, s.u, s.v, s.w, s.tau};
    for (unsigned i = 0; i < sizeof zeroed / sizeof *zeroed; i++)
        RT_NEED(cudaMemset(zeroed[i], 0, 65536));
    int words[256];
    for (int i = 0; i < 256; i++)
        words[i] = -77;
    RT_NEED(cudaMemcpy(s.info, words, sizeof words, cudaMemcpyHostToDevice));
    RT_NEED(cudaMemcpy(s.pivots, words, sizeof words, cudaMemcpyHostToDevice));
    s.type = type;
    s.lwork = 0;
    sv_fill(type, s.a, kind, s.host);
    return &s;
}

void sv_info(const struct sv *s)
{
    int info = -1;
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(&info, s->info, sizeof info, cudaMemcpyDeviceToHost));
    say_value("info", info);
}

static double complex at(char letter, const double complex *a, int i, int j)
{
    return letter == 'N' ? a[i + j * SV_N] : letter == 'T' ? a[j + i * SV_N] : conj(a[j + i * SV_N]);
}

void sv_times(char ta, const double complex *a, char tb, const double complex *b, double complex *c)
{
    double complex result[SV_N * SV_N];
    for (int j = 0; j < SV_N; j++)
        for (int i = 0; i < SV_N; i++) {
            double complex sum = 0;
            for (int k = 0; k < SV_N; k++)
                sum += at(ta, a, i, k) * at(tb, b, k, j);
            result[i + j * SV_N] = sum;
        }
    memcpy(c, result, sizeof result);
}

void sv_same(char type, const double complex *a, const double complex *b, size_t count)
{
    double worst = 0, scale = 1;
    for (size_t i = 0; i < count; i++) {
        double off = cabs(a[i] - b[i]), size = cabs(a[i]);
        worst = off > worst || isnan(off) ? off : worst;
        scale = size > scale ? size : scale;
    }
    double step = type == 'S' || type == 'C' ? FLT_EPSILON : DBL_EPSILON;
    say_if("same", worst <= 200 * step * scale);
}
