#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of locks that builds check is the one that docs/locking.md tells: test_ranks.py LOCK_RANKS_DEF
LOCKING_MD"""
import re
import sys


def main():
    table, page = (open(path, encoding='utf-8').read() for path in sys.argv[1:])
    ranks = re.findall(r'^MR_RANK\((\w+), ', table, re.M)
    rows = re.findall(r'^\| \d\w? \| ([A-Z_, ]+) \|', page, re.M)
    told = [name for row in rows for name in row.split(', ')]
    if not ranks or ranks != told:
        sys.exit(f'lock_ranks.def has\n  {ranks}\nlocking.md has\n  {told}')
    used = set(re.findall(r', (\w+), (?:LONG|SHORT), ', table)) - {'NOTHING'}
    if not used <= set(ranks):
        sys.exit(f'unknown ranks: {sorted(used - set(ranks))}')
    for name, last in re.findall(r'^MR_RANK\((\w+), (\w+)', table, re.M):
        if last != 'NOTHING' and ranks.index(last) < ranks.index(name):
            sys.exit(f'{name} allows only ranks up to {last}, which comes before it')


main()
