#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats C files as .clang-format says:
#
#     scripts/format.sh [FILES…]            these files; by default those that differ from the last commit
#     scripts/format.sh --all               all C files of the project
#     scripts/format.sh --check [FILES…]    changes nothing: names the files of which it would change a line, all by default, and fails
#
# CLANG_FORMAT names another clang-format than Debian's clang-format-19. Another version formats some lines in another way.
set -eu
cd "$(dirname "$0")/.."
format=${CLANG_FORMAT:-clang-format-19}
command -v "$format" >/dev/null || { echo "format: $format is not there; Debian's package is clang-format-19" >&2; exit 2; }

# list COMMAND…: what this command of git's names of the product's sources, its tests and its examples. Device headers and kernels in
# CUDA C++ have a form of their own.
list() {
    git "$@" -- 'src/*.[ch]' 'tools/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'examples/*.[ch]'
}

all() {
    list ls-files
}

changed() {
    list diff --name-only --diff-filter=d HEAD
    list ls-files --others --exclude-standard
}

case ${1:-} in
--check)
    shift
    [ $# -gt 0 ] || set -- $(all)
    wrong=$(printf '%s\n' "$@" | xargs -P "$(nproc)" -n 40 sh -c '
        format=$1; shift
        for file do "$format" "$file" | cmp -s - "$file" || echo "$file"; done' sh "$format" | sort)
    [ -z "$wrong" ] || { echo "$wrong"; echo "format: scripts/format.sh FILE mends these" >&2; exit 1; }
    echo "format: $# files are as .clang-format says" ;;
--all) # twice: it breaks a comment behind code in one run, and indents its second half in the next
    for run in 1 2; do all | xargs -P "$(nproc)" -n 40 "$format" -i; done ;;
*)
    [ $# -gt 0 ] || set -- $(changed)
    [ $# -eq 0 ] || "$format" -i "$@" ;;
esac
