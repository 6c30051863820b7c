#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# e2e.sh COMMAND... runs go test; if a test fails, the last lines say again which, and the beginning of what it said: of a
# long log the end is what is looked at first.
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
echo "e2e: what failed, in short; all of it is above, and in $log:"
awk '
    /^ *--- FAIL|^panic:|^fatal error:|running tests:/ { print; left = 14; next }
    /^ *--- |^(ok|FAIL|PASS|exit status)/ { left = 0 }
    left > 0 && !/^[ \t]*$/ && !/Error Trace:|_test.go:[0-9]+: *$/ { print substr($0, 1, 300); left-- }
' "$log" | tail -n 80
exit "$status"
