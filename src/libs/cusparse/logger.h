/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own log of its calls. */
#ifndef MR_CUSPARSE_LOGGER_H
#define MR_CUSPARSE_LOGGER_H

/* A call, with NULL, or why it is refused; goes to whatever the program has asked for. Any thread. */
void mr_cusparse_tell(const char *function, const char *text);

#endif
