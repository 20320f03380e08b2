/* SPDX-License-Identifier: Apache-2.0 */
/* The log that a program of cuBLAS can switch on (cublasLoggerConfigure): a line for each call, and why one is refused.
 * Millrace's own log (base/log.h) is apart from it. */
#ifndef MR_CUBLAS_LOGGER_H
#define MR_CUBLAS_LOGGER_H

/* A line for the program's log, if it is on. `text` may be NULL: the function was called. Any thread. */
void mr_cublas_tell(const char *function, const char *text);

#endif
