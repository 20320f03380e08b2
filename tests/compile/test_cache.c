/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache: finding what was stored, damage, limits, private folders, several writers at once. Works in a
 * temporary folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "compile/cache.h"

static char root[256], folder[300];

static int list(char (*names)[300], int room)
{
    int count = 0;
    DIR *entries = opendir(folder);
    if (!entries)
        return 0;
    for (struct dirent *one; (one = readdir(entries));)
        if (one->d_name[0] != '.' && count < room)
            snprintf(names[count++], sizeof *names, "%.40s", one->d_name);
    closedir(entries);
    return count;
}

static void empty_folder(void)
{
    char names[64][300], path[700];
    for (int count; (count = list(names, 64)) > 0;)
        for (int i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s/%.40s", folder, names[i]);
            unlink(path);
        }
}

static int begin(void **unused)
{
    (void)unused;
    const char *temporary = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.200s/millrace-cache-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof folder, "%s/a/b", root);
    setenv("MILLRACE_CACHE_DIR", folder, 1);
    setenv("MILLRACE_CACHE", "on", 1);
    unsetenv("MILLRACE_CACHE_SIZE");
    mr_cache_reset();
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    char parent[300];
    empty_folder();
    snprintf(parent, sizeof parent, "%s/a", root);
    rmdir(folder);
    rmdir(parent);
    return rmdir(root);
}

static struct mr_cache_key key_of(uint64_t n)
{
    return mr_cache_hash_of(&n, sizeof n);
}

static void store(uint64_t n, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + n);
    mr_cache_store(key_of(n), &(struct mr_cache_item){
                                  .flags = (unsigned)n, .stack_bytes = 1000 + n, .object = bytes, .object_size = size});
    free(bytes);
}

/* True if the item is there; then it must be whole. */
static bool find(uint64_t n, size_t size)
{
    struct mr_cache_item item;
    if (!mr_cache_find(key_of(n), &item))
        return false;
    assert_int_equal(item.flags, (unsigned)n);
    assert_int_equal(item.stack_bytes, 1000 + n);
    assert_int_equal(item.object_size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(item.object[i], (unsigned char)(i * 7 + n));
    mr_cache_release(&item);
    return true;
}

static void what_is_stored_is_found(void **unused)
{
    (void)unused;
    char names[4][300], path[700];
    struct stat facts;
    assert_false(find(1, 500));
    store(1, 500);
    store(2, 0);
    assert_true(find(1, 500));
    assert_true(find(2, 0));
    assert_false(find(3, 500));
    store(1, 500);
    assert_int_equal(list(names, 4), 2);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%.40s", folder, names[i]);
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_mode & 0777, 0600);
    }
    assert_int_equal(stat(folder, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0700);
}

static void damaged_entries_are_ignored_and_removed(void **unused)
{
    (void)unused;
    char names[2][300], path[700];
    store(5, 200);
    assert_int_equal(list(names, 2), 1);
    snprintf(path, sizeof path, "%s/%.40s", folder, names[0]);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    for (off_t at = 0; at < facts.st_size; at++) {
        store(5, 200);
        int fd = open(path, O_RDWR);
        unsigned char byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        assert_false(find(5, 200));
        assert_int_equal(access(path, F_OK), -1);
    }
    for (off_t size = 0; size < facts.st_size; size += 9) {
        store(5, 200);
        assert_int_equal(truncate(path, size), 0);
        assert_false(find(5, 200));
    }
}

/* It is a miss at once, and the next store takes its place. */
static void a_fifo_is_no_entry(void **unused)
{
    (void)unused;
    char path[700];
    struct mr_cache_key key = key_of(40);
    store(41, 10);   /* so that there is a folder */
    snprintf(path, sizeof path, "%s/%016llx%016llx.mrk", folder, (unsigned long long)key.high,
             (unsigned long long)key.low);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_false(find(40, 10));
    store(40, 10);
    assert_true(find(40, 10));
    alarm(0);
}

static void a_renamed_entry_is_no_other(void **unused)
{
    (void)unused;
    char names[2][300], from[700], to[700];
    store(6, 100);
    list(names, 2);
    struct mr_cache_key other = key_of(7);
    snprintf(from, sizeof from, "%s/%.40s", folder, names[0]);
    snprintf(to, sizeof to, "%s/%016llx%016llx.mrk", folder, (unsigned long long)other.high,
             (unsigned long long)other.low);
    assert_int_equal(rename(from, to), 0);
    assert_false(find(7, 100));
}

static void the_oldest_go_first(void **unused)
{
    (void)unused;
    setenv("MILLRACE_CACHE_SIZE", "20000", 1);
    for (uint64_t n = 0; n < 10; n++) {
        store(n, 1900);
        char path[700];
        struct mr_cache_key key = key_of(n);
        snprintf(path, sizeof path, "%s/%016llx%016llx.mrk", folder, (unsigned long long)key.high,
                 (unsigned long long)key.low);
        utimensat(AT_FDCWD, path, (struct timespec[2]){{1000 + (time_t)n, 0}, {1000 + (time_t)n, 0}}, 0);
    }
    assert_true(find(0, 1900));   /* used: now the youngest */
    store(10, 1900);
    assert_true(find(10, 1900));
    assert_true(find(0, 1900));
    assert_false(find(1, 1900));
    assert_false(find(2, 1900));
    assert_true(find(9, 1900));
}

static void unusable_folders_turn_the_cache_off(void **unused)
{
    (void)unused;
    store(1, 10);
    chmod(folder, 0777);
    mr_cache_reset();
    assert_null(mr_cache_folder());
    assert_false(find(1, 10));
    store(2, 10);
    chmod(folder, 0700);
    mr_cache_reset();
    assert_true(find(1, 10));
    assert_false(find(2, 10));
    setenv("MILLRACE_CACHE", "off", 1);
    mr_cache_reset();
    assert_null(mr_cache_folder());
    assert_false(find(1, 10));
    setenv("MILLRACE_CACHE", "on", 1);
    setenv("MILLRACE_CACHE_DIR", "/dev/null/cache", 1);
    mr_cache_reset();
    assert_null(mr_cache_folder());
    store(1, 10);
}

static void memory_shortage_is_a_miss(void **unused)
{
    (void)unused;
    store(1, 10);
    mr_alloc_fail_after(1);
    assert_false(find(1, 10));
    mr_alloc_fail_after(1);
    store(2, 10);
    mr_alloc_fail_after(0);
    assert_false(find(2, 10));
    assert_true(find(1, 10));
}

/* Several processes write and read the same few items; each read gives a whole item or none. */
static void processes_share_the_cache(void **unused)
{
    (void)unused;
    pid_t children[4];
    for (int c = 0; c < 4; c++) {
        children[c] = fork();
        assert_true(children[c] >= 0);
        if (children[c] == 0) {
            setenv("MILLRACE_CACHE_SIZE", "30000", 1);
            mr_cache_reset();
            for (uint64_t i = 0; i < 200; i++) {
                store(i % 7, 3000 + i % 7);
                struct mr_cache_item item;
                uint64_t n = (i + (uint64_t)c) % 7;
                if (mr_cache_find(key_of(n), &item)) {
                    if (item.object_size != 3000 + n || item.object[100] != (unsigned char)(700 + n))
                        _exit(1);
                    mr_cache_release(&item);
                }
            }
            _exit(0);
        }
    }
    for (int c = 0; c < 4; c++) {
        int status;
        waitpid(children[c], &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void parts_of_a_key_do_not_run_together(void **unused)
{
    (void)unused;
    struct mr_cache_hash hash;
    struct mr_cache_key keys[2];
    for (int i = 0; i < 2; i++) {
        assert_true(mr_cache_hash_begin(&hash));
        mr_cache_hash_text(&hash, i ? "ab" : "a");
        mr_cache_hash_text(&hash, i ? "c" : "bc");
        mr_cache_hash_processor(&hash);
        keys[i] = mr_cache_hash_end(&hash);
    }
    assert_true(keys[0].low != keys[1].low || keys[0].high != keys[1].high);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_stored_is_found),
        TEST(damaged_entries_are_ignored_and_removed),
        TEST(a_fifo_is_no_entry),
        TEST(a_renamed_entry_is_no_other),
        TEST(the_oldest_go_first),
        TEST(unusable_folders_turn_the_cache_off),
        TEST(memory_shortage_is_a_miss),
        TEST(processes_share_the_cache),
        TEST(parts_of_a_key_do_not_run_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
