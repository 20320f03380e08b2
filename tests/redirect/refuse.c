/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program under a policy that lets no pages be made executable, as SELinux's execmod and execmem and some
 * containers' seccomp filters do:
 *
 *     refuse all PROGRAM ARGUMENTS…     no pages at all
 *     refuse low PROGRAM ARGUMENTS…     none of the 16 MiB from address 0x400000 on, where a program without PIE lies
 *
 * Pages that are mapped executable from a file stay allowed, as loaders map them. 77: the kernel has no seccomp. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The half of an argument that has its low 32 bits, and the other; the machine is little-endian. */
#define LOW(n) offsetof(struct seccomp_data, args[n])
#define HIGH(n) (offsetof(struct seccomp_data, args[n]) + 4)

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    unsigned last = strcmp(argv[1], "low") == 0 ? 0x1400000 : 0xffffffff, first = last == 0xffffffff ? 0 : 0x400000;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW(2)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HIGH(0)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, first ? 0 : 0xfffffffe, 4, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW(0)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
