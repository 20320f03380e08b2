/* SPDX-License-Identifier: Apache-2.0 */
/* Spellings that nvcc takes and clang does not: what is rewritten, and what looks like it and is not. */
#include <stdlib.h>
#include <string.h>

#include "ptx/sized.h"
#include "ptx/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void becomes(const char *before, const char *after)
{
    struct mr_text text = {.data = NULL};
    mr_text_put(&text, before);
    size_t changes = mr_spelling_mend(&text);
    assert_false(text.failed);
    assert_int_equal(text.length, strlen(after));
    assert_string_equal(mr_text_chars(&text), after);
    assert_int_equal(changes != 0, strcmp(before, after) != 0);
    mr_text_clear(&text);
}

static void stays(const char *text)
{
    becomes(text, text);
}

static void launches(void **state)
{
    (void)state;
    becomes("k << <1, 1>> >(p);", "k <<< 1, 1>>> (p);");
    becomes("k<< <1, 1 >> >(p);", "k<<< 1, 1 >>> (p);");
    becomes("k <<<1, 1>> >(p);", "k <<<1, 1>>> (p);");
    becomes("k << <1, 1>>>(p);", "k <<< 1, 1>>>(p);");
    becomes("k<<\n  <1,\n 1>>\n\t> (p);\nx", "k<<<\n  1,\n 1>>>\n\t (p);\nx");
    becomes("k << /* a */ <1, 1>> // b\n >(p);", "k <<< /* a */ 1, 1>>> // b\n (p);");
    becomes("k<T<U<int> > > << <1, sizeof(T<U<int> >)>> >(p);", "k<T<U<int> > > <<< 1, sizeof(T<U<int> >)>>> (p);");
    becomes("k << <1, (8 >> 1), x[a >> 2] >> >(p); y = a >> 3 > (b);",
            "k <<< 1, (8 >> 1), x[a >> 2] >>> (p); y = a >> 3 > (b);");
    becomes("CHECK((k << <1, 1>> >(p)), k << <2, 2>> >(q));", "CHECK((k <<< 1, 1>>> (p)), k <<< 2, 2>>> (q));");
    becomes("#define GO(k) k << <1, \\\n 1>> >\nGO(x)(1)", "#define GO(k) k <<< 1, \\\n 1>>> \nGO(x)(1)");
    becomes("k << <1'000, 1>> >(\"<< <\");", "k <<< 1'000, 1>>> (\"<< <\");");
}

static void braces_in_launches(void **state)
{
    (void)state;
    becomes("k<<<1, {32, 4}>>>(p);", "k<<<1, dim3{32, 4}>>>(p);");
    becomes("k<a, b><<<g, {x, y, 1}, 0, s>>>({1, 2});", "k<a, b><<<g, dim3{x, y, 1}, 0, s>>>({1, 2});");
    becomes("k<<<{1, 3}, { 5 }, {}, {}>>>();", "k<<<dim3{1, 3}, dim3{ 5 }, size_t{}, cudaStream_t{}>>>();");
    becomes("k << <{2}, /* b */ {n,\n m}>> >(p); f(a, {1});", "k <<< dim3{2}, /* b */ dim3{n,\n m}>>> (p); f(a, {1});");
    becomes("k<<<f({1, 2}, {3}), {4}>>>(p);", "k<<<f({1, 2}, {3}), dim3{4}>>>(p);");
    becomes("k<<<1, {2}>>>(p); asm(\"mov.u32 %0, %laneid;\" : \"=r\"(r));",
            "k<<<1, dim3{2}>>>(p); asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(r));");
    stays("k<<<dim3{1, 2}, dim3{3}>>>({1}, {2}); if (x) {a, b;}");
    stays("k<<<1, 2>>>(p); int a[] = {1, 2}; f(3, {4});");
    stays("k<<<1, [] { return 2; }()>>>(p);");
    stays("k<<<");
    stays("\"k<<<1, {2}>>>\"; // k<<<1, {2}>>>()");
}

static void no_launches(void **state)
{
    (void)state;
    stays("k<<<1, 1>>>(p);");
    stays("a << b; c >> d; e >> 1 > (f);");
    stays("std::ostream &operator<< <int>(std::ostream &, int); operator << <>(a, b);");
    stays("// k << <1, 1>> >(p)\n/* k << <1, 1>> >(p) */ '<' \"k << <1, 1>> >(p)\"");
    stays("R\"(k << <1, 1>> >(p))\" u8R\"x(k << <1)\" << <)x\"");
    stays("\"\\\"k << <1\" '\\'' \"<< <\"");
    stays("A<B<C<int>> > x; A<B<int>> >(y); // don't << <");
    stays("#error don't << < \n#if 0\nit's\n#endif\n");
    stays("k <<");
    stays("k << ");
    stays("k << /");
    stays("k << /* <");
    stays("");
    stays("<<<");
    stays("R\"");
    stays("R\"abcdefghijklmnopqrstuvwxyz(<< <");
}

static void names_in_asm(void **state)
{
    (void)state;
    becomes("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(r));", "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(r));");
    becomes("asm volatile (\"mov.u32 %0, %tid.x; \" \"add.u32 %0, %0, %ctaid.y;\"\n : \"+r\"(r));",
            "asm volatile (\"mov.u32 %0, %%tid.x; \" \"add.u32 %0, %0, %%ctaid.y;\"\n : \"+r\"(r));");
    becomes(
        "__asm__ __volatile__(\"mov.u64 %0, %globaltimer;\":\"=l\"(t)::\"memory\"); asm(\"a %1, %nsmid;\"::\"r\"(x));",
        "__asm__ __volatile__(\"mov.u64 %0, %%globaltimer;\":\"=l\"(t)::\"memory\"); asm(\"a %1, %%nsmid;\"::\"r\"(x));");
    becomes("asm(\"{.reg .u32 %x, %t1; mov.u32 %x, %%clock; add.u32 %0, %x, %1;}\" : \"=r\"(r) : \"r\"(1));",
            "asm(\"{.reg .u32 %%x, %%t1; mov.u32 %%x, %%clock; add.u32 %0, %%x, %1;}\" : \"=r\"(r) : \"r\"(1));");
    becomes("asm(R\"(mov.u32 %0, %clock;)\" : \"=r\"(r));", "asm(R\"(mov.u32 %0, %%clock;)\" : \"=r\"(r));");
    becomes("#define T(x) asm(\"mov.u32 %0, %\" #x \"; mov.u32 %0, %smid;\" : \"=r\"(r))\n",
            "#define T(x) asm(\"mov.u32 %0, %\" #x \"; mov.u32 %0, %%smid;\" : \"=r\"(r))\n");
    becomes("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(a[f(x) ? 1 : 2])); printf(\"%laneid %d\");",
            "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(a[f(x) ? 1 : 2])); printf(\"%laneid %d\");");
    becomes("asm(\"mov.u32 %0, %\" \"laneid\" \";\" : \"=r\"(r));",
            "asm(\"mov.u32 %0, %%\" \"laneid\" \";\" : \"=r\"(r));");
    stays("asm(\"mov.u32 %0, %\" \"0\" \" %\" : \"=r\"(r));");
    /* Without operands a percent sign is one; what host code has; what is no statement. */
    stays("asm(\"mov.u32 x, %laneid;\");");
    stays("asm volatile(\"movb %b0, %%al; movw %w[x], %h1; %=; %{a|b%} %c2 %k12\" : \"=r\"(r) : [x] \"r\"(1));");
    stays("asm(\"mov.u32 %0, %%laneid; 100 % %\" : \"=r\"(r));");
    stays("int asm_count = 5 % count; extern int f() __asm__(\"%name\");");
    stays("// asm(\"mov.u32 %0, %laneid;\" : \"=r\"(r));\n");
    stays("asm(\"%laneid\"");
    stays("asm volatile");
    stays("asm(\"%");
}

/* The text with what a message about each of these lines of a.cu leads to. */
static void filled(const char *text, const char *lines, const char *after)
{
    struct mr_text messages = {.data = NULL}, out = {.data = NULL};
    struct mr_words places = {.items = NULL};
    for (const char *line = lines; *line; line++)
        mr_text_format(&messages, "a.cu:%c:7: error: variable-sized object may not be initialized\n  here\n", *line);
    (void)mr_sized_places(mr_text_chars(&messages), &places);
    size_t count = mr_sized_mend(text, &places, &out);
    assert_string_equal(mr_text_chars(&out), after);
    assert_int_equal(count != 0, strcmp(text, after) != 0);
    mr_words_clear(&places);
    mr_text_clear(&out);
    mr_text_clear(&messages);
}

#define FILL(name, values) "; { const __typeof__(*" name ") mr_values[] =" values "; " CALL(name) ", mr_values); }"
#define CALL(name) "::mr_fill_sized(" name ", sizeof(" name ") / sizeof(*" name ")"

static void operands_in_asm(void **state)
{
    (void)state;
    becomes("asm volatile(\"st.u8 [%1], %0;\" ::\"r\"(v) \"l\"(p) : \"memory\" \"cc\");",
            "asm volatile(\"st.u8 [%1], %0;\" ::\"r\"(v) , \"l\"(p) : \"memory\" \"cc\");");
    becomes(
        "asm(\"a %0, %1, %2, %laneid;\" : \"=r\"(a[0]) [b] \"=r\"(b) : \"r\"((x + (1))) /* */\n\"r\"(f(\"s\" \"t\"))); g();",
        "asm(\"a %0, %1, %2, %%laneid;\" : \"=r\"(a[0]) , [b] \"=r\"(b) : \"r\"((x + (1))) /* */\n, \"r\"(f(\"s\" \"t\"))); g();");
    stays("asm(\"a %0, %1;\" : \"=r\"(a), [b] \"=\" \"r\"(b) : : \"memory\"); f(x) \"s\"");
    stays("asm(\"a %0;\" : \"=r\"(a)");
    stays("asm(\"a %0;\" : \"=r\"(");
}

static void sized_arrays(void **state)
{
    (void)state;
    filled("# 1 \"a.cu\"\nint a[n] = {1, f({2}, \"}\")}; x;\n", "1",
           "# 1 \"a.cu\"\nint a[n]" FILL("a", " {1, f({2}, \"}\")}") " x;\n");
    filled("# 1 \"a.cu\"\nint a[n] = {1};\nlong b[n - 1]\n = {\n2 };\nchar c[n]{};\nint d[n] = {3};\n", "25",
           "# 1 \"a.cu\"\nint a[n] = {1};\nlong b[n - 1]" FILL("b", "\n {\n2 }") "\nchar c[n]; { " CALL(
               "c") "); }\nint d[n] = {3};\n");
    filled("# 1 \"b.cu\"\nint a[n] = {1};\n", "1", "# 1 \"b.cu\"\nint a[n] = {1};\n");
    filled("# 1 \"a.cu\"\nint i, a[n] = {1}; g(b[n] = {2}); s[n] = \"x\";\n", "1",
           "# 1 \"a.cu\"\nint i, a[n] = {1}; g(b[n] = {2}); s[n] = \"x\";\n");
    filled("# 1 \"a.cu\"\nint a[n] = {1", "1", "# 1 \"a.cu\"\nint a[n] = {1");
    filled("# 1 \"a.cu\"\nint a[n", "1", "# 1 \"a.cu\"\nint a[n");
    filled("", "1", "");
}

static void attributes(void **state)
{
    (void)state;
    becomes("__shared__ alignas(16) float a[32];", "alignas(16) __shared__ float a[32];");
    becomes("__shared__ alignas( alignof( float4 ) ) T a;", "alignas( alignof( float4 ) ) __shared__ T a;");
    becomes("__shared__\n  alignas(16)\n  float a;", "alignas(16)\n  __shared__\n  float a;");
    becomes("__shared__ __align__(8) alignas(16) float a;", "alignas(16) __shared__ __align__(8) float a;");
    becomes("__shared__ alignas(8) alignas(16) float a;", "alignas(8) alignas(16) __shared__ float a;");
    becomes("__shared__ alignas(8) __align__(16) float a;", "alignas(8) __shared__ __align__(16) float a;");
    becomes("__shared__ [[maybe_unused]] float a;", "[[maybe_unused]] __shared__ float a;");
    becomes("{ __align__(8) alignas(16) float a; }", "{ alignas(16) __align__(8) float a; }");
    becomes("#define S __shared__ alignas(16)\nS int a;", "#define S alignas(16) __shared__\nS int a;");
    stays("alignas(16) __shared__ float a;");
    stays("__shared__ float a alignas(16)[2];");
    stays("struct __align__(8) alignas(16) S { int x; };");
    stays("__shared__/**/alignas(16)__align__(8) float a; \"__shared__ alignas(16)\"");
    stays("__shared__ alignas(16");
    stays("__shared__ alignas");
    stays("__shared__ [[");
    stays("#define __shared__ __attribute__((shared))\nalignas");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches),        cmocka_unit_test(braces_in_launches),
                                       cmocka_unit_test(no_launches),     cmocka_unit_test(names_in_asm),
                                       cmocka_unit_test(operands_in_asm), cmocka_unit_test(sized_arrays),
                                       cmocka_unit_test(attributes)};
    return cmocka_run_group_tests_name("spelling", tests, NULL, NULL);
}
