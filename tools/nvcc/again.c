/* SPDX-License-Identifier: Apache-2.0 */
/* A device half that clang refuses, once more as preprocessed text in a spelling that it takes.
 *
 * spelling.c changes sources and headers before clang sees them. What macros put together is seen only in preprocessed
 * text. Variables in shared memory whose classes have constructors (ptx/unmade.h), and arrays of a size known late with
 * initialisers (ptx/sized.h), launches from kernels (ptx/device_launch.h), and what clang's ranges tell of
 * (ptx/ranges.h) are known only once clang has named them. Each costs a second compilation of a source that would
 * otherwise be an error. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ptx/again.h"
#include "ptx/device_launch.h"
#include "ptx/places.h"
#include "ptx/ranges.h"
#include "ptx/sized.h"
#include "ptx/spelling.h"
#include "ptx/traits.h"
#include "ptx/unmade.h"
#include "shim.h"

bool again_without_name(const char *said, struct mr_words *words)
{
    struct mr_text plain = {.data = NULL};
    bool refused = false;
    mr_places_plain(said, strlen(said), &plain);
    for (const char *at = mr_text_chars(&plain); !refused && (at = strstr(at, "error")); at++) {
        const char *begin = at;
        while (begin > plain.data && (begin[-1] == ' ' || begin[-1] == '\t'))
            begin--;
        refused = begin > plain.data && begin[-1] == '#';
    }
    mr_text_clear(&plain);
    /* A version of gcc by which the headers of the C library and of CCCL know what clang has, too. */
    if (refused)
        mr_words_add(words, "-U__clang__", "");
    if (refused)
        mr_words_add(words, "-fgnuc-version=10.2", "");
    return refused;
}

size_t again_ranges(const struct request *request, const struct mr_words *common, const char *text)
{
    struct mr_words run = {.items = NULL};
    struct mr_text said = {.data = NULL}, before = {.data = NULL}, after = {.data = NULL};
    char *log = step_file(request, text, ".ranges.log");
    size_t changes = 0;
    bool more = true;
    words_add_all(&run, common);
    mr_ranges_words(&run);
    mr_words_add(&run, "--", "");
    mr_words_add(&run, text, "");
    for (int turn = 0; more && turn < MR_RANGES_TURNS; turn++) {
        unlink(log);
        step_messages(log);
        (void)step_run(request, &run, NULL);
        step_messages(NULL);
        mr_text_clear(&said);
        mr_text_clear(&before);
        mr_text_clear(&after);
        size_t count = 0;
        if (access(log, R_OK) == 0 && file_read(log, &said) && file_read(text, &before))
            count = mr_ranges_mend(mr_text_chars(&said), mr_text_chars(&before), &after);
        more = count > 0 && !after.failed && file_write(request, text, after.data, after.length);
        changes += more ? count : 0;
    }
    unlink(log);
    mr_free(log);
    mr_text_clear(&after);
    mr_text_clear(&before);
    mr_text_clear(&said);
    mr_words_clear(&run);
    return changes;
}

bool again_text(const struct request *request, const struct mr_words *common, const char *source, const char *said,
                struct mr_words *places, const char *depends, const char *text, struct mr_words *words)
{
    bool first = words->count == 0;
    struct mr_words run = {.items = NULL};
    struct mr_text whole = {.data = NULL}, filled = {.data = NULL}, launching = {.data = NULL}, mended = {.data = NULL};
    size_t found = mr_unmade_places(said, places) + mr_sized_places(said, places) + mr_ranges_places(said, places) +
                   (request->relocatable ? mr_device_launch_places(said, places) : 0),
           changes = 0;
    if ((!first && !found) || mr_again_is_hopeless(said))
        return false;
    words_add_all(&run, common);
    const char *const last[] = {"-w", "-E", "-MD", "-MF", depends, "-o", text, "--", source};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&run, last[i], "");
    step_messages("/dev/null"); /* it has been said */
    bool good = step_run(request, &run, NULL) == 0 && file_read(text, &whole) && whole.data;
    step_messages(NULL);
    if (good) {
        mr_traits_mend(&whole);
        changes = mr_spelling_mend(&whole);
        size_t variables = mr_sized_mend(whole.data, places, &filled);
        variables += mr_device_launch_mend(mr_text_chars(&filled), places, &launching);
        variables += mr_unmade_mend(mr_text_chars(&launching), places, &mended);
        good = !filled.failed && !launching.failed && !mended.failed &&
               file_write(request, text, mended.data, mended.length);
        if (good && first)
            mr_again_words(common, words);
        if (good && mr_ranges_known(places))
            variables += again_ranges(request, words, text);
        good = good && (first ? changes + variables : variables) > 0;
    }
    mr_text_clear(&mended);
    mr_text_clear(&launching);
    mr_text_clear(&filled);
    mr_text_clear(&whole);
    mr_words_clear(&run);
    return good;
}
