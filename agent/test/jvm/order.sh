# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: the exact sequence of events.

order() {
    section "order $*"
    listen events=1
    more=,include-threads=worker-*
    traced "$@" Order
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    heard
    sed -n 's/^\([0-9][0-9]*\) worker-/\1 worker-/p' "$work/seen" | sort -s -n -k 1,1 | cut -d ' ' -f 2- |
        awk 'FILENAME == ARGV[1] { if ($1 == "void") void[$2]; next } !($1 in void)' "$work/out" - >"$work/ordered"
    grep -v '^void ' "$work/out" >"$work/happened"
    [ "$(wc -l <"$work/ordered")" -gt 60 ] || bad "only $(wc -l <"$work/ordered") events"
    diff "$work/happened" "$work/ordered" >"$work/other" || bad "the program's order (<) and the agent's (>) differ: $(cat "$work/other")"
}
