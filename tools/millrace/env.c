/* SPDX-License-Identifier: Apache-2.0 */
/* millrace env: every setting of the table in base/settings.def, with its default and its value here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "millrace.h"

int tool_env(int argc, char **argv)
{
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        puts(
            "Usage: millrace env\n\nLists the environment variables that Millrace reads: the default, the value set here, and "
            "what each does.");
        return 0;
    }
    if (argc > 0)
        return tool_bad_argument("env", argv[0]);
    for (int i = 0; i < MR_SETTING_COUNT; i++) {
        const struct mr_setting_row *row = mr_setting_describe((enum mr_setting)i);
        const char *set = getenv(row->name);
        printf("%s\n    %s\n    default: %s\n", row->name, row->help,
               *row->initial ? row->initial : "chosen by the driver");
        if (set && *set)
            printf("    set to:  %s%s\n", set,
                   strcmp(set, mr_setting_in_force((enum mr_setting)i)) ? " (not understood: the default counts)" : "");
    }
    return 0;
}
