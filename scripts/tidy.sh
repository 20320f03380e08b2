#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang-tidy's checks for faults (.clang-tidy) over the product's C files:
#
#     scripts/tidy.sh [BUILD] [FILES…]    a build folder with compile_commands.json, by default build; all files by default
#
# Prints what is wrong and fails. Two cores take some four minutes for all files (.clang-tidy says how that is kept low).
set -eu
cd "$(dirname "$0")/.."
tidy=${CLANG_TIDY:-clang-tidy-19}
command -v "$tidy" >/dev/null || { echo "tidy: $tidy is not there; Debian's package is clang-tidy-19" >&2; exit 2; }
build=${1:-build}
[ $# -eq 0 ] || shift
[ -e "$build/compile_commands.json" ] || { echo "tidy: $build has no compile_commands.json; configure it first" >&2; exit 2; }
[ $# -gt 0 ] || set -- $(git ls-files 'src/*.c' 'tools/*.c')

# Only files that the build compiles: tools may be left out of it.
set -- $(for file do grep -q "/$file\"\|\"file\": \"\.\./$file\"" "$build/compile_commands.json" && echo "$file"; done)
[ $# -gt 0 ] || { echo "tidy: $build compiles none of these files" >&2; exit 2; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 "$tidy" -p "$build" --quiet >"$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then
    # The findings alone: who sees only the last lines of a long log must see them.
    grep -v "Processing file\|warnings* generated\|^Suppressed\|^Use -header-filter" "$log" || true
    echo "tidy: faults in $# files, above; xargs ended with $status (123: findings; 125: $tidy was killed)" >&2
    exit 1
fi
echo "tidy: $# files, no faults"
