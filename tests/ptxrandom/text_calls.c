/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions with signatures of their own, as PTX, and calls of them. A parameter that is in a register is in the very
 * register of the function's that it is a value of. Variables are a0.. by parameter in the function and x0.. where it
 * is called, results o and y. In calls %cg says whether, %cm are the lanes, %cn is the count, %ca the function.
 */
#include <string.h>

#include "text.h"

/* What goes into a function, or comes out: also what belongs to its kind. `first` is the first of its struct, or
 * itself. */
struct passed {
    const char *type;
    char reg[24];
    enum form form;
    int slot;
    unsigned first;
};
enum { MASK = -4, COUNT, OWN_ADDRESS, SUMS_ADDRESS };
#define PASSED_MAX (PARAMS + 4u)

static const char *const types[CLASSES] = {"b32", "b64", "b16", "f32", "f64", "pred"};
static const unsigned struct_places[3] = {0, 8, 12};

static unsigned list_passed(const struct function *f, bool results, struct passed *list)
{
    const struct {
        bool there;
        const char *type, *reg;
        int slot;
    } special[] = {{f->counts, "b32", "%m", MASK},
                   {f->ring, "b32", "%count", COUNT},
                   {f->base, "b64", "%own", OWN_ADDRESS},
                   {f->base, "b64", "%sums", SUMS_ADDRESS}};
    unsigned count = 0;
    for (unsigned i = 0; i < 4 && !results; i++)
        if (special[i].there) {
            list[count] = (struct passed){.type = special[i].type,
                                          .form = f->variables ? IN_VARIABLE : IN_REGISTER,
                                          .slot = special[i].slot,
                                          .first = count};
            snprintf(list[count++].reg, sizeof list->reg, "%s", special[i].reg);
        }
    for (unsigned i = 0; i < (results ? f->result_count : f->param_count); i++) {
        const struct slot *slot = results ? &f->results[i] : &f->params[i];
        list[count] =
            (struct passed){.type = types[slot->class], .form = (enum form)slot->form, .slot = (int)i, .first = count};
        if (slot->form == IN_STRUCT && count > 0 && list[count - 1].form == IN_STRUCT &&
            count - list[count - 1].first < 3)
            list[count].first = list[count - 1].first;
        snprintf(list[count++].reg, sizeof list->reg, "%%%c%u", class_letters[slot->class], slot->reg);
    }
    return count;
}

static void put_list_of(FILE *f, const struct passed *list, unsigned count, const char *name, bool prototype)
{
    fputc('(', f);
    for (unsigned i = 0; i < count; i += list[i].form == IN_STRUCT ? 3 : 1) {
        char variable[16];
        snprintf(variable, sizeof variable, prototype ? "_" : "%s%u", name, i);
        fputs(i ? ", " : "", f);
        if (list[i].form == IN_REGISTER)
            fprintf(f, ".reg .%s %s", list[i].type, prototype ? "_" : list[i].reg);
        else if (list[i].form == IN_VARIABLE)
            fprintf(f, ".param .%s %s", list[i].type, variable);
        else
            fprintf(f, ".param .align 8 .b8 %s[16]", variable);
    }
    fputc(')', f);
}

/* (results) name(parameters) */
static void put_signature(FILE *f, const struct function *function, const char *name, bool prototype)
{
    struct passed params[PASSED_MAX], results[PASSED_MAX];
    unsigned param_count = list_passed(function, false, params), result_count = list_passed(function, true, results);
    if (result_count)
        put_list_of(f, results, result_count, "o", prototype);
    fprintf(f, " %s", name);
    put_list_of(f, params, param_count, "a", prototype);
}

void put_declaration(FILE *file, const struct program *p, unsigned index)
{
    char name[16];
    snprintf(name, sizeof name, "f%u", index);
    fputs(".func ", file);
    put_signature(file, &p->functions[index], name, false);
    fputs(";\n", file);
}

/* Loads or stores of what is in variables. Pieces of a struct are behind each other. */
static void put_moves(FILE *f, const struct passed *list, unsigned count, bool store, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned place = struct_places[i - list[i].first];
        if (list[i].form == IN_REGISTER)
            continue;
        if (store)
            fprintf(f, "st.param.%s [%s%u+%u], %s; ", list[i].type, name, list[i].first, place, list[i].reg);
        else
            fprintf(f, "ld.param.%s %s, [%s%u+%u]; ", list[i].type, list[i].reg, name, list[i].first, place);
    }
}

void put_results(struct writer *w)
{
    struct passed results[PASSED_MAX];
    unsigned count = list_passed(w->function, true, results);
    put_moves(w->file, results, count, true, "o");
}

static bool is_register(const struct function *f, unsigned class, unsigned number, bool *is_result)
{
    bool found = false;
    *is_result = false;
    for (unsigned i = 0; i < f->param_count; i++)
        found |= f->params[i].form == IN_REGISTER && f->params[i].class == class && f->params[i].reg == number;
    for (unsigned i = 0; i < f->result_count; i++)
        *is_result |= f->results[i].form == IN_REGISTER && f->results[i].class == class && f->results[i].reg == number;
    return found || *is_result;
}

static void put_value(FILE *f, enum class class, u64 value)
{
    if (class == CLASS_F || class == CLASS_G)
        fprintf(f, class == CLASS_F ? "0f%08llX" : "0d%016llX", (unsigned long long)value);
    else
        fprintf(f, class == CLASS_D ? "%lld" : "%llu", (unsigned long long)value);
}

/* All registers but those that are parameters hold something at the start. */
static void put_start(struct writer *w)
{
    FILE *f = w->file;
    for (unsigned class = 0; class < CLASSES; class ++) {
        for (unsigned k = 0; k < REGS; k++) {
            bool is_result, passed = is_register(w->function, class, k, &is_result);
            if (!passed)
                fprintf(f, ".reg .%s %%%c%u; ", types[class], class_letters[class], k);
            if (passed && !is_result)
                continue;
            if (class == CLASS_P) {
                fprintf(f, "setp.ne.u32 %%p%u, %u, 0; ", k, k & 1);
                continue;
            }
            fprintf(f, "mov.%s %%%c%u, ", types[class], class_letters[class], k);
            put_value(f, (enum class) class, value_at_start((enum class) class, k));
            fputs("; ", f);
        }
        fputc('\n', f);
    }
}

void put_signed_function(FILE *file, const struct program *p, unsigned index)
{
    const struct function *f = &p->functions[index];
    struct writer w = {.file = file, .program = p, .function = f, .counts = f->counts, .mask = "%m"};
    struct passed params[PASSED_MAX];
    char name[16];
    unsigned count = list_passed(f, false, params);
    snprintf(name, sizeof name, "f%u", index);
    fputs(".func ", file);
    put_signature(file, f, name, false);
    fprintf(file, "\n{\n.local .align 8 .b8 mine[%u];\n", OWN_BYTES);
    put_registers(&w);
    put_start(&w);
    if (f->variables)
        fprintf(file, "%s%s%s", f->counts ? ".reg .b32 %m; " : "", f->ring ? ".reg .b32 %count; " : "",
                f->base ? ".reg .b64 %own, %sums; " : "");
    fputs(".reg .b64 %loc; mov.u64 %loc, mine; mov.u64 %td, 0;\n", file);
    for (unsigned i = 0; i < OWN_BYTES; i += 8)
        fprintf(file, "st.local.u64 [%%loc+%u], %%td; ", i);
    put_moves(file, params, count, false, "a");
    fputc('\n', file);
    put_list(&w, f->body);
    put_results(&w);
    fputs("ret;\n}\n", file);
}

/* ---- calls ---- */

/* Who calls: returns what stands in front of what only they do. */
static const char *put_condition(struct writer *w, const struct node *n)
{
    static char text[16];
    FILE *f = w->file;
    if (n->guard < 0 && !n->inner)
        return "";
    snprintf(text, sizeof text,
             n->guard < 0 || n->inner || n->around ? "@%%cg "
             : n->guard_not                        ? "@!%%p%d "
                                                   : "@%%p%d ",
             n->guard);
    if (n->inner)
        fputs("setp.ne.u32 %cg, %count, 0; ", f);
    if (n->inner && n->guard >= 0)
        fprintf(f, "%s.pred %%tp, %%p%d; and.pred %%cg, %%cg, %%tp; ", n->guard_not ? "not" : "mov", n->guard);
    else if (!n->inner && n->around)
        fprintf(f, "%s.pred %%cg, %%p%d; ", n->guard_not ? "not" : "mov", n->guard);
    return text;
}

/* %cm: the lanes that this lane calls with. */
static void put_lanes(struct writer *w, const struct node *n, const char *condition)
{
    FILE *f = w->file;
    fprintf(f, "mov.b32 %%cm, %s; ", w->mask);
    if (n->dynamic && n->place != n->op)
        fprintf(f, "vote.sync.ballot.b32 %%cm, %%p%u, %s; xor.b32 %%ti, %%cm, %s; selp.b32 %%cm, %%cm, %%ti, %%p%u; ",
                n->form % REGS, w->mask, w->mask, n->form % REGS);
    if (condition[0])
        fprintf(f, "vote.sync.ballot.b32 %%ti, %.*s, %s; and.b32 %%cm, %%cm, %%ti; ", (int)strlen(condition) - 2,
                condition + 1, w->mask);
}

/* The register or number that is passed. */
static void argument_text(const struct function *f, const struct node *n, const struct passed *passed, char text[24])
{
    static const char *const names[] = {"%cm", "%cn", "%own", "%sums"};
    if (passed->slot < 0) {
        snprintf(text, 24, "%s", names[passed->slot - MASK]);
        return;
    }
    enum class class = (enum class)f->params[passed->slot].class;
    if (!(n->numbers >> passed->slot & 1)) {
        snprintf(text, 24, "%%%c%u", class_letters[class], n->pass[passed->slot]);
        return;
    }
    FILE *file = fmemopen(text, 24, "w");
    if (file) {
        put_value(file, class, value_of_constant(class, n->value));
        fclose(file);
    }
}

/* Declares variables. */
static void put_variables(FILE *f, const struct passed *list, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (list[i].form == IN_VARIABLE)
            fprintf(f, ".param .%s %s%u; ", list[i].type, name, i);
        else if (list[i].form == IN_STRUCT && list[i].first == i)
            fprintf(f, ".param .align 8 .b8 %s%u[16]; ", name, i);
}

/* Registers, numbers and variables, as they stand in a call. */
static void put_operands(FILE *f, const struct passed *list, unsigned count, const char *name)
{
    fputc('(', f);
    for (unsigned i = 0; i < count; i++) {
        if (list[i].first != i)
            continue;
        fputs(i ? ", " : "", f);
        if (list[i].form == IN_REGISTER)
            fputs(list[i].reg, f);
        else
            fprintf(f, "%s%u", name, i);
    }
    fputc(')', f);
}

static void put_call_itself(struct writer *w, const struct node *n, const char *condition, const struct passed *params,
                            unsigned param_count, const struct passed *results, unsigned result_count, bool ignored)
{
    FILE *f = w->file;
    fprintf(f, "\n%scall ", n->around ? "" : condition);
    if (ignored)
        fputs("(_)", f);
    else if (result_count)
        put_operands(f, results, result_count, "y");
    fprintf(f, n->dynamic ? "%s%%ca, " : "%sf%u, ", result_count ? ", " : "", n->op);
    put_operands(f, params, param_count, "x");
    if (n->dynamic)
        fprintf(f, ", shape%u", n->number);
    fputs(";\n", f);
}

/* From variables into registers, only where there was a call. */
static void take_results(struct writer *w, const struct function *function, const struct node *n, const char *condition,
                         const struct passed *results, unsigned count)
{
    FILE *f = w->file;
    for (unsigned i = 0; i < count; i++) {
        const char *type = results[i].type;
        if (results[i].form == IN_REGISTER || n->take[i] == NOWHERE)
            continue;
        bool through = condition[0] && !n->around;
        char temporary[8];
        snprintf(temporary, sizeof temporary, "%%t%c", class_letters[function->results[i].class]);
        fprintf(f, "ld.param.%s %s, [y%u+%u]; ", type, through ? temporary : results[i].reg, results[i].first,
                struct_places[i - results[i].first]);
        if (through)
            fprintf(f, "%smov.%s %s, %s; ", condition, type, results[i].reg, temporary);
    }
}

/* What is to be called, where that is not known. */
static void put_pointer(struct writer *w, const struct function *function, const struct node *n)
{
    fprintf(w->file, "shape%u: .callprototype ", n->number);
    put_signature(w->file, function, "_", true);
    fprintf(w->file, ";\nmov.u64 %%ca, f%u; ", n->op);
    if (n->place != n->op)
        fprintf(w->file, "mov.u64 %%td, f%u; selp.b64 %%ca, %%ca, %%td, %%p%u; ", n->place, n->form % REGS);
}

void put_invoke(struct writer *w, const struct node *n)
{
    FILE *f = w->file;
    const struct function *function = &w->program->functions[n->op];
    struct passed params[PASSED_MAX], results[PASSED_MAX];
    unsigned param_count = list_passed(function, false, params), result_count = list_passed(function, true, results);
    bool ignored = result_count > 0;
    for (unsigned i = 0; i < result_count; i++) {
        if (n->take[i] == NOWHERE)
            snprintf(results[i].reg, sizeof results[i].reg, "_");
        else
            snprintf(results[i].reg, sizeof results[i].reg, "%%%c%u", class_letters[function->results[i].class],
                     n->take[i]);
        ignored &= n->take[i] == NOWHERE && results[i].form != IN_REGISTER;
    }
    if (n->dynamic)
        put_pointer(w, function, n);
    const char *condition = put_condition(w, n);
    if (function->counts)
        put_lanes(w, n, condition);
    if (function->ring && n->inner)
        fputs("sub.u32 %cn, %count, 1; ", f);
    else if (function->ring)
        fprintf(f, n->depth < DEPTHS ? "mov.u32 %%cn, %u; " : "and.b32 %%cn, %%r%u, 3; ",
                n->depth < DEPTHS ? n->depth : n->src[0]);
    if (condition[0] && n->around)
        fprintf(f, "@!%%cg bra OVER%u;\n", n->number);
    fputs("{ ", f);
    for (unsigned i = 0; i < param_count; i++) {
        argument_text(function, n, &params[i], params[i].reg);
        /* What a variable gets may stand in the call itself. */
        if (params[i].form == IN_VARIABLE && (n->form + i) % 3 == 0)
            params[i].form = IN_REGISTER;
    }
    put_variables(f, params, param_count, "x");
    put_moves(f, params, param_count, true, "x");
    if (!ignored)
        put_variables(f, results, result_count, "y");
    put_call_itself(w, n, condition, params, param_count, results, result_count, ignored);
    take_results(w, function, n, condition, results, result_count);
    fputs("}\n", f);
    if (condition[0] && n->around)
        fprintf(f, "OVER%u:\n", n->number);
}
