/* SPDX-License-Identifier: Apache-2.0 */
/* A device half that clang refuses, once more as preprocessed text in a spelling that it takes.
 *
 * spelling.c changes sources and headers before clang sees them. What macros put together is seen only in preprocessed
 * text. Variables in shared memory whose classes have constructors (ptx/unmade.h), and arrays of a size known late with
 * initialisers (ptx/sized.h), and launches from kernels (ptx/device_launch.h) are known only once clang has named them.
 * Each costs a second compilation of a source that would otherwise be an error. */
#include <string.h>

#include "base/alloc.h"
#include "ptx/again.h"
#include "ptx/device_launch.h"
#include "ptx/sized.h"
#include "ptx/spelling.h"
#include "ptx/traits.h"
#include "ptx/unmade.h"
#include "shim.h"

bool again_text(const struct request *request, const struct mr_words *common, const char *source, const char *said,
                struct mr_words *places, const char *depends, const char *text, struct mr_words *words)
{
    bool first = words->count == 0;
    struct mr_words run = {.items = NULL};
    struct mr_text whole = {.data = NULL}, filled = {.data = NULL}, launching = {.data = NULL}, mended = {.data = NULL};
    size_t found = mr_unmade_places(said, places) + mr_sized_places(said, places) +
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
        good = (first ? changes + variables : variables) > 0 && !filled.failed && !launching.failed && !mended.failed &&
               file_write(request, text, mended.data, mended.length);
    }
    if (good && first)
        mr_again_words(common, words);
    mr_text_clear(&mended);
    mr_text_clear(&launching);
    mr_text_clear(&filled);
    mr_text_clear(&whole);
    mr_words_clear(&run);
    return good;
}
