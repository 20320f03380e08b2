/* SPDX-License-Identifier: Apache-2.0 */
/* Which compute capability the program's images want. */
#ifndef MR_CUDART_WANTED_H
#define MR_CUDART_WANTED_H

/* The lowest capability, as 80 for 8.0, for which every image that is registered now, and that has PTX at all, has
 * some. 0 if none has PTX. A broken image doesn't count. Any thread. */
unsigned mr_rt_wanted_capability(void);

#endif
