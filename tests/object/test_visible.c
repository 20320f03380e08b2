/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA_VISIBLE_DEVICES: what NVIDIA's driver 580 answers on machines of one device and of two, and the same rules with
 * four. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "object/visible.h"

static const uint8_t identifiers[4][16] = {
    {0x1f, 0x13, 0xc8, 0xac, 0xbd, 0x86, 0x89, 0x6c, 0x59, 0x61, 0xbb, 0x1b, 0xa5, 0x1c, 0xa8, 0x83},
    {0x1f, 0x13, 0xc8, 0xad, 0xbd, 0x86, 0x89, 0x6c, 0x59, 0x61, 0xbb, 0x1b, 0xa5, 0x1c, 0xa8, 0x83},
    {0x2a},
    {0xff},
};
#define FULL "GPU-1f13c8ac-bd86-896c-5961-bb1ba51ca883"

/* `expected`: the numbers of the devices, or N (no device), or T (one twice). */
struct form {
    const char *list, *expected;
};

static void check(const struct form *form, int count)
{
    int chosen[4], chosen_count = -1;
    CUresult status = mr_visible_devices(form->list, count, identifiers, chosen, &chosen_count);
    char got[8] = "";
    if (status == CUDA_SUCCESS)
        for (int i = 0; i < chosen_count; i++)
            got[i] = (char)('0' + chosen[i]), got[i + 1] = '\0';
    else
        strcpy(got, status == CUDA_ERROR_NO_DEVICE ? "N" : status == CUDA_ERROR_INVALID_DEVICE ? "T" : "?");
    if (strcmp(got, form->expected) != 0)
        fail_msg("'%s' of %d: %s, not %s", form->list, count, got, form->expected);
}

static void test_one_device(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"", "N"},
        {" ", "N"},
        {"0", "0"},
        {"1", "N"},
        {"-1", "N"},
        {"0,1", "0"},
        {"1,0", "N"},
        {"0,0", "T"},
        {"0,1,0", "0"},
        {" 0", "0"},
        {"0 ", "0"},
        {"\t0", "0"},
        {"0, 1", "0"},
        {"0 ,1", "0"},
        {"0 1", "0"},
        {"0,", "0"},
        {",0", "N"},
        {"0,,1", "0"},
        {"0,-1", "0"},
        {"-1,0", "N"},
        {"00", "0"},
        {"01", "N"},
        {"+0", "0"},
        {"-0", "0"},
        {"0x0", "0"},
        {"0x1", "0"},
        {"0abc", "0"},
        {"abc", "N"},
        {"0,abc", "0"},
        {"0;1", "0"},
        {"1.0", "N"},
        {"NoDevFiles", "N"},
        {"all", "N"},
        {"none", "N"},
        {"GPU-", "N"},
        {"GPU", "N"},
        {"GPU-ffffffff", "N"},
        {"MIG-", "N"},
        {"4294967296", "0"},
        {"18446744073709551616", "N"},
        {"\"0\"", "N"},
        {"0\n", "0"},
        {FULL, "0"},
        {"GPU-1f13", "0"},
        {"GPU-1", "0"},
        {"GPU-1f13c8ac", "0"},
        {"GPU-1f13c8ac-", "0"},
        {FULL ",0", "0"},
        {"0," FULL, "0"},
        {"1," FULL, "N"},
        {FULL "," FULL, "T"},
        {"GPU-1f13c8ac," FULL, "T"},
        {FULL "x", "0"},
        {FULL " ", "0"},
        {" " FULL, "N"},
        {"gpu-1f13c8ac-bd86-896c-5961-bb1ba51ca883", "N"},
        {"GPU-1F13C8AC-BD86-896C-5961-BB1BA51CA883", "0"},
        {"1f13c8ac-bd86-896c-5961-bb1ba51ca883", "N"},
        {"GPU-ffff," FULL, "N"},
        {FULL ",GPU-ffff", "0"},
        {FULL ",abc", "0"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i], 1);
}

static void test_two_devices(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"1", "1"},      {"2", "N"},     {"0,1", "01"},    {"1,0", "10"},    {"1,1", "T"},
        {"0,1,0", "T"},  {"0, 1", "01"}, {"0 ,1", "01"},   {"0 1", "0"},     {"0,,1", "0"},
        {"01", "1"},     {"0x1", "0"},   {"0;1", "0"},     {"1.0", "1"},     {"1,2", "1"},
        {"0,1,2", "01"}, {"2,0", "N"},   {"1," FULL, "1"}, {FULL ",1", "0"}, {"0,-1", "0"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i], 2);
}

static void test_four_devices(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {"0,1,2,3", "0123"},
        {"3,1", "31"},
        {"2", "2"},
        {"3,4,0", "3"},
        {"1,2,1", "T"},
        {"1,9,1", "1"},
        {"GPU-2a,GPU-ff", "23"},
        {"GPU-1f13", "N" /* two begin so */},
        {"GPU-ff,GPU-1f13c8ad", "31"},
        {"GPU-2a,1", "2"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check(&forms[i], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_device), cmocka_unit_test(test_two_devices),
                                       cmocka_unit_test(test_four_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
