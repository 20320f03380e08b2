/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library does for the program with memory that both sides can use: text, bytes compared, input and output.
 *
 * The linker puts these functions in the place of the library's (wrapped.def). Each does what the library's does, and
 * tells of the bytes that were touched, with the caller as the place. What isn't known before the call is told after
 * it: how much was read or written. */
#include <printf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libs/host/host_note.h"

enum { ARGUMENTS = 64 };

/* Declares the library's function and ours. */
#define WRAP(type, name, ...) \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

#define CALLER __builtin_return_address(0)

static void loads(const void *at, size_t size, const void *site)
{
    host_note((uintptr_t)at, size, false, site);
}

static void stores(const void *at, size_t size, const void *site)
{
    host_note((uintptr_t)at, size, true, site);
}

/* ---- bytes and text ---- */

WRAP(int, memcmp, const void *one, const void *other, size_t size)
{
    loads(one, size, CALLER);
    loads(other, size, CALLER);
    return __real_memcmp(one, other, size);
}

WRAP(int, bcmp, const void *one, const void *other, size_t size)
{
    loads(one, size, CALLER);
    loads(other, size, CALLER);
    return __real_bcmp(one, other, size);
}

WRAP(void *, memchr, const void *bytes, int value, size_t size)
{
    char *found = __real_memchr(bytes, value, size);
    loads(bytes, found ? (size_t)(found - (const char *)bytes) + 1 : size, CALLER);
    return found;
}

WRAP(size_t, strlen, const char *text)
{
    size_t length = __real_strlen(text);
    loads(text, length + 1, CALLER);
    return length;
}

WRAP(size_t, strnlen, const char *text, size_t most)
{
    size_t length = __real_strnlen(text, most);
    loads(text, length < most ? length + 1 : most, CALLER);
    return length;
}

/* How many bytes of two texts a comparison looks at. */
static size_t alike(const char *one, const char *other, size_t most)
{
    size_t count = 0;
    while (count < most && one[count] == other[count] && one[count])
        count++;
    return count < most ? count + 1 : most;
}

WRAP(int, strcmp, const char *one, const char *other)
{
    size_t count = alike(one, other, SIZE_MAX);
    loads(one, count, CALLER);
    loads(other, count, CALLER);
    return __real_strcmp(one, other);
}

WRAP(int, strncmp, const char *one, const char *other, size_t most)
{
    size_t count = alike(one, other, most);
    loads(one, count, CALLER);
    loads(other, count, CALLER);
    return __real_strncmp(one, other, most);
}

WRAP(char *, strcpy, char *to, const char *from)
{
    size_t size = __real_strlen(from) + 1;
    loads(from, size, CALLER);
    stores(to, size, CALLER);
    return __real_strcpy(to, from);
}

WRAP(char *, strncpy, char *to, const char *from, size_t size)
{
    size_t length = __real_strnlen(from, size);
    loads(from, length < size ? length + 1 : size, CALLER);
    stores(to, size, CALLER);
    return __real_strncpy(to, from, size);
}

WRAP(char *, strcat, char *to, const char *from)
{
    size_t size = __real_strlen(from) + 1, before = __real_strlen(to);
    loads(to, before + 1, CALLER);
    loads(from, size, CALLER);
    stores(to + before, size, CALLER);
    return __real_strcat(to, from);
}

WRAP(char *, strdup, const char *text)
{
    loads(text, __real_strlen(text) + 1, CALLER);
    return __real_strdup(text);
}

/* ---- input and output ---- */

WRAP(ssize_t, read, int file, void *to, size_t size)
{
    ssize_t got = __real_read(file, to, size);
    stores(to, got > 0 ? (size_t)got : 0, CALLER);
    return got;
}

WRAP(ssize_t, write, int file, const void *from, size_t size)
{
    ssize_t put = __real_write(file, from, size);
    loads(from, put > 0 ? (size_t)put : 0, CALLER);
    return put;
}

WRAP(ssize_t, pread, int file, void *to, size_t size, off_t at)
{
    ssize_t got = __real_pread(file, to, size, at);
    stores(to, got > 0 ? (size_t)got : 0, CALLER);
    return got;
}

WRAP(ssize_t, pwrite, int file, const void *from, size_t size, off_t at)
{
    ssize_t put = __real_pwrite(file, from, size, at);
    loads(from, put > 0 ? (size_t)put : 0, CALLER);
    return put;
}

/* The first `size` bytes of the pieces. */
static void note_pieces(const struct iovec *pieces, int count, ssize_t size, bool stored, const void *site)
{
    for (int i = 0; i < count && size > 0; i++) {
        size_t part = pieces[i].iov_len < (size_t)size ? pieces[i].iov_len : (size_t)size;
        host_note((uintptr_t)pieces[i].iov_base, part, stored, site);
        size -= (ssize_t)part;
    }
}

WRAP(ssize_t, readv, int file, const struct iovec *pieces, int count)
{
    ssize_t got = __real_readv(file, pieces, count);
    note_pieces(pieces, count, got, true, CALLER);
    return got;
}

WRAP(ssize_t, writev, int file, const struct iovec *pieces, int count)
{
    ssize_t put = __real_writev(file, pieces, count);
    note_pieces(pieces, count, put, false, CALLER);
    return put;
}

WRAP(ssize_t, recv, int from, void *to, size_t size, int flags)
{
    ssize_t got = __real_recv(from, to, size, flags);
    stores(to, got <= 0 ? 0 : (size_t)got < size ? (size_t)got : size, CALLER); /* MSG_TRUNC tells of more */
    return got;
}

WRAP(ssize_t, send, int to, const void *from, size_t size, int flags)
{
    ssize_t put = __real_send(to, from, size, flags);
    loads(from, put > 0 ? (size_t)put : 0, CALLER);
    return put;
}

WRAP(size_t, fread, void *to, size_t size, size_t count, FILE *from)
{
    size_t got = __real_fread(to, size, count, from);
    stores(to, got * size, CALLER);
    return got;
}

WRAP(size_t, fwrite, const void *from, size_t size, size_t count, FILE *to)
{
    size_t put = __real_fwrite(from, size, count, to);
    loads(from, put * size, CALLER);
    return put;
}

WRAP(char *, fgets, char *to, int size, FILE *from)
{
    char *got = __real_fgets(to, size, from);
    stores(to, got ? __real_strlen(got) + 1 : 0, CALLER);
    return got;
}

WRAP(int, fputs, const char *text, FILE *to)
{
    loads(text, __real_strlen(text) + 1, CALLER);
    return __real_fputs(text, to);
}

WRAP(int, puts, const char *text)
{
    loads(text, __real_strlen(text) + 1, CALLER);
    return __real_puts(text);
}

/* ---- formatted output ---- */

/* The arguments of a format, in their order. */
struct arguments {
    int types[ARGUMENTS];
    size_t count, next;
    va_list list;
};

/* Passes the next argument over. A text is left in *text, a number in *number. False: there is none. */
static bool pass(struct arguments *arguments, const char **text, int *number)
{
    if (arguments->next >= arguments->count || arguments->next >= ARGUMENTS)
        return false;
    int type = arguments->types[arguments->next++], kind = type & ~PA_FLAG_MASK;
    if (kind == PA_STRING)
        *text = va_arg(arguments->list, const char *);
    else if (type & PA_FLAG_PTR || kind == PA_POINTER || kind == PA_WSTRING)
        (void)va_arg(arguments->list, void *); /* NOLINT(bugprone-branch-clone): the types differ */
    else if ((kind == PA_DOUBLE || kind == PA_FLOAT) && type & PA_FLAG_LONG_DOUBLE)
        (void)va_arg(arguments->list, long double);
    else if (kind == PA_DOUBLE || kind == PA_FLOAT)
        (void)va_arg(arguments->list, double);
    else if (type & (PA_FLAG_LONG | PA_FLAG_LONG_LONG))
        (void)va_arg(arguments->list, long long);
    else
        *number = va_arg(arguments->list, int);
    return true;
}

/* A width or a precision at *at: a number, or `*` and an argument. */
static bool pass_number(struct arguments *arguments, const char **at, int *number)
{
    const char *none;
    *number = 0;
    if (**at == '*') {
        (*at)++;
        return pass(arguments, &none, number);
    }
    for (; **at >= '0' && **at <= '9'; (*at)++)
        *number = *number < 100000000 ? 10 * *number + (**at - '0') : *number;
    return **at != '$';
}

/* One conversion, behind its `%`. False: the rest is not understood. Arguments that are named by numbers are not. */
static bool note_conversion(struct arguments *arguments, const char **at, const void *site)
{
    const char *text = NULL;
    int number, precision = -1;
    while (**at && strchr("-+ #0'I", **at))
        (*at)++;
    if (!pass_number(arguments, at, &number))
        return false;
    if (**at == '.' && ((*at)++, !pass_number(arguments, at, &precision)))
        return false;
    while (**at && strchr("hlqjztL", **at))
        (*at)++;
    char conversion = **at;
    *at += conversion != 0;
    if (conversion == '%' || conversion == 'm')
        return true;
    if (!pass(arguments, &text, &number))
        return false;
    size_t most = precision < 0 ? SIZE_MAX : (size_t)precision, length = text ? __real_strnlen(text, most) : 0;
    if (text && conversion == 's')
        loads(text, length < most ? length + 1 : most, site);
    return true;
}

/* Texts among the arguments. */
static void note_texts(const char *format, va_list given, const void *site)
{
    struct arguments arguments = {.next = 0};
    arguments.count = parse_printf_format(format, ARGUMENTS, arguments.types);
    loads(format, __real_strlen(format) + 1, site);
    va_copy(arguments.list, given);
    for (const char *at = format; *at;)
        if (*at++ == '%' && !note_conversion(&arguments, &at, site))
            break;
    va_end(arguments.list);
}

WRAP(int, vfprintf, FILE *to, const char *format, va_list list)
{
    note_texts(format, list, CALLER);
    return __real_vfprintf(to, format, list);
}

WRAP(int, vprintf, const char *format, va_list list)
{
    note_texts(format, list, CALLER);
    return __real_vprintf(format, list);
}

WRAP(int, vdprintf, int to, const char *format, va_list list)
{
    note_texts(format, list, CALLER);
    return __real_vdprintf(to, format, list);
}

static int print_into(char *to, size_t size, const char *format, va_list list, const void *site);

WRAP(int, vsnprintf, char *to, size_t size, const char *format, va_list list)
{
    return print_into(to, size, format, list, CALLER);
}

static int print_into(char *to, size_t size, const char *format, va_list list, const void *site)
{
    note_texts(format, list, site);
    int length = __real_vsnprintf(to, size, format, list);
    if (length >= 0 && size > 0)
        stores(to, (size_t)length < size ? (size_t)length + 1 : size, site);
    return length;
}

WRAP(int, vsprintf, char *to, const char *format, va_list list)
{
    return print_into(to, (size_t)1 << 30, format, list, CALLER);
}

/* A function that takes arguments calls the one that takes a list of them. */
#define GO_ON(call) \
    va_list list; \
    va_start(list, format); \
    int length = call; \
    va_end(list); \
    return length

#define NOTED(call) (note_texts(format, list, CALLER), call)

WRAP(int, printf, const char *format, ...)
{
    GO_ON(NOTED(__real_vprintf(format, list)));
}

WRAP(int, fprintf, FILE *to, const char *format, ...)
{
    GO_ON(NOTED(__real_vfprintf(to, format, list)));
}

WRAP(int, dprintf, int to, const char *format, ...)
{
    GO_ON(NOTED(__real_vdprintf(to, format, list)));
}

WRAP(int, snprintf, char *to, size_t size, const char *format, ...)
{
    GO_ON(print_into(to, size, format, list, CALLER));
}

WRAP(int, sprintf, char *to, const char *format, ...)
{
    GO_ON(print_into(to, (size_t)1 << 30, format, list, CALLER));
}
