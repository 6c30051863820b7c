# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: JVMs that lack something that the agent reads.

# For these, something else decides.
replaceable='CodeBlob._kind|constant.CodeBlobKind::.*|nmethod._deopt_mh_handler_offset|CompiledMethod._deopt_mh_handler_begin'

run_lacking() { # name; the agent prints its notices, and the program its output
    rm -f "$work/lacking.weft"
    WEFT_MISSING=$1 timeout $patience "$java" -agentpath:"$(dirname "$receiver")/libweft_missing.so=file=$work/lacking.weft" \
        -cp "$classes" Ways return 50 >"$work/out" 2>"$work/err"
    code=$?
}

# Each structure, field, size and constant is missing once: a line says what the agent does without.
lacking() {
    section "each thing missing that the agent reads"
    rm -f "$work/found"
    WEFT_FOUND=$work/found run_lacking none
    "$java" -cp "$classes" Ways return 50 >"$work/plain.out"
    names=$(sort -u "$work/found")
    [ "$(echo "$names" | wc -l)" -ge 25 ] || bad "the agent reads only $names"
    for name in $names; do
        run_lacking "$name"
        [ $code = 0 ] || bad "$name: code $code: $(head -3 "$work/err")"
        cmp -s "$work/out" "$work/plain.out" || bad "$name: output: $(head -3 "$work/out")"
        lines=$(grep -c '^weft: ' "$work/err")
        wanted=1
        echo "$name" | grep -Eqx "$replaceable" && wanted=0
        case $name in # from 24 on, they also show whether virtual threads stay on their carriers
        JavaThread._current_waiting_monitor | JavaThread._current_pending_monitor) [ "$major" -lt 24 ] || wanted=2 ;;
        # Before 23, monitors name their owners unless the JVM has an option for experts.
        JavaThread._lock_stack | LockStack.* | Universe._collectedHeap | CollectedHeap.*) [ "$major" -ge 23 ] || wanted=0 ;;
        JavaThread.size) [ "$major" -gt 11 ] || wanted=0 ;; # only for the initialization of classes, which 11 does not show
        esac
        [ "$lines" = $wanted ] || bad "$name: $lines lines: $(cat "$work/err")"
        [ -s "$work/lacking.weft" ] || bad "$name: nothing was recorded"
    done
}
