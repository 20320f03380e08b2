/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's calculator of occupancy for programs without a device is not here, only its name, which sources include by habit: the runtime's
 * cudaOccupancy… functions have the answers for the device that is there. */
#pragma once
