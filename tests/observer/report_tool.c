/* SPDX-License-Identifier: Apache-2.0 */
/* report_tool FORMAT FOLDER [SUPPRESSIONS]: a report of the results in a folder, as `millrace check` makes it. FORMAT:
 * text, verbose, colour, suppressions, json, sarif, html. Exits with 3 for results or suppressions that can't be read,
 * 1 for findings. */
#include <string.h>

#include "read.h"
#include "suppress.h"
#include "write.h"

int main(int argc, char **argv)
{
    struct report report = {0};
    struct suppressions suppressions = {0};
    if (argc < 3)
        return 2;
    const char *form = argv[1];
    struct report_style style = {strcmp(form, "colour") == 0, strcmp(form, "verbose") == 0,
                                 strcmp(form, "suppressions") == 0};
    bool good = report_read(&report, argv[2]) && (argc < 4 || suppress_read(&suppressions, argv[3]));
    suppress_apply(&suppressions, &report);
    if (strcmp(form, "json") == 0)
        good = report_write_json(stdout, &report) && good;
    else if (strcmp(form, "sarif") == 0)
        good = report_write_sarif(stdout, &report) && good;
    else if (strcmp(form, "html") == 0)
        report_write_html(stdout, &report);
    else
        report_write_text(stdout, &report, &style);
    if (style.verbose)
        suppress_tell_unused(stdout, &suppressions);
    int status = !good ? 3 : report_shown(&report) ? 1 : 0;
    suppress_free(&suppressions);
    report_free(&report);
    return status;
}
