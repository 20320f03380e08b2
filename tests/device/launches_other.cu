/* SPDX-License-Identifier: Apache-2.0 */
/* What launches.cu launches from another source. */
__global__ void elsewhere(int *p, unsigned int value)
{
    *p += value;
}
