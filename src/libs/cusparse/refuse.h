/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that libcusparse exports and cannot do. */
#ifndef MR_CUSPARSE_REFUSE_H
#define MR_CUSPARSE_REFUSE_H

#include <cusparse.h>

/* NOT_SUPPORTED; the log names the function. */
cusparseStatus_t mr_cusparse_refuse(const char *function);

#endif
