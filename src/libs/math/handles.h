/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of the libraries of mathematics: a place in a table and a generation. A handle that was destroyed, or never
 * was one, is recognised. A library has one table; its tables hold at most MR_MATH_HANDLES handles at a time. */
#ifndef MR_MATH_HANDLES_H
#define MR_MATH_HANDLES_H

#define MR_MATH_HANDLES 16384u

/* A live or once live handle as a positive int, for libraries whose handles are numbers, and back. Any number may be
 * asked for: mr_math_handle_find says whether it is live. */
int mr_math_handle_number(const void *handle);
void *mr_math_handle_of_number(int number);

/* A handle for the object; NULL if the table is full. Any thread, as all of these. */
void *mr_math_handle_new(void *object);

/* The object, or NULL if the handle is not live. No reference is taken: if a program destroys a handle that another
 * thread uses, that thread's call is undefined, as the manuals say. */
void *mr_math_handle_find(const void *handle);

/* Ends the handle; the object, or NULL if it was not live. */
void *mr_math_handle_end(const void *handle);

#endif
