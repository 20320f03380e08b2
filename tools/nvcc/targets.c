/* SPDX-License-Identifier: Apache-2.0 */
/* The architectures of -arch, -code and -gencode.
 *
 * The PTX of each architecture that code can be made for is embedded, whatever -code says, so the highest one's always
 * is. Other architectures (newer, older, of one chip alone) are left out, as long as some remain. If none does, code is
 * made for those of one chip alone ("sm_90a"); an instruction that is not done here is an error then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "ptx/arch.h"
#include "shim.h"

#define NO_CODE "there is no code (sm_50 to sm_121) for the architecture"

static void leave_out(struct request *request, const char *value)
{
    for (size_t i = 0; i < request->left_out.count; i++)
        if (strcmp(request->left_out.items[i], value) == 0)
            return;
    mr_words_add(&request->left_out, value, "");
}

/* What `value` names. *made: whether code can be made for it; if not, it is noted. False after a message: there is no
 * such architecture. */
static bool read_target(struct request *request, const char *value, unsigned *capability, bool *made)
{
    bool real;
    char virtual[64];
    if (strncmp(value, "lto_", 4) == 0 &&
        strlen(value) < 32) { /* code that is optimised when it is linked, as PTX is */
        snprintf(virtual, sizeof virtual, "compute_%s", value + 4);
        value = virtual;
    }
    *made = true;
    request->assembles |= strncmp(value, "sm_", 3) == 0 || strcmp(value, "native") == 0;
    if (strcmp(value, "native") == 0) {
        const char *text = mr_setting_in_force(MR_SETTING_COMPUTE_CAPABILITY);
        *capability = strcmp(text, "auto") == 0 ? 80 : (unsigned)(strtod(text, NULL) * 10 + 0.5);
        return true;
    }
    switch (mr_ptx_arch_read(value, capability, &real)) {
    case MR_PTX_ARCH_GOOD:
        return true;
    case MR_PTX_ARCH_SUFFIX:
    case MR_PTX_ARCH_TOO_OLD:
    case MR_PTX_ARCH_LEFT_OUT:
        *made = false;
        leave_out(request, value);
        return true;
    default:
        return complain(NO_CODE, value);
    }
}

static bool add_target(struct request *request, unsigned capability, char suffix)
{
    for (size_t i = 0; i < request->target_count; i++)
        if (request->targets[i] == capability)
            return true;
    if (request->target_count == TARGETS_MAX)
        return complain("too many architectures", NULL);
    request->suffixes[request->target_count] = suffix;
    request->targets[request->target_count++] = capability;
    return true;
}

/* Each part of a comma list, in brackets or not. Adds them if `add`; else they only need to exist. */
static bool read_codes(struct request *request, const char *list, bool add)
{
    for (list += *list == '['; *list;) {
        char name[64];
        unsigned capability;
        bool made;
        size_t length = strcspn(list, ",]");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), list);
        if (!read_target(request, name, &capability, &made) || (add && made && !add_target(request, capability, 0)))
            return false;
        list += length + (list[length] != '\0');
    }
    return true;
}

bool targets_codes(struct request *request, const char *list)
{
    return read_codes(request, list, request->target_count == 0);
}

/* "arch=compute_80,code=sm_80" or "arch=compute_80,code=[sm_80,compute_80]": PTX for the virtual architecture. */
bool targets_gencode(struct request *request, const char *value)
{
    char arch[64];
    unsigned capability;
    bool made;
    const char *comma = strchr(value, ',');
    if (strncmp(value, "arch=", 5) != 0 || (comma && strncmp(comma, ",code=", 6) != 0))
        return complain("expected arch=…,code=… in -gencode", value);
    size_t length = comma ? (size_t)(comma - value) - 5 : strlen(value) - 5;
    snprintf(arch, sizeof arch, "%.*s", (int)(length < sizeof arch ? length : sizeof arch - 1), value + 5);
    return read_target(request, arch, &capability, &made) && (!made || add_target(request, capability, 0)) &&
           (!comma || read_codes(request, comma + 6, false));
}

bool targets_arch(struct request *request, const char *value)
{
    unsigned capability;
    bool made;
    if (request->arch_given) { /* the last one counts, as with nvcc */
        request->target_count = 0;
        mr_words_clear(&request->left_out);
    }
    request->arch_given = true;
    if (strcmp(value, "all") != 0 && strcmp(value, "all-major") != 0)
        return read_target(request, value, &capability, &made) && (!made || add_target(request, capability, 0));
    request->assembles = true;
    size_t count;
    const int *all = mr_ptx_arch_all(&count);
    for (size_t i = 0; i < count; i++)
        if ((value[3] != '-' || all[i] % 10 == 0) && !add_target(request, (unsigned)all[i], 0))
            return false;
    return true;
}

void targets_list(const struct request *request)
{
    size_t count;
    const int *all = mr_ptx_arch_all(&count);
    for (size_t i = 0; i < count; i++)
        if (request->list_code && request->list_architectures)
            printf("arch=compute_%d,code=sm_%d\n", all[i], all[i]);
        else
            printf("%s_%d\n", request->list_code ? "sm" : "compute", all[i]);
}

static int compare_targets(const void *a, const void *b)
{
    unsigned first = *(const unsigned *)a, second = *(const unsigned *)b;
    return (first > second) - (first < second);
}

void targets_macro(const struct request *request, struct mr_words *words)
{
    unsigned sorted[TARGETS_MAX];
    struct mr_text word = {.data = NULL};
    memcpy(sorted, request->targets, sizeof sorted);
    qsort(sorted, request->target_count, sizeof *sorted, compare_targets);
    mr_text_put(&word, "-D__CUDA_ARCH_LIST__=");
    for (size_t i = 0; i < request->target_count; i++)
        mr_text_format(&word, "%s%u0", i ? "," : "", sorted[i]);
    mr_words_add(words, mr_text_chars(&word), "");
    words->failed |= word.failed;
    mr_text_clear(&word);
}

char targets_suffix(const struct request *request, unsigned target)
{
    for (size_t i = 0; i < request->target_count; i++)
        if (request->targets[i] == target)
            return request->suffixes[i];
    return 0;
}

/* Makes targets of those that were left out for their suffix. */
static bool add_suffixed(struct request *request)
{
    for (size_t i = 0; i < request->left_out.count; i++) {
        unsigned capability;
        bool real;
        const char *name = request->left_out.items[i];
        if (mr_ptx_arch_read(name, &capability, &real) == MR_PTX_ARCH_SUFFIX &&
            !add_target(request, capability, mr_ptx_arch_suffix(name)))
            return false;
    }
    return true;
}

/* The left out ones that are no targets: all, unless targets were made of some. */
static void warn_of_left_out(const struct request *request, bool suffixed)
{
    bool said = false;
    for (size_t i = 0; i < request->left_out.count; i++) {
        unsigned capability;
        bool real;
        const char *name = request->left_out.items[i];
        if (suffixed && mr_ptx_arch_read(name, &capability, &real) == MR_PTX_ARCH_SUFFIX)
            continue;
        if (!said)
            fprintf(stderr, "nvcc (Millrace): warning: left out, since there is no code (sm_50 to sm_121, with a "
                            "suffix only where no other is named) for them:");
        fprintf(stderr, " %s", name);
        said = true;
    }
    if (said)
        fprintf(stderr, "\n");
}

bool targets_end(struct request *request)
{
    const struct mr_words *left_out = &request->left_out;
    if (left_out->failed)
        return complain("out of memory", NULL);
    bool suffixed = left_out->count && request->target_count == 0 && !request->every_target;
    if (suffixed && !add_suffixed(request))
        return false;
    if (left_out->count && (request->target_count == 0 || request->every_target))
        return complain(NO_CODE, left_out->items[0]);
    warn_of_left_out(request, suffixed);
    request->no_targets = request->target_count == 0;
    if (request->no_targets)
        request->targets[request->target_count++] = 75;
    request->assembles |= request->no_targets;
    return true;
}
