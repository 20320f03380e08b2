/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuSOLVER: as rt.h, which it takes its words and fixtures from. The same source
 * is built against NVIDIA's library to record the answers and against Millrace's to compare them.
 *
 * Vectors of eigenvalues and the like are not unique: cases say whether what they solve holds, not the numbers. */
#ifndef SV_H
#define SV_H

#include "../../runtime/rt.h"

#include <complex.h>
#include <cusolverDn.h>

#define SV_N 8 /* rows and columns of a fixture's matrix */
#define SV_ROOM ((size_t)4 << 20) /* bytes of each array */

/* What a case finds. Matrices are by columns, SV_N rows and columns, SV_N elements from column to column. */
struct sv {
    cusolverDnHandle_t h;
    char type; /* S, D, C or Z */
    void *a; /* device memory: a well-conditioned matrix */
    void *b, *c, *u, *v, *w, *tau; /* device memory: zeros */
    void *work;
    int *info, *pivots; /* device memory: -77 in each */
    int lwork; /* for functions that ask for it */
    double complex host[SV_N * SV_N]; /* what a has */
};

enum sv_kind { SV_GENERAL, SV_POSITIVE, SV_HERMITIAN, SV_SYMMETRIC, SV_SINGULAR, SV_ZERO };

struct sv *sv_begin(char type, enum sv_kind kind);

/* Fills device memory with a matrix of the kind, and `host` where that is not NULL. */
void sv_fill(char type, void *device, enum sv_kind kind, double complex *host);

/* Says the status's name without CUSOLVER_STATUS_. */
void sv(cusolverStatus_t status);

#define SV_NEED(expr) sv_need((expr), #expr)
void sv_need(cusolverStatus_t status, const char *what);

/* Waits for the device, and says the word behind info. */
void sv_info(const struct sv *s);

/* Waits for the device; `count` elements as numbers. Of real numbers: sv_real. */
void sv_get(char type, const void *device, size_t count, double complex *out);
void sv_real(char type, const void *device, size_t count, double *out);
void sv_put(char type, void *device, size_t count, const double complex *in);

/* c = op(a) op(b), SV_N x SV_N; letters N, T, C. */
void sv_times(char ta, const double complex *a, char tb, const double complex *b, double complex *c);

/* Says whether the two are the same but for rounding in the type. */
void sv_same(char type, const double complex *a, const double complex *b, size_t count);

/* Calls the type's function: SV_CALL where all are called the same, SV_CALL2 where the complex ones have a name of
 * their own. */
#define SV_CALL(s, name, ...) \
    ((s)->type == 'S'   ? cusolverDnS##name(__VA_ARGS__) \
     : (s)->type == 'D' ? cusolverDnD##name(__VA_ARGS__) \
     : (s)->type == 'C' ? cusolverDnC##name(__VA_ARGS__) \
                        : cusolverDnZ##name(__VA_ARGS__))
#define SV_CALL2(s, real, complex, ...) \
    ((s)->type == 'S'   ? cusolverDnS##real(__VA_ARGS__) \
     : (s)->type == 'D' ? cusolverDnD##real(__VA_ARGS__) \
     : (s)->type == 'C' ? cusolverDnC##complex(__VA_ARGS__) \
                        : cusolverDnZ##complex(__VA_ARGS__))

#endif
