# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: recordings in files.

# Without a collector: the events in the file and its losses add up to all that happened.
recorded() {
    section "file"
    more=
    "$java" -agentpath:"$agent=file=$work/a.weft,pool=64m" -cp "$classes" Counts >"$work/out" 2>"$work/err" || bad "code"
    [ "$(head -c 4 "$work/a.weft")" = WEFT ] || bad "no recording"
    "$java" -agentpath:"$agent=file=$work/b.weft,file-size=1m,pool=64m" -cp "$classes" Counts >"$work/out" 2>"$work/err" || bad "code"
    [ "$(wc -c <"$work/b.weft")" -le 1048576 ] || bad "too large"
    : >"$work/d"
    chmod 644 "$work/d"
    "$java" -agentpath:"$agent=file=$work/d" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ ! -s "$work/d" ] || bad "a file that others can read was written"
    grep -q '^weft: option "file": .*chmod 600; the JVM runs without tracing$' "$work/err" || bad "$(head -1 "$work/err")"
    echo mine >"$work/c"
    chmod 600 "$work/c"
    "$java" -agentpath:"$agent=file=$work/c" -cp "$classes" Ways exit >"$work/out" 2>"$work/err"
    [ "$(cat "$work/c")" = mine ] || bad "another file was replaced"
    head -1 "$work/err" | grep -q '^weft: option "file": ' || bad "$(head -1 "$work/err")"
}
