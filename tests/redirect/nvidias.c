/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for one of NVIDIA's own libraries, in a folder of theirs. */
int nvidias_own(void);
int nvidias_own(void)
{
    return 1;
}
