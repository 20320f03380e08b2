/* SPDX-License-Identifier: Apache-2.0 */
/* Names from DWARF and symbols, by elfutils' libdw. Debug information may lie in the file itself, or where the system
 * keeps it (by build-id or by the name that the file gives). */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

struct names_module {
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias; /* an address in the file plus this is what libdwfl calls it */
};

static char *debug_path; /* NULL: where the system keeps debug files */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

static bool same_build_id(Dwfl_Module *module, const char *wanted)
{
    const unsigned char *bits;
    GElf_Addr at;
    char text[3];
    int size = dwfl_module_build_id(module, &bits, &at);
    if (size < 0 || (size_t)size * 2 != strlen(wanted))
        return false;
    for (int i = 0; i < size; i++) {
        snprintf(text, sizeof text, "%02x", bits[i]);
        if (memcmp(text, wanted + 2 * (size_t)i, 2) != 0)
            return false;
    }
    return true;
}

struct names_module *names_open(const char *path, const char *build_id, const char **why)
{
    char by_id[128];
    struct names_module *out = calloc(1, sizeof *out);
    if (access(path, R_OK) != 0 && strlen(build_id) > 2) {
        snprintf(by_id, sizeof by_id, "/usr/lib/debug/.build-id/%.2s/%.64s.debug", build_id, build_id + 2);
        path = access(by_id, R_OK) == 0 ? by_id : path;
    }
    *why = "memory is short";
    if (!out || !(out->dwfl = dwfl_begin(&callbacks)))
        goto bad;
    *why = "the file is gone, or is no program or library";
    dwfl_report_begin(out->dwfl);
    out->module = dwfl_report_offline(out->dwfl, path, path, -1);
    if (dwfl_report_end(out->dwfl, NULL, NULL) != 0 || !out->module || !dwfl_module_getelf(out->module, &out->bias))
        goto bad;
    *why = "the file is another than the one that ran (its build-id differs)";
    if (*build_id && !same_build_id(out->module, build_id))
        goto bad;
    *why = NULL;
    return out;
bad:
    names_close(out);
    return NULL;
}

void names_close(struct names_module *module)
{
    if (module && module->dwfl)
        dwfl_end(module->dwfl);
    free(module);
}

/* The readable name of a function's entry; its full symbol where the entry has it. */
static char *function_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name)
        name = dwarf_diename(die);
    return name ? names_demangle(name) : NULL;
}

static unsigned number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word value = 0;
    return dwarf_attr(die, attribute, &found) && dwarf_formudata(&found, &value) == 0 ? (unsigned)value : 0;
}

/* Where an inlined call stands. */
static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Files *files;
    size_t count;
    unsigned number = number_of(die, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static bool add(struct name **names, size_t *count, struct name name, const char *file)
{
    struct name *more = realloc(*names, (*count + 1) * sizeof **names);
    if (!more) {
        free(name.function);
        return false;
    }
    name.file = file ? strdup(file) : NULL;
    *names = more;
    more[(*count)++] = name;
    return true;
}

/* The unit that holds the address. The table of units lacks those that come from clang, and may answer one of the
 * others for an address in a unit of clang's. So each unit is asked by itself. */
static Dwarf_Die *find_unit(Dwfl_Module *module, GElf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit && dwarf_haspc(unit, address - *bias) == 1)
        return unit;
    unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) == 1)
            return unit;
    return NULL;
}

/* The line of the address; NULL and no change to line and column if the unit tells of none. */
static const char *find_line(Dwarf_Die *unit, Dwarf_Addr address, int *line, int *column)
{
    Dwarf_Line *found = unit ? dwarf_getsrc_die(unit, address) : NULL;
    if (!found)
        return NULL;
    dwarf_lineno(found, line);
    dwarf_linecol(found, column);
    return dwarf_linesrc(found, NULL, NULL);
}

/* From the debug information: each function that the address is inlined into, then the one that holds them all. */
static size_t find_in_debug(struct names_module *module, GElf_Addr address, struct name **out)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(module->module, address, &bias), *scopes = NULL, *around = NULL;
    size_t count = 0;
    int place = 0, column = 0;
    const char *file = find_line(unit, address - bias, &place, &column);
    if (!unit || dwarf_getscopes(unit, address - bias, &scopes) <= 0) {
        free(scopes);
        return 0;
    }
    int depth = dwarf_getscopes_die(&scopes[0], &around);
    for (int i = 0; i < depth; i++) {
        int tag = dwarf_tag(&around[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        bool inlined = tag == DW_TAG_inlined_subroutine;
        struct name name = {function_of(&around[i]), NULL, (unsigned)place, (unsigned)column, 0, inlined};
        if (!add(out, &count, name, file) || !inlined)
            break;
        file = call_file(unit, &around[i]);
        place = (int)number_of(&around[i], DW_AT_call_line);
        column = (int)number_of(&around[i], DW_AT_call_column);
    }
    free(scopes);
    free(around);
    return count;
}

size_t names_find(struct names_module *module, uint64_t address, struct name **out)
{
    GElf_Addr at = address + module->bias;
    *out = NULL;
    size_t count = find_in_debug(module, at, out);
    if (count > 0)
        return count;
    GElf_Sym symbol;
    GElf_Off past;
    int line = 0, column = 0;
    const char *name = dwfl_module_addrinfo(module->module, at, &past, &symbol, NULL, NULL, NULL);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(module->module, at, &bias); /* of assembly: lines and no functions */
    const char *file = find_line(unit, at - bias, &line, &column);
    if (!name && !file)
        return 0;
    struct name found = {name ? names_demangle(name) : NULL, NULL, (unsigned)line, (unsigned)column, past, false};
    add(out, &count, found, file);
    return count;
}
