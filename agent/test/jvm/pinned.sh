# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: virtual threads that keep their carriers while they wait, or for long.

# Events of a kind at locks of a class whose virtual thread was pinned.
count_pinned() { # kind, class
    awk -v kind="$1" -v class="Pinned\$$2" '$2 == "waiter" && $3 == kind && $4 == class && / pinned$/' "$work/seen" | wc -l
}

# Waits at a class of locks after which the thread owned its monitor again: that is its next event.
count_returned() { # class
    awk -v class="Pinned\$$1" '$2 == "waiter" { found += after && $3 == "waitReturned"; after = $3 == "waited" && $4 == class }
        END { print found + 0 }' "$work/seen"
}

pinned() { # flags
    [ "$major" -lt 21 ] && return
    turns=50
    for extent in on exact; do
        section "pinned virtual=$extent $*"
        listen events=1
        more=,virtual=$extent
        traced -Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1 \
            --enable-native-access=ALL-UNNAMED "$@" Pinned "$(dirname "$receiver")/libnative_threads.so"
        more=
        [ "$(cat "$work/out")" = "pinned $((4 * turns))" ] || bad "code $code: $(cat "$work/out" "$work/err")"
        heard
        # In a native frame or an initializer, all do; before 24, monitors keep their owners and waiters on their carriers.
        for place in Free Synchronized Native Initializer; do
            parks=0 monitors=0
            case $place in Native | Initializer) parks=$turns monitors=$turns ;; esac
            if [ "$major" -lt 24 ]; then
                monitors=$turns
                [ $place = Synchronized ] && parks=$turns
            fi
            for check in "park $parks" "contendedEntered $monitors" "waited $monitors"; do
                [ "$(count_pinned ${check% *} $place)" = "${check#* }" ] ||
                    bad "$(count_pinned ${check% *} $place) pinned $check at $place"
            done
            [ $monitors = 0 ] || [ "$(count_returned $place)" = $turns ] || bad "$(count_returned $place) of $turns returned at $place"
        done
        parks=$(grep -c ' waiter park .* pinned$' "$work/seen")
        [ "$(grep -c ' waiter unparked .* pinned$' "$work/seen")" = "$parks" ] || bad "not $parks unparked"
    done
}

# The JVM reports the end of its own waits, which no thread has begun.
initialized() { # flags
    [ "$major" -lt 21 ] && return
    for extent in on exact; do
        section "classes that two virtual threads initialize virtual=$extent $*"
        listen events=1
        more=,virtual=$extent
        traced -Djdk.virtualThreadScheduler.parallelism=2 "$@" Initialized
        more=
        [ "$(cat "$work/out")" = "initialized 200" ] || bad "code $code: $(cat "$work/out" "$work/err")"
        heard
        ends=$(grep -cE ' (first|second) (waited|waitReturned) ' "$work/seen")
        [ "$ends" = 0 ] || bad "$ends ends of waits that did not begin"
    done
}
