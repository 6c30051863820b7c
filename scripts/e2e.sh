#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# e2e.sh COMMAND... runs go test; its last lines repeat which tests failed and the beginning of their output, since readers
# of a long log start at its end.
set -u
mkdir -p build
log=build/e2e.log
{
    "$@" 2>&1
    echo $? >build/e2e.status
} | tee "$log"
status=$(cat build/e2e.status)
[ "$status" = 0 ] && exit 0

echo
echo "e2e: summary of the failed tests; the full output is above and in $log:"
awk '
    /^ *--- FAIL|^panic:|^fatal error:|running tests:/ { print; left = 14; next }
    /^ *--- |^(ok|FAIL|PASS|exit status)/ { left = 0 }
    left > 0 && !/^[ \t]*$/ && !/Error Trace:|_test.go:[0-9]+: *$/ { print substr($0, 1, 300); left-- }
' "$log" | tail -n 80
exit "$status"
