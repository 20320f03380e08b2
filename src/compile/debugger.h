/* SPDX-License-Identifier: Apache-2.0 */
/* Generated code for debuggers: GDB's (and LLDB's) interface for compilers at run time. Whoever debugs the process, or
 * comes later, sees the kernels' names and, by the objects' debug information, PTX lines. */
#ifndef MR_COMPILE_DEBUGGER_H
#define MR_COMPILE_DEBUGGER_H

#include <stddef.h>

struct mr_debugger_object;

/* Shows an object whose section headers have addresses; it must stay as it is until mr_debugger_forget. NULL when
 * memory is short: nothing is shown then. Any thread. */
struct mr_debugger_object *mr_debugger_show(const void *object, size_t size);
void mr_debugger_forget(struct mr_debugger_object *shown);   /* NULL: nothing */

#endif
