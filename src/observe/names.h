/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stay: what an observer is told of may be asked for when its module has long gone. */
#ifndef MR_OBSERVE_NAMES_H
#define MR_OBSERVE_NAMES_H

/* The text, at an address where it stays as long as the process, the same one for the same text. NULL for NULL and when
 * memory is short. Any thread, whatever it holds. */
const char *mr_observe_name(const char *text);

#endif
