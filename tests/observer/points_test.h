/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the points of observation share: looking at the points that came since the last mark. */
#ifndef TESTS_OBSERVER_POINTS_TEST_H
#define TESTS_OBSERVER_POINTS_TEST_H

#include <cuda.h>

#include "observe/calls.h"
#include "points.h"

void fail_at(const char *file, int line, const char *what);
#define CHECK(what) ((what) ? (void)0 : fail_at(__FILE__, __LINE__, #what))
#define OK(call) CHECK((call) == CUDA_SUCCESS)

/* Waits for all work; points count from here on. */
void mark(void);
/* Waits for all work, and takes the points since the mark. */
void look(void);

/* The first point of a kind after another (NULL: of all); of a call; of a work or step. */
const struct point *next_point(const struct point *after, enum point_kind kind);
const struct point *next_call(const struct point *after, enum point_kind kind, uint32_t call);
const struct point *next_of(const struct point *after, enum point_kind kind, uint64_t work, uint64_t node);

unsigned count_of(enum point_kind kind, uint64_t work, uint64_t node);
bool has_box(uint64_t work, uint64_t node, struct mr_access box);
#define ROW(place, bytes, kind) \
    ((struct mr_access){.first = (uintptr_t)(place), .width = (bytes), .rows = 1, .how = (kind)})
#define BOX(place, bytes, count, step, kind) \
    ((struct mr_access){.first = (uintptr_t)(place), .width = (bytes), .rows = (count), .pitch = (step), .how = (kind)})

/* The rules that hold for all works. */
void check_works(void);

/* The first work that the first call of this number has bound. */
const struct point *bound_by(uint32_t call);

const struct mr_observed_driver *observed_driver(void);

void test_calls(void);
void test_copies(void);
void test_staged(void);
void test_arrays(void);
void test_kernels(void);
void test_texels(void);
void test_graph_kernels(void);
void test_busy(void);
void test_memory_ops(void);
void test_graphs(void);
void test_graph_steps(void);
void test_threads(void);
void test_failure(void);

#endif
