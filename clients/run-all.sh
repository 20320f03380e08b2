#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make test-clients: every client in turn, then a summary. clients/run-all.sh BUILD
here=$(dirname "$0")
build=${1:-build}
status=0
summary=
total_passed=0 total_failed=0 total_skipped=0
for client in pycuda cuda_core numba triton nvml wheels packages tensorflow jax pytorch cccl openmm taichi static_runtime check_pytest cupy; do
    log=$build/clients-$client.log
    { "$here/$client.sh" "$build" 2>&1; echo $? >"$log.status"; } | tee "$log"
    line=$(grep -E "^$client: [0-9]+ passed" "$log" | tail -n 1)
    summary="$summary${line:-$client: did not run}
"
    [ "$(cat "$log.status")" = 0 ] || status=1
    # "NAME: 5 passed, 0 failed, 1 skipped"
    # shellcheck disable=SC2086
    set -- ${line:-$client: 0 passed, 1 failed, 0 skipped}
    total_passed=$((total_passed + $2)) total_failed=$((total_failed + $4)) total_skipped=$((total_skipped + $6))
done
printf '\n%s%s\n' "$summary" "clients: $total_passed passed, $total_failed failed, $total_skipped skipped"
exit $status
