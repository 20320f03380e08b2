/* SPDX-License-Identifier: Apache-2.0 */
/* printf in kernels. (CUDA C++ programming guide, formatted output.)
 *
 * The compiler packs the arguments into a buffer per thread: each at its natural alignment, integers and characters as
 * 4 bytes, long and pointers and doubles as 8. The format says how to read it. A call's text is put together in memory
 * and goes to the program's stdout in one piece. It is out, and not in stdout's buffer, before the call returns: as
 * with hardware, whose driver empties its buffer all the time, a program may wait for what a running kernel prints.
 *
 * The result is the number of arguments, or -1 for a null format, as on hardware. The kernel's memory is read before
 * stdout's lock is taken. */
#include "kernel/executor.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096u      /* of one call; longer text is cut */
#define ARGUMENTS_MAX 32
#define SPEC_MAX 48u

struct printer {
    char text[TEXT_MAX];
    size_t length;
    const unsigned char *next;   /* the argument buffer */
    int count;                   /* arguments read */
};

static void put_char(struct printer *printer, char c)
{
    if (printer->length < sizeof printer->text)
        printer->text[printer->length++] = c;
}

static uint64_t take_argument(struct printer *printer, size_t size)
{
    uint64_t value = 0;
    if (printer->count >= ARGUMENTS_MAX || !printer->next)
        return 0;
    printer->count++;
    printer->next = (const unsigned char *)(((uintptr_t)printer->next + size - 1) & ~(uintptr_t)(size - 1));
    memcpy(&value, printer->next, size);
    printer->next += size;
    return value;
}

/* One conversion as the format spells it. */
struct spec {
    char flags[8];
    int width, precision;        /* -1: not given */
    int longs;                   /* 0 int, 1 and more 64 bits, -1 short, -2 char */
    char conversion;
};

static const char *parse_number(const char *at, struct printer *printer, int *value)
{
    if (*at == '*') {
        *value = (int)(int32_t)take_argument(printer, 4);
        return at + 1;
    }
    for (*value = 0; *at >= '0' && *at <= '9'; at++)
        if (*value < 100000)
            *value = *value * 10 + (*at - '0');
    return at;
}

static const char *parse_spec(const char *at, struct printer *printer, struct spec *spec)
{
    *spec = (struct spec){.width = -1, .precision = -1};
    size_t flags = 0;
    for (; *at && strchr("-+ #0", *at); at++)
        if (flags + 1 < sizeof spec->flags && !strchr(spec->flags, *at))
            spec->flags[flags++] = *at;
    if (*at == '*' || (*at >= '0' && *at <= '9'))
        at = parse_number(at, printer, &spec->width);
    if (spec->width < -1 && flags + 1 < sizeof spec->flags) {
        spec->flags[flags++] = '-';
        spec->width = -spec->width;
    }
    if (*at == '.')
        at = parse_number(at + 1, printer, &spec->precision);
    for (; *at && strchr("hlLzjt", *at); at++)
        spec->longs += *at == 'h' ? -1 : 1;
    spec->conversion = *at;
    return *at ? at + 1 : at;
}

/* Rebuilds the conversion for the host's snprintf, with `size` as its length modifier. */
static void host_format(const struct spec *spec, const char *size, char conversion, char out[SPEC_MAX])
{
    int length = snprintf(out, SPEC_MAX, "%%%s", spec->flags);
    if (spec->width >= 0)
        length += snprintf(out + length, SPEC_MAX - (size_t)length, "%d", spec->width > 2000 ? 2000 : spec->width);
    if (spec->precision >= 0)
        length +=
            snprintf(out + length, SPEC_MAX - (size_t)length, ".%d", spec->precision > 2000 ? 2000 : spec->precision);
    snprintf(out + length, SPEC_MAX - (size_t)length, "%s%c", size, conversion);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_integer(struct printer *printer, const struct spec *spec)
{
    char format[SPEC_MAX], text[2100];
    uint64_t raw = take_argument(printer, spec->longs > 0 ? 8 : 4);
    bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
    int length;
    if (spec->conversion == 'c') {
        host_format(spec, "", 'c', format);
        length = snprintf(text, sizeof text, format, (int)(unsigned char)raw);
    } else if (spec->conversion == 'p') {
        host_format(spec, "", 'p', format);
        length = snprintf(text, sizeof text, format, (void *)(uintptr_t)raw);
    } else {
        if (spec->longs == 0)
            raw = is_signed ? (uint64_t)(int64_t)(int32_t)raw : (uint32_t)raw;
        else if (spec->longs == -1)
            raw = is_signed ? (uint64_t)(int64_t)(int16_t)raw : (uint16_t)raw;
        else if (spec->longs < -1)
            raw = is_signed ? (uint64_t)(int64_t)(int8_t)raw : (uint8_t)raw;
        host_format(spec, "ll", spec->conversion, format);
        length = snprintf(text, sizeof text, format, (unsigned long long)raw);
    }
    for (int i = 0; i < length && i < (int)sizeof text - 1; i++)
        put_char(printer, text[i]);
}

static void put_float(struct printer *printer, const struct spec *spec)
{
    char format[SPEC_MAX], text[2600];
    uint64_t raw = take_argument(printer, 8);
    double value;
    memcpy(&value, &raw, sizeof value);
    host_format(spec, "", spec->conversion, format);
    int length = snprintf(text, sizeof text, format, value);
    for (int i = 0; i < length && i < (int)sizeof text - 1; i++)
        put_char(printer, text[i]);
}

/* Read byte by byte here, not by snprintf: a bad pointer then faults in this function, with no lock of libc's held. */
static void put_string(struct printer *printer, const struct spec *spec)
{
    const char *string = (const char *)(uintptr_t)take_argument(printer, 8);
    int length = 0, width = spec->width > 2000 ? 2000 : spec->width;
    if (!string)
        string = "(null)";
    while (length < (int)TEXT_MAX && (spec->precision < 0 || length < spec->precision) && string[length])
        length++;
    bool left = strchr(spec->flags, '-') != NULL;
    for (int i = length; !left && i < width; i++)
        put_char(printer, ' ');
    for (int i = 0; i < length; i++)
        put_char(printer, string[i]);
    for (int i = length; left && i < width; i++)
        put_char(printer, ' ');
}

static void put_conversion(struct printer *printer, const struct spec *spec)
{
    switch (spec->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'c':
        put_integer(printer, spec);
        return;
    case 'p': {
        struct spec wide = *spec;
        wide.longs = 1;
        put_integer(printer, &wide);
        return;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        put_float(printer, spec);
        return;
    case 's':
        put_string(printer, spec);
        return;
    case '%':
        put_char(printer, '%');
        return;
    default:
        /* Unknown to CUDA: the format's own text. */
        put_char(printer, '%');
        if (spec->conversion)
            put_char(printer, spec->conversion);
    }
}

static int32_t print_one(const char *format, const unsigned char *arguments)
{
    struct printer printer;
    if (!format)
        return -1;
    printer.length = 0;
    printer.count = 0;
    printer.next = arguments;
    while (*format) {
        if (*format != '%') {
            put_char(&printer, *format++);
            continue;
        }
        struct spec spec;
        format = parse_spec(format + 1, &printer, &spec);
        put_conversion(&printer, &spec);
    }
    fwrite(printer.text, 1, printer.length, stdout);
    return printer.count;
}

void mr_print_lanes(struct mr_block *block, uint32_t mask, const uint64_t *format, const uint64_t *arguments,
                    int32_t *result)
{
    (void)block;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        result[lane] =
            print_one((const char *)(uintptr_t)format[lane], (const unsigned char *)(uintptr_t)arguments[lane]);
    }
    fflush(stdout);
}
