/* SPDX-License-Identifier: Apache-2.0 */
/* Braces in the brackets of a launch, as spelling.h says: nvcc makes the argument of them whose place they are in
 * (`k<<<n, {32, 4}>>>()`), and clang wants the type's name before them. */
#include "ptx/spelling_launch.h"

#include <string.h>

#include "ptx/cxx_text.h"

/* Of a launch: the grid, the block, the bytes of shared memory, the stream. */
static const char *const types[] = {"dim3", "dim3", "size_t", "cudaStream_t"};
enum { ARGUMENTS = sizeof types / sizeof *types };

size_t mr_spelling_mend_launch(const char *text, size_t length, struct mr_text *out)
{
    struct mr_cxx_scanner s = {.text = (char *)text, .length = length, .launch = -1};
    size_t done = 0, changes = 0, argument = 0;
    if (!memmem(text, length, "<<<", 3))
        return 0;
    while (mr_cxx_next(&s)) {
        char c = text[s.now.begin];
        size_t size = s.now.end - s.now.begin;
        bool inside = s.launch >= 0 && s.launch == s.depth;
        bool begins = inside && (text[s.before.begin] == ',' || text[s.before.begin] == '<');
        if (begins && c == '{' && argument < ARGUMENTS) {
            mr_text_add(out, text + done, s.now.begin - done);
            mr_text_put(out, types[argument]);
            done = s.now.begin;
            changes++;
        }
        if (c && strchr("([{", c))
            s.depth++;
        else if (c && strchr(")]}", c))
            s.depth--;
        if (c == '<' && size == 3) {
            s.launch = s.depth;
            argument = 0;
        } else if (s.depth < s.launch || c == ';' || (inside && c == '>' && size >= 3)) {
            s.launch = -1;
        } else if (inside && c == ',') {
            argument++;
        }
    }
    mr_text_add(out, text + done, length - done);
    return changes;
}
