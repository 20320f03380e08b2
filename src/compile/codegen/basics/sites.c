/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of sites (abi/note.h): what the code notes, and where that is in the PTX and in its source.
 *
 * A block may stand there twice (body/function.c), so the same instruction with the same bytes is one site. The table
 * becomes a constant of the object with a symbol of its own. The names of source files stand behind the sites, each
 * once for all sites that name it one after the other.
 */
#include "compile/codegen/basics/sites.h"

#include <string.h>

#include "base/alloc.h"
#include "compile/codegen/basics/basics.h"

/* Sites that are looked at for the same instruction: more than a block that stands there twice has. */
#define LOOK_BACK 600u

struct cg_sites {
    uint32_t count, room;
    struct {
        struct mr_site site;
        const struct mr_ptx_inst *inst;
        unsigned row;
    } *all;
};

static bool grow(struct cg_sites *sites)
{
    if (sites->count < sites->room)
        return true;
    uint32_t room = sites->room ? 2 * sites->room : 64;
    void *all = mr_realloc(sites->all, room * sizeof *sites->all);
    if (!all)
        return false;
    sites->all = all;
    sites->room = room;
    return true;
}

static bool is_same(const struct mr_site *a, const struct mr_site *b)
{
    return a->bytes == b->bytes && a->width == b->width && a->stride == b->stride && a->flags == b->flags;
}

/* What the instruction, a load, decides by what it reads: MR_SITE_WAY, MR_SITE_PLACE. */
static uint32_t decides(const struct cg *g, const struct mr_site *site)
{
    unsigned decided = (site->flags & (MR_SITE_READ | MR_SITE_WRITE)) == MR_SITE_READ
                           ? mr_flow_decides(&g->flow, g->now.at, g->now.inst)
                           : 0;
    return (decided & MR_FLOW_DECIDES_WAY ? MR_SITE_WAY : 0) | (decided & MR_FLOW_DECIDES_PLACE ? MR_SITE_PLACE : 0);
}

static bool talks(const struct mr_ptx_inst *inst)
{
    return inst->semantics == MR_PTX_SEM_VOLATILE || inst->cache == MR_PTX_CACHE_CV || inst->scope == MR_PTX_SCOPE_SYS;
}

uint32_t cg_site(struct cg *g, const struct mr_site *given, unsigned row)
{
    struct cg_unit *unit = g->unit;
    const struct mr_ptx_inst *inst = g->now.inst;
    struct mr_site made = *given, *like = &made;
    like->flags |= decides(g, given);
    like->flags |= mr_flow_is_past_grids(&g->flow, g->now.at, g->now.inst) ? MR_SITE_PAST_GRIDS : 0u;
    like->flags |= talks(inst) ? MR_SITE_TALKS : 0u;
    if (!unit->sites)
        unit->sites = mr_calloc(1, sizeof *unit->sites);
    struct cg_sites *sites = unit->sites;
    for (uint32_t i = sites ? sites->count : 0, looks = LOOK_BACK; i-- > 0 && looks; looks--)
        if (sites->all[i].inst == inst && sites->all[i].row == row && is_same(&sites->all[i].site, like))
            return i;
    if (!sites || !grow(sites)) {
        cg_fail(unit, NULL, "memory is short");
        return 0;
    }
    sites->all[sites->count].inst = inst;
    struct mr_site *site = &sites->all[sites->count].site;
    *site = *like;
    site->line = inst->line;
    site->source_line = inst->loc_line;
    site->file = inst->loc_file;
    sites->all[sites->count].row = row;
    return sites->count++;
}

/* The name of a file of the module's; NULL if there is none. */
static const char *file_name(const struct mr_ptx_module *module, uint32_t file)
{
    return file && file < module->file_count ? module->files[file] : NULL;
}

/* Replaces the sites' files by places of names, which go to `text` if that isn't NULL. The bytes of the whole table. */
static size_t place_names(struct cg_sites *sites, const struct mr_ptx_module *module, char *text)
{
    size_t end = sizeof(struct mr_sites) + sites->count * sizeof(struct mr_site), place = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
        uint32_t file = sites->all[i].site.file;
        const char *name = file_name(module, file);
        if (name && file != last) {
            place = end;
            end += strlen(name) + 1;
            last = file;
        }
        if (!text)
            continue;
        if (name)
            memcpy(text + place, name, strlen(name) + 1);
        sites->all[i].site.file = name ? (uint32_t)place : 0;
    }
    return end;
}

void cg_sites_emit(struct cg_unit *unit)
{
    static struct cg_sites none;
    struct cg_sites *sites = unit->sites ? unit->sites : &none;
    size_t size = place_names(sites, unit->request->module, NULL);
    char *bytes = mr_calloc(1, size);
    if (!bytes || size > UINT32_MAX) {
        mr_free(bytes);
        cg_fail(unit, NULL, "memory is short");
        return;
    }
    (void)place_names(sites, unit->request->module, bytes);
    struct mr_sites head = {.count = sites->count, .size = (uint32_t)size};
    memcpy(bytes, &head, sizeof head);
    for (uint32_t i = 0; i < sites->count; i++)
        memcpy(bytes + sizeof head + i * sizeof(struct mr_site), &sites->all[i].site, sizeof(struct mr_site));
    LLVMValueRef value = LLVMConstStringInContext(unit->context, bytes, (unsigned)size, true);
    LLVMValueRef table = LLVMAddGlobal(unit->module, LLVMTypeOf(value), MR_SITES_SYMBOL);
    LLVMSetInitializer(table, value);
    LLVMSetGlobalConstant(table, true);
    LLVMSetAlignment(table, 8);
    mr_free(bytes);
}

void cg_sites_clear(struct cg_unit *unit)
{
    if (unit->sites)
        mr_free(unit->sites->all);
    mr_free(unit->sites);
    unit->sites = NULL;
}
