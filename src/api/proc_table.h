/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of the generated look-up table of cuGetProcAddress (proc_table.c). */
#ifndef MR_API_PROC_TABLE_H
#define MR_API_PROC_TABLE_H

/* One ABI version of a name. Versions are CUDA versions: 1000 * major + 10 * minor. */
struct mr_proc_version {
    int since;
    void (*address)(void);
    int per_thread_since; /* 0 if there is no per-thread form */
    void (*per_thread)(void);
};

/* One name, with `count` rising versions from mr_proc_versions[first] on. */
struct mr_proc_entry {
    const char *name;
    unsigned short first;
    unsigned short count;
};

extern const struct mr_proc_version mr_proc_versions[];

/* Sorted by name, as strcmp orders. */
extern const struct mr_proc_entry mr_proc_entries[];
extern const unsigned mr_proc_entry_count;

#endif
