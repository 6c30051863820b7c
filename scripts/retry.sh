#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# retry.sh COMMAND... runs a command that downloads something and retries it up to three times: a registry or the network may be
# unavailable for a moment. The command must be repeatable.
set -eu

for pause in 5 15 60 0; do
    status=0
    "$@" || status=$?
    [ "$status" != 0 ] || exit 0
    [ "$pause" = 0 ] || {
        echo "retry.sh: failed with status $status, retrying in $pause s: $*" >&2
        sleep "$pause"
    }
done
echo "retry.sh: failed four times, the last time with status $status: $*" >&2
exit "$status"
