/* SPDX-License-Identifier: Apache-2.0 */
/* Archives that build systems name when they link, and that have nothing to do here (libculibos.a): NVIDIA's static
 * libraries of mathematics need what is in NVIDIA's. This note is all that is in them. */
__attribute__((visibility("hidden"))) const char mr_named_note[] =
    "Millrace: its libraries of mathematics need nothing of this archive";
