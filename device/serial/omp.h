/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's functions for programs whose directives have no effect: one thread, number 0 of a team of one. nvcc's -Xcompiler -fopenmp takes this file
 * where clang has no libomp. */
#ifndef MILLRACE_SERIAL_OMP_H
#define MILLRACE_SERIAL_OMP_H
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
#define MR_OMP static inline __attribute__((unused))

typedef struct { int taken; } omp_lock_t;
typedef struct { int taken; } omp_nest_lock_t;
typedef enum { omp_sched_static = 1, omp_sched_dynamic = 2, omp_sched_guided = 3, omp_sched_auto = 4 } omp_sched_t;

MR_OMP int omp_get_thread_num(void) { return 0; }
MR_OMP int omp_get_num_threads(void) { return 1; }
MR_OMP int omp_get_max_threads(void) { return 1; }
MR_OMP int omp_get_num_procs(void) { return 1; }
MR_OMP int omp_get_thread_limit(void) { return 1; }
MR_OMP int omp_get_level(void) { return 0; }
MR_OMP int omp_get_active_level(void) { return 0; }
MR_OMP int omp_in_parallel(void) { return 0; }
MR_OMP int omp_get_dynamic(void) { return 0; }
MR_OMP int omp_get_nested(void) { return 0; }
MR_OMP int omp_get_max_active_levels(void) { return 1; }
MR_OMP int omp_get_num_devices(void) { return 0; }
MR_OMP int omp_get_initial_device(void) { return 0; }
MR_OMP int omp_get_default_device(void) { return 0; }
MR_OMP int omp_is_initial_device(void) { return 1; }
MR_OMP int omp_get_num_teams(void) { return 1; }
MR_OMP int omp_get_team_num(void) { return 0; }
/* Limits, which a team of one keeps in any case. */
MR_OMP void omp_set_num_threads(int count) { (void)count; }
MR_OMP void omp_set_dynamic(int on) { (void)on; }
MR_OMP void omp_set_nested(int on) { (void)on; }
MR_OMP void omp_set_max_active_levels(int levels) { (void)levels; }
MR_OMP void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind; (void)chunk; }
MR_OMP void omp_get_schedule(omp_sched_t *kind, int *chunk) { *kind = omp_sched_static; *chunk = 0; }

MR_OMP void omp_init_lock(omp_lock_t *lock) { lock->taken = 0; }
MR_OMP void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
MR_OMP void omp_set_lock(omp_lock_t *lock) { lock->taken = 1; }
MR_OMP void omp_unset_lock(omp_lock_t *lock) { lock->taken = 0; }
MR_OMP int omp_test_lock(omp_lock_t *lock) { return lock->taken ? 0 : (lock->taken = 1); }
MR_OMP void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->taken = 0; }
MR_OMP void omp_destroy_nest_lock(omp_nest_lock_t *lock) { (void)lock; }
MR_OMP void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->taken++; }
MR_OMP void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->taken--; }
MR_OMP int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->taken; }

MR_OMP double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
MR_OMP double omp_get_wtick(void) { return 1e-9; }

#undef MR_OMP
#ifdef __cplusplus
}
#endif
#endif
