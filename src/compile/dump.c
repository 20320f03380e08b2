/* SPDX-License-Identifier: Apache-2.0 */
/* MILLRACE_DUMP is a list of stages, whose files go to the folder MILLRACE_DUMP_DIR (by default the working directory),
 * or the name of a folder that receives all stages. A value none of whose words is a stage is a folder; one that is
 * called like a stage is meant by "./ptx". */
#include "compile/dump.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

static unsigned stage_named(const char *word, size_t length)
{
    static const struct {
        const char *name;
        unsigned stage;
    } stages[] = {{"ptx", MR_DUMP_PTX}, {"ir", MR_DUMP_IR}, {"asm", MR_DUMP_ASM}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strlen(stages[i].name) == length && memcmp(stages[i].name, word, length) == 0)
            return stages[i].stage;
    return 0;
}

struct mr_dump mr_dump_settings(void)
{
    const char *value = mr_setting_text(MR_SETTING_DUMP), *in = mr_setting_text(MR_SETTING_DUMP_DIR);
    struct mr_dump dump = {0, *in ? in : "."};
    bool strange = false;
    if (!*value)
        return dump;
    for (const char *word = value; *word;) {
        size_t length = strcspn(word, ",");
        unsigned stage = stage_named(word, length);
        dump.stages |= stage;
        strange |= length != 0 && stage == 0;
        word += length + (word[length] == ',');
    }
    if (dump.stages == 0)
        return (struct mr_dump){MR_DUMP_ALL, value};
    if (strange)
        mr_log(MR_LOG_WARN, "MILLRACE_DUMP is '%s': its words can be ptx, ir and asm; or it is one folder", value);
    return dump;
}

/* The file, or NULL. A FIFO in its place is refused: it would wait for a reader. */
static FILE *open_file(const char *path)
{
    struct stat facts;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *file = fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(fd, "w") : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

void mr_dump_text(unsigned stage, uint64_t hash, const char *name, const char *suffix, const char *text, size_t length)
{
    struct mr_dump dump = mr_dump_settings();
    char path[4096];
    if (!(dump.stages & stage) || !text)
        return;
    mkdir(dump.folder, 0777);
    int need = snprintf(path, sizeof path, "%s/%016llx%s%.200s.%s", dump.folder, (unsigned long long)hash,
                        *name ? "-" : "", name, suffix);
    FILE *file = need > 0 && (size_t)need < sizeof path ? open_file(path) : NULL;
    if (!file || fwrite(text, 1, length, file) != length)
        mr_log(MR_LOG_WARN, "cannot write '%s'", path);
    if (file)
        fclose(file);
}
