/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions on the way of each launch and of each allocation.
 *
 * Packages are compiled with a canary on the stack (-fstack-protector-strong), which guards each function that has an
 * array or passes the address of a variable on. Such a call has several of them on its way, which took a twentieth of
 * its time. MR_HOT is for functions there whose frame has no array that is written by a length or an index: the canary
 * guards nothing in them.
 */
#ifndef MR_BASE_HOT_H
#define MR_BASE_HOT_H

#if (defined __SSP_STRONG__ || defined __SSP__) && __has_attribute(no_stack_protector)
#define MR_HOT __attribute__((no_stack_protector))
#else
#define MR_HOT
#endif

#endif
