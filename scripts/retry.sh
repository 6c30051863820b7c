#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# retry.sh COMMAND... runs a command that fetches something, and again up to three times if it fails: a registry, or the way to it, may be
# away for a moment. The command must be one that can be repeated.
set -eu

for pause in 5 15 60 0; do
    status=0
    "$@" || status=$?
    [ "$status" != 0 ] || exit 0
    [ "$pause" = 0 ] || {
        echo "retry.sh: failed with status $status, once more in $pause s: $*" >&2
        sleep "$pause"
    }
done
echo "retry.sh: failed four times, the last time with status $status: $*" >&2
exit "$status"
