/* SPDX-License-Identifier: Apache-2.0 */
/* A program that clang refused, again: as preprocessed text in a spelling that it takes, and with templates read only
 * where they are used.
 *
 * The source and in-memory headers are spelt anew before clang sees them (api.c). What headers on disk hold, and what
 * macros put together, shows behind the preprocessor alone; variables in shared memory whose classes have constructors
 * are known once clang has named them (ptx/unmade.h), and so are kernels that are declared twice under -default-device
 * (ptx/one_sided.h), launches from kernels (ptx/device_launch.h), what clang's ranges tell of (ptx/ranges.h), and
 * std::move and std::forward, which a source may define itself. Each costs another compilation, of what would otherwise
 * be an error.
 *
 * NVIDIA's library looks into the body of a template when something instantiates it, and not before: there may be names
 * in it that nothing declares. clang can do so, too, but then finds what is declared behind the template as well, and
 * may choose another overload than NVIDIA's library. So this comes last. */
#include <string.h>

#include "base/alloc.h"
#include "libs/nvrtc/prepare.h"
#include "libs/nvrtc/run.h"
#include "ptx/again.h"
#include "ptx/device_launch.h"
#include "ptx/launches.h"
#include "ptx/one_sided.h"
#include "ptx/ranges.h"
#include "ptx/spelling.h"
#include "ptx/unmade.h"

/* What the preprocessor makes of the program, with the list of what it includes. Programs with launches from kernels
 * get the header for those. */
static enum mr_run_status preprocess(struct mr_run *run, const struct mr_words *words, const char *launches,
                                     struct mr_run *made)
{
    static const char *const last[] = {"-w", "-E", "-MD", "-MF/dev/fd/3", "-o-", "-"};
    struct mr_words all = {.items = NULL};
    for (size_t i = 0; i + MR_LAST_WORDS < words->count; i++)
        mr_words_add(&all, words->items[i], "");
    if (launches && mr_launches_has(mr_text_chars(&run->messages))) {
        mr_words_add(&all, "-include", "");
        mr_words_add(&all, launches, "/include/cuda_device_launches.h");
    }
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        mr_words_add(&all, last[i], "");
    enum mr_run_status status = mr_run_again(run, made, &all, NULL);
    mr_words_clear(&all);
    return status;
}

static void move_text(struct mr_text *to, struct mr_text *from)
{
    mr_text_clear(to);
    *to = *from;
    *from = (struct mr_text){.data = NULL};
}

/* std::move and std::forward, which NVRTC has without an include. A source may bring its own, or a library's, so these
 * are added only where clang has missed them. True if they were. */
static bool add_move_forward(struct mr_text *text, const char *messages)
{
    static const char functions[] =
        "namespace std {\n"
        "template <class T> struct mr_bare { typedef T type; };\n"
        "template <class T> struct mr_bare<T &> { typedef T type; };\n"
        "template <class T> struct mr_bare<T &&> { typedef T type; };\n"
        "#define MR_BOTH_SIDES __attribute__((host, device)) constexpr\n"
        "template <class T> MR_BOTH_SIDES typename mr_bare<T>::type &&move(T &&x) noexcept\n"
        "{ return static_cast<typename mr_bare<T>::type &&>(x); }\n"
        "template <class T> MR_BOTH_SIDES T &&forward(typename mr_bare<T>::type &x) noexcept\n"
        "{ return static_cast<T &&>(x); }\n"
        "template <class T> MR_BOTH_SIDES T &&forward(typename mr_bare<T>::type &&x) noexcept\n"
        "{ return static_cast<T &&>(x); }\n"
        "#undef MR_BOTH_SIDES\n}\n";
    struct mr_text longer = {.data = NULL};
    if (!strstr(messages, "named 'move' in namespace 'std'") && !strstr(messages, "named 'forward' in namespace 'std'"))
        return false;
    mr_text_put(&longer, functions);
    mr_text_put(&longer, mr_text_chars(text));
    if (longer.failed)
        mr_text_clear(&longer);
    else
        move_text(text, &longer);
    return !longer.failed;
}

/* What is mended at the places that the messages name; how many are new. */
static size_t find_places(const char *messages, bool launches, struct mr_words *places)
{
    return mr_unmade_places(messages, places) + mr_ranges_places(messages, places) +
           (launches ? mr_device_launch_places(messages, places) : 0);
}

/* Changes in the text what the compiler's ranges tell of; how many changes. */
static size_t mend_ranges(struct mr_run *run, const struct mr_words *words, struct mr_text *text)
{
    struct mr_words looking = {.items = NULL};
    size_t changes = 0;
    for (size_t i = 0; i < words->count; i++)
        mr_words_add(&looking, words->items[i], "");
    mr_ranges_words(&looking);
    for (int turn = 0; turn < MR_RANGES_TURNS; turn++) {
        struct mr_run look = {.reason = 0};
        struct mr_text mended = {.data = NULL};
        size_t count = 0;
        if (mr_run_again(run, &look, &looking, text) == MR_RUN_FAILED)
            count = mr_ranges_mend(mr_text_chars(&look.messages), mr_text_chars(text), &mended);
        mr_run_forget(&look);
        if (count == 0 || mended.failed) {
            mr_text_clear(&mended);
            break;
        }
        move_text(text, &mended);
        changes += count;
    }
    mr_words_clear(&looking);
    return changes;
}

enum mr_run_status mr_again(struct mr_run *run, struct mr_words *words, struct mr_text *source, const char *launches,
                            bool move_forward)
{
    struct mr_words places = {.items = NULL}, again = {.items = NULL};
    struct mr_text text = {.data = NULL}, launching = {.data = NULL};
    struct mr_run whole = {.reason = 0}, next = {.reason = 0};
    size_t found = find_places(mr_text_chars(&run->messages), launches, &places), changes = 0;
    enum mr_run_status status =
        mr_again_is_hopeless(mr_text_chars(&run->messages)) ? MR_RUN_FAILED : preprocess(run, words, launches, &whole);
    if (status == MR_RUN_DONE && whole.output.data) {
        changes = mr_spelling_mend(&whole.output);
        if (mr_one_sided_refused(mr_text_chars(&run->messages)))
            changes += mr_one_sided_mend(&whole.output);
        if (move_forward)
            changes += add_move_forward(&whole.output, mr_text_chars(&run->messages));
        status = MR_RUN_FAILED;
        mr_again_words(words, &again);
    }
    while (status == MR_RUN_FAILED && (found || changes)) {
        mr_text_clear(&text);
        mr_text_clear(&launching);
        changes += mr_device_launch_mend(mr_text_chars(&whole.output), &places, &launching);
        changes += mr_unmade_mend(mr_text_chars(&launching), &places, &text);
        if (mr_ranges_known(&places))
            changes += mend_ranges(run, &again, &text);
        if (!changes)
            break;
        mr_run_forget(&next);
        status = mr_run_again(run, &next, &again, &text);
        found = status == MR_RUN_FAILED ? find_places(mr_text_chars(&next.messages), launches, &places) : 0;
        changes = 0;
    }
    if (status == MR_RUN_DONE && next.output.data) {
        move_text(&run->output, &next.output);
        move_text(&run->messages, &next.messages);
        move_text(&run->depends, &whole.depends);
        move_text(source, &text);
        run->input = source->data;
        run->input_length = source->length;
        mr_words_clear(words);
        *words = again;
        again = (struct mr_words){.items = NULL};
    } else if (status != MR_RUN_CANCELLED) {
        status = MR_RUN_FAILED; /* what the first compilation said stands */
    }
    mr_run_forget(&next);
    mr_run_forget(&whole);
    mr_text_clear(&launching);
    mr_text_clear(&text);
    mr_words_clear(&again);
    mr_words_clear(&places);
    return status;
}

enum mr_run_status mr_again_with_late_templates(struct mr_run *run, struct mr_words *words)
{
    static const char *const late[] = {"-fdelayed-template-parsing", "-Wno-delayed-template-parsing-in-cxx20"};
    const size_t last = words->count - MR_LAST_WORDS;
    struct mr_words again = {.items = NULL};
    struct mr_run next = {.reason = 0};
    for (size_t i = 0; i < words->count; i++) {
        for (size_t word = 0; i == last && word < sizeof late / sizeof *late; word++)
            mr_words_add(&again, late[word], "");
        mr_words_add(&again, words->items[i], "");
    }
    enum mr_run_status status = mr_run_again(run, &next, &again, NULL);
    if (status == MR_RUN_DONE || status == MR_RUN_FAILED) {
        move_text(&run->output, &next.output);
        move_text(&run->messages, &next.messages);
        move_text(&run->depends, &next.depends);
        mr_words_clear(words);
        *words = again;
        again = (struct mr_words){.items = NULL};
    } else if (status != MR_RUN_CANCELLED) {
        status = MR_RUN_FAILED;
    }
    mr_run_forget(&next);
    mr_words_clear(&again);
    return status;
}
