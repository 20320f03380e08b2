/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Joining PTX texts. Each input is cut into the statements of its module scope;
 * then every statement that defines or declares a symbol is kept, dropped, or
 * made a declaration (`settle`), and what is left is written out one input after
 * the other, under one header with the newest version and target of all.
 *
 * Debug information stays with its input: first the input's files, whose numbers
 * follow those of the inputs before; then its statements; then its sections. The
 * bytes of the sections count files as the input did: the parser knows where the
 * numbers of an input begin (parse_debug.h). Labels of compilers ($L__tmp1) get
 * an input's own names, because sections of several inputs may refer to them.
 */
#include "ptx/join.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "ptx/lexer.h"

enum linkage { LOCAL, EXTERN, COMMON, WEAK, VISIBLE }; /* by what wins */

struct statement {
    const char *begin, *end; /* of its text */
    const char *rest;        /* behind its linkage */
    const char *head_end;    /* where a body or an initial value begins */
    const char *name;        /* NULL: no symbol */
    size_t name_length;
    uint32_t input, line;
    uint8_t linkage;
    bool is_function, is_entry, has_body, is_shared;
    bool tuned;              /* a kernel that says how many registers or threads it has */
    bool dropped, declared;  /* left out; written as a declaration: */
    const struct statement *declares; /* of that kernel, or NULL: of itself */
    bool renamed;
    bool is_file, is_section;
    uint32_t file; /* the number of a file */
};

#define FILES_MAX 65535u /* the largest number of a file */

struct join {
    struct statement *list;
    size_t count, capacity;
    char *out;
    size_t length, room;
    unsigned version_major, version_minor, sm;
    char target[32];
    struct mr_ptx_diag *diag;
    unsigned registers;      /* of a thread at most, in kernels that say nothing themselves; 0: nothing is said */
    bool alone;              /* there is one input, in which nothing can be in the way of others */
    uint32_t files;          /* the largest number of a file that is written so far */
    bool short_of_memory, good;
};

static void refuse(struct join *join, const struct statement *statement, const char *what)
{
    mr_ptx_diag_error(join->diag, 0, 0, "input %u, line %u: %s '%.*s'", statement->input + 1, statement->line, what,
                      statement->name ? (int)statement->name_length : 0, statement->name ? statement->name : "");
    join->good = false;
}

static bool word_is(const struct mr_ptx_token *token, const char *word)
{
    return token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

/* --- Statements ---------------------------------------------------------------- */

/* .version, .target, .address_size: what they say; the lexer stands behind the directive. */
static void read_header(struct join *join, const struct mr_ptx_token *word, const struct mr_ptx_token *value)
{
    char text[32];
    unsigned major, minor, sm;
    snprintf(text, sizeof text, "%.*s", value->length < sizeof text ? (int)value->length : 31, value->text);
    if (word_is(word, "version") && sscanf(text, "%u.%u", &major, &minor) == 2) {
        if (major > join->version_major || (major == join->version_major && minor > join->version_minor)) {
            join->version_major = major;
            join->version_minor = minor;
        }
    } else if (word_is(word, "target") && sscanf(text, "sm_%u", &sm) == 1 && sm >= join->sm) {
        if (sm > join->sm || strlen(text) > strlen(join->target))
            snprintf(join->target, sizeof join->target, "%s", text);
        join->sm = sm;
    }
}

/* A word of a symbol's declaration at its outermost level. */
static void read_word(struct statement *statement, const struct mr_ptx_token *token)
{
    static const struct {
        const char *word;
        uint8_t linkage;
    } linkages[] = {{"extern", EXTERN}, {"common", COMMON}, {"weak", WEAK}, {"visible", VISIBLE}};
    if (token->kind == MR_PTX_TOKEN_NAME && !statement->name) {
        statement->name = token->text;
        statement->name_length = token->length;
    }
    if (token->kind != MR_PTX_TOKEN_DOT || statement->name)
        return;
    for (size_t i = 0; i < sizeof linkages / sizeof *linkages; i++)
        if (word_is(token, linkages[i].word)) {
            statement->linkage = linkages[i].linkage;
            statement->rest = token->text + token->length;
        }
    statement->is_entry |= word_is(token, "entry");
    statement->is_function |= word_is(token, "func") || word_is(token, "entry");
    statement->is_shared |= word_is(token, "shared");
}

/* Reads up to the end of a statement that begins with `token`; leaves the token behind it there. */
static void read_symbol(struct mr_ptx_lexer *lexer, struct mr_ptx_token *token, struct statement *statement,
                        bool *several)
{
    unsigned braces = 0, parens = 0;
    for (; token->kind != MR_PTX_TOKEN_END && token->kind != MR_PTX_TOKEN_ERROR; mr_ptx_lexer_next(lexer, token)) {
        bool outside = braces == 0 && parens == 0;
        if (outside && (token->kind == '{' || token->kind == '=' || token->kind == ';') && !statement->head_end) {
            statement->head_end = token->text;
            statement->has_body = token->kind == '{';
        }
        if (outside && token->kind == ',' && !statement->is_function)
            *several = true;
        braces += token->kind == '{';
        parens += token->kind == '(';
        parens -= token->kind == ')' && parens > 0;
        bool closes = token->kind == '}' && braces > 0 && --braces == 0;
        if ((outside && token->kind == ';') || (closes && statement->has_body && statement->is_function)) {
            statement->end = token->text + token->length;
            mr_ptx_lexer_next(lexer, token);
            return;
        }
        if (outside && !statement->head_end)
            read_word(statement, token);
        statement->tuned |= outside && !statement->head_end && token->kind == MR_PTX_TOKEN_DOT &&
                            (word_is(token, "maxnreg") || word_is(token, "maxntid") || word_is(token, "reqntid"));
    }
    statement->end = token->text;
}

static struct statement *add_statement(struct join *join)
{
    if (!mr_array_reserve((void **)&join->list, &join->capacity, join->count + 1, sizeof *join->list)) {
        join->short_of_memory = true;
        return NULL;
    }
    return memset(&join->list[join->count++], 0, sizeof *join->list);
}

static bool at_end(const struct mr_ptx_token *token)
{
    return token->kind == MR_PTX_TOKEN_END || token->kind == MR_PTX_TOKEN_ERROR;
}

/* .section .debug_info { ... }, from its first token on. What does not end is left out. */
static void read_section(struct join *join, struct mr_ptx_lexer *lexer, struct mr_ptx_token *token, uint32_t number)
{
    const char *begin = token->text - 1;
    uint32_t line = token->line;
    while (token->kind != '}' && !at_end(token))
        mr_ptx_lexer_next(lexer, token);
    if (token->kind != '}')
        return;
    struct statement *statement = add_statement(join);
    if (statement)
        *statement = (struct statement){
            .begin = begin, .end = token->text + 1, .input = number, .line = line, .is_section = true};
    mr_ptx_lexer_next(lexer, token);
}

/* .file 1 "name", 2, 3, from its first token on. */
static void read_file(struct join *join, struct mr_ptx_lexer *lexer, struct mr_ptx_token *token, uint32_t number)
{
    struct statement statement = {.input = number, .line = token->line, .is_file = true};
    mr_ptx_lexer_next(lexer, token);
    bool good = token->kind == MR_PTX_TOKEN_INT && token->value <= FILES_MAX;
    statement.file = good ? (uint32_t)token->value : 0;
    statement.begin = statement.end = token->text + token->length;
    while (token->kind != MR_PTX_TOKEN_DOT && !at_end(token)) {
        if (token->kind == MR_PTX_TOKEN_STRING) /* its text is between the quotes */
            statement.end = token->text + token->length + 1;
        else if (token->kind == MR_PTX_TOKEN_INT)
            statement.end = token->text + token->length;
        mr_ptx_lexer_next(lexer, token);
    }
    struct statement *added = good ? add_statement(join) : NULL;
    if (added)
        *added = statement;
}

static void read_input(struct join *join, const struct mr_ptx_join_input *input, uint32_t number)
{
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    mr_ptx_lexer_init(&lexer, input->text, input->length);
    mr_ptx_lexer_next(&lexer, &token);
    while (token.kind != MR_PTX_TOKEN_END && token.kind != MR_PTX_TOKEN_ERROR && join->good && !join->short_of_memory) {
        struct mr_ptx_token first = token;
        if (token.kind == MR_PTX_TOKEN_DOT &&
            (word_is(&token, "version") || word_is(&token, "target") || word_is(&token, "address_size"))) {
            mr_ptx_lexer_next(&lexer, &token);
            read_header(join, &first, &token);
            while (token.kind != MR_PTX_TOKEN_DOT && token.kind != MR_PTX_TOKEN_END && token.kind != MR_PTX_TOKEN_ERROR)
                mr_ptx_lexer_next(&lexer, &token);
            continue;
        }
        if (token.kind == MR_PTX_TOKEN_DOT && word_is(&token, "section")) {
            read_section(join, &lexer, &token, number);
            continue;
        }
        if (token.kind == MR_PTX_TOKEN_DOT && word_is(&token, "file")) {
            read_file(join, &lexer, &token, number);
            continue;
        }
        struct statement *statement = add_statement(join);
        bool several = false;
        if (!statement)
            return;
        *statement = (struct statement){
            .begin = token.text - (token.kind == MR_PTX_TOKEN_DOT), .input = number, .line = token.line};
        statement->rest = statement->begin;
        read_symbol(&lexer, &token, statement, &several);
        bool pragma = word_is(&first, "pragma");
        if (!join->alone && (first.kind != MR_PTX_TOKEN_DOT || word_is(&first, "alias") || (several && !pragma) ||
                             (!statement->name && !pragma)))
            refuse(join, statement, "this statement can't be linked with other inputs:");
        if (pragma)
            statement->name = NULL;
    }
}

/* --- Symbols ------------------------------------------------------------------- */

static bool same_name(const struct statement *a, const struct statement *b)
{
    return a->name && b->name && a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* Dynamic shared memory is each kernel's own, whatever it is called. */
static bool is_local(const struct statement *statement)
{
    return statement->linkage == LOCAL || (statement->linkage == EXTERN && statement->is_shared);
}

static bool defines(const struct statement *statement)
{
    return statement->linkage != EXTERN && (!statement->is_function || statement->has_body);
}

/* The definition that a shared name means, or NULL. */
static struct statement *find_winner(struct join *join, const struct statement *of)
{
    struct statement *winner = NULL;
    for (size_t i = 0; i < join->count; i++) {
        struct statement *other = &join->list[i];
        if (!same_name(of, other) || is_local(other) || !defines(other))
            continue;
        if (winner && winner->linkage == VISIBLE && other->linkage == VISIBLE && winner->input != other->input) {
            refuse(join, other, "multiple definition of");
            return NULL;
        }
        if (!winner || other->linkage > winner->linkage)
            winner = other;
    }
    return winner;
}

/* clang's list of what a source's host half uses and others define. It keeps members of archives in a link; here every
 * member is in it, and what is missing is known by its declaration. */
static bool is_host_list(const struct statement *statement)
{
    static const char name[] = "__clang_gpu_used_external";
    return !statement->is_function && statement->name_length == sizeof name - 1 &&
           memcmp(statement->name, name, sizeof name - 1) == 0;
}

/* Decides what becomes of a statement that declares a symbol. */
static void settle(struct join *join, struct statement *statement)
{
    if (is_host_list(statement)) {
        statement->dropped = true;
        return;
    }
    if (is_local(statement)) {
        for (size_t i = 0; i < join->count; i++)
            if (join->list[i].input != statement->input && same_name(statement, &join->list[i]))
                statement->renamed = true;
        return;
    }
    const struct statement *winner = find_winner(join, statement);
    if (!winner || winner->input == statement->input)
        return;
    statement->declared = true;
    if (winner->is_entry) /* a kernel that is declared alone comes as a function of clang's */
        statement->declares = winner;
}

/* --- The text ------------------------------------------------------------------ */

static void put(struct join *join, const char *text, size_t length)
{
    if (join->short_of_memory)
        return;
    if (!mr_array_reserve((void **)&join->out, &join->room, join->length + length + 1, 1)) {
        join->short_of_memory = true;
        return;
    }
    memcpy(join->out + join->length, text, length);
    join->length += length;
    join->out[join->length] = 0;
}

static bool is_renamed(const struct join *join, uint32_t input, const struct mr_ptx_token *token)
{
    struct statement like = {.name = token->text, .name_length = token->length};
    for (size_t i = 0; i < join->count; i++)
        if (join->list[i].renamed && join->list[i].input == input && same_name(&join->list[i], &like))
            return true;
    return false;
}

/* How an input is written. */
struct input_form {
    uint32_t input, files; /* its number; what is added to the numbers of its files */
    bool names, labels; /* names that others have too, and labels, get names of their own */
    bool sections; /* it has some */
};

static bool is_label(const struct mr_ptx_token *token)
{
    return token->length > 3 && memcmp(token->text, "$L_", 3) == 0;
}

/* A part of an input with its own names made different from those of the others, and the numbers of its files. */
static void put_changed(struct join *join, const struct input_form *form, const char *from, const char *to)
{
    struct mr_ptx_lexer lexer;
    struct mr_ptx_token token;
    char suffix[32], number[32];
    bool is_file = false; /* the next number is a file's */
    snprintf(suffix, sizeof suffix, "$input%u", form->input + 1);
    mr_ptx_lexer_init(&lexer, from, (size_t)(to - from));
    for (mr_ptx_lexer_next(&lexer, &token); !at_end(&token); mr_ptx_lexer_next(&lexer, &token)) {
        const char *end = token.text + token.length;
        if (is_file && token.kind == MR_PTX_TOKEN_INT && form->files) {
            snprintf(number, sizeof number, "%llu", (unsigned long long)token.value + form->files);
            put(join, from, (size_t)(token.text - from));
            put(join, number, strlen(number));
            from = end;
        }
        is_file = (token.kind == MR_PTX_TOKEN_DOT && word_is(&token, "loc")) ||
                  (token.kind == MR_PTX_TOKEN_NAME && word_is(&token, "inlined_at"));
        /* x<10> declares x0 to x9, which are other names. */
        if (token.kind != MR_PTX_TOKEN_NAME || (end < to && *end == '<') ||
            !((form->labels && is_label(&token)) || (form->names && is_renamed(join, form->input, &token))))
            continue;
        put(join, from, (size_t)(end - from));
        put(join, suffix, strlen(suffix));
        from = end;
    }
    put(join, from, (size_t)(to - from));
}

static void put_part(struct join *join, const struct input_form *form, const char *from, const char *to)
{
    if (form->names || form->labels || form->files)
        put_changed(join, form, from, to);
    else
        put(join, from, (size_t)(to - from));
}

/* What has to be changed in an input; `largest` is the largest number of its files. */
static struct input_form form_of(const struct join *join, uint32_t input, uint32_t *largest)
{
    struct input_form form = {.input = input, .files = join->files};
    *largest = 0;
    for (size_t i = 0; i < join->count; i++) {
        const struct statement *statement = &join->list[i];
        if (statement->input != input)
            continue;
        form.names |= statement->renamed;
        form.sections |= statement->is_section;
        if (statement->is_file && statement->file > *largest)
            *largest = statement->file;
    }
    form.labels = form.sections && input > 0;
    return form;
}

/* The input's files. Without them its lines are not known: where there are none, or more than can be numbered. */
static void put_files(struct join *join, const struct input_form *form)
{
    char head[32];
    for (size_t i = 0; i < join->count; i++) {
        const struct statement *statement = &join->list[i];
        if (statement->input != form->input || !statement->is_file)
            continue;
        snprintf(head, sizeof head, ".file %u", statement->file + form->files);
        put(join, head, strlen(head));
        put(join, statement->begin, (size_t)(statement->end - statement->begin));
        put(join, "\n", 1);
    }
}

static void put_input(struct join *join, uint32_t input)
{
    uint32_t largest;
    struct input_form whole = form_of(join, input, &largest);
    const struct input_form *form = &whole;
    bool traced = largest > 0 && largest <= FILES_MAX - join->files;
    if (traced) {
        put_files(join, form);
        join->files += largest;
    }
    for (size_t i = 0; i < join->count; i++) {
        const struct statement *statement = &join->list[i];
        if (statement->input != input || statement->dropped || statement->is_file || (statement->is_section && !traced))
            continue;
        if (statement->declared) {
            const struct statement *of = statement->declares ? statement->declares : statement;
            put(join, ".extern", 7);
            put_part(join, form, of->rest, of->head_end);
            put(join, ";\n", 2);
        } else if (join->registers && statement->is_entry && statement->has_body && !statement->tuned) {
            char directive[32];
            snprintf(directive, sizeof directive, "\n.maxnreg %u\n", join->registers);
            put_part(join, form, statement->begin, statement->head_end);
            put(join, directive, strlen(directive));
            put_part(join, form, statement->head_end, statement->end);
            put(join, "\n", 1);
        } else {
            put_part(join, form, statement->begin, statement->end);
            put(join, "\n", 1);
        }
    }
    static const char no_section[] = "\t.section .debug_str\n{\n}\n"; /* the files that follow are another input's */
    if (traced && !form->sections && !join->alone)
        put(join, no_section, sizeof no_section - 1);
}

char *mr_ptx_join(const struct mr_ptx_join_input *inputs, uint32_t count, unsigned registers, struct mr_ptx_diag *diag)
{
    struct join join = {.diag = diag, .registers = registers, .alone = count == 1, .good = true};
    char header[128];
    for (uint32_t i = 0; i < count; i++)
        read_input(&join, &inputs[i], i);
    for (size_t i = 0; i < join.count && join.good; i++)
        if (join.list[i].name)
            settle(&join, &join.list[i]);
    if (join.good && !join.short_of_memory) {
        snprintf(header, sizeof header, ".version %u.%u\n.target %s\n.address_size 64\n", join.version_major,
                 join.version_minor, join.target);
        put(&join, header, strlen(header));
        for (uint32_t i = 0; i < count; i++)
            put_input(&join, i);
    }
    if (join.short_of_memory && diag)
        diag->out_of_memory = true;
    mr_free(join.list);
    if (join.good && !join.short_of_memory)
        return join.out;
    mr_free(join.out);
    return NULL;
}
