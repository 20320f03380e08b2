/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same however names are found. */
#include "names.h"

#include <stdlib.h>

void names_free(struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(names[i].function);
        free(names[i].file);
    }
    free(names);
}
