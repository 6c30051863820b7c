#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks what makes defects of the agent hard to exploit: stack protector, checked calls of libc (musl has none), and tables of
# addresses that are read-only from the start. Arguments: agents.
failed=0
for lib in "$@"; do
    has() { # what, option of readelf, pattern
        readelf -W "$2" "$lib" | grep -Eq "$3" || { echo "$lib: no $1" && failed=1; }
    }
    has 'stack protector' --dyn-syms ' __stack_chk_fail'
    [ "${lib##*musl*}" = '' ] || has '_FORTIFY_SOURCE' --dyn-syms ' __(mem|str|v?snprintf|read)[a-z]*_chk'
    has 'RELRO' --program-headers ' GNU_RELRO '
    has 'BIND_NOW' --dynamic '\(FLAGS(_1)?\).*\b(BIND_)?NOW\b'
done
[ $failed = 0 ] && echo 'ok   hardened'
