# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: stacks.

# Each recognized stack equals that of JVMTI.
stacks() {
    section "stacks $*"
    listen
    plain=$agent
    agent=$checked
    more=,notify-depth=16,unpark-depth=5,wait-depth=16
    traced "$@" Stacks
    more=
    agent=$plain
    [ "$(cat "$work/out")" = done ] || bad "output: $(head -3 "$work/out")"
    grep -q '^stacks: [0-9]* taken, [0-9]* walked, 0 not, 0 wrong, kept$' "$work/err" || bad "$(grep '^stacks' "$work/err")"
    heard
}
