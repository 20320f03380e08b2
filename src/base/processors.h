/* SPDX-License-Identifier: Apache-2.0 */
/* The processors and features that MILLRACE_CPU and MILLRACE_CPU_FEATURES may name. LLVM ends the process for some
 * names that it does not know, and for processors without 64 bits, so names are looked up before it sees them. */
#ifndef MR_BASE_PROCESSORS_H
#define MR_BASE_PROCESSORS_H

#include <stdbool.h>

/* Is it a processor of this machine's architecture that code can be made for? Names are LLVM 19's. */
bool mr_processor_known(const char *name);

/* Is it a list of +name and -name, separated by commas, that names features only and leaves what the architecture
 * always has? */
bool mr_processor_features_known(const char *list);

#endif
