/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writes diagnostics: message, source line, caret. A line of hostile length is
 * shown only around the place that matters, and control characters in it are
 * shown as spaces, so that the log stays a readable text.
 */
#include "ptx/ptx_diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define SHOWN_WIDTH 100u /* columns of a source line that are shown */

void mr_ptx_diag_init(struct mr_ptx_diag *diag)
{
    memset(diag, 0, sizeof *diag);
}

void mr_ptx_diag_clear(struct mr_ptx_diag *diag)
{
    mr_free(diag->text);
    mr_ptx_diag_init(diag);
}

const char *mr_ptx_diag_text(const struct mr_ptx_diag *diag)
{
    return diag->text ? diag->text : "";
}

static void append(struct mr_ptx_diag *diag, const char *text, size_t length)
{
    if (diag->capacity - diag->length <= length) {
        void *memory = diag->text;
        if (!mr_array_reserve(&memory, &diag->capacity, diag->length + length + 1, 1)) {
            diag->out_of_memory = true;
            return;
        }
        diag->text = memory;
    }
    memcpy(diag->text + diag->length, text, length);
    diag->length += length;
    diag->text[diag->length] = '\0';
}

static void append_text(struct mr_ptx_diag *diag, const char *text)
{
    append(diag, text, strlen(text));
}

/* Appends the source line and a caret under `column`. */
static void append_source(struct mr_ptx_diag *diag, uint32_t line, uint32_t column)
{
    if (!diag->source || line == 0)
        return;
    const char *start = diag->source, *end = start + diag->source_length;
    for (uint32_t i = 1; i < line; i++) {
        const char *newline = memchr(start, '\n', (size_t)(end - start));
        if (!newline)
            return;
        start = newline + 1;
    }
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    size_t length = (size_t)((newline ? newline : end) - start);
    size_t place = column > 0 ? column - 1 : 0;
    if (place > length)
        place = length;
    size_t first = place >= SHOWN_WIDTH ? place - SHOWN_WIDTH / 2 : 0;
    if (length - first > SHOWN_WIDTH)
        length = first + SHOWN_WIDTH;
    char shown[SHOWN_WIDTH + 1];
    for (size_t i = first; i < length; i++) {
        char c = start[i];
        if (c < 0x20 || c >= 0x7f)
            c = ' ';
        shown[i - first] = c;
    }
    append_text(diag, "    ");
    append(diag, shown, length - first);
    append_text(diag, "\n    ");
    memset(shown, ' ', place - first);
    append(diag, shown, place - first);
    append_text(diag, "^\n");
}

static void add(struct mr_ptx_diag *diag, const char *kind, uint32_t line, uint32_t column, const char *format,
                va_list arguments)
{
    char message[512], head[64];
    vsnprintf(message, sizeof message, format, arguments);
    if (line > 0)
        snprintf(head, sizeof head, "%s: line %u, column %u: ", kind, line, column);
    else
        snprintf(head, sizeof head, "%s: ", kind);
    append_text(diag, head);
    append_text(diag, message);
    append_text(diag, "\n");
    append_source(diag, line, column);
}

void mr_ptx_diag_error(struct mr_ptx_diag *diag, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    if (mr_log_enabled(MR_LOG_INFO) && (!diag || diag->errors < MR_PTX_DIAG_ERRORS_MAX)) {
        char message[512];
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        mr_log(MR_LOG_INFO, "PTX: line %u, column %u: %s", line, column, message);
    }
    if (!diag)
        return;
    if (diag->errors++ == 0)
        diag->first_error_line = line;
    if (diag->errors > MR_PTX_DIAG_ERRORS_MAX) {
        if (diag->errors == MR_PTX_DIAG_ERRORS_MAX + 1)
            append_text(diag, "error: further errors are not shown\n");
        return;
    }
    va_start(arguments, format);
    add(diag, "error", line, column, format, arguments);
    va_end(arguments);
}

void mr_ptx_diag_warning(struct mr_ptx_diag *diag, uint32_t line, uint32_t column, const char *format, ...)
{
    if (!diag || diag->warnings++ >= MR_PTX_DIAG_ERRORS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    add(diag, "warning", line, column, format, arguments);
    va_end(arguments);
}
