/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where layers that may not include each other are joined. */
#ifndef MR_API_WIRING_H
#define MR_API_WIRING_H

/* Hands the lower layers their hooks. Called once, by cuInit, before any object exists. */
void mr_wiring_setup(void);

#endif
