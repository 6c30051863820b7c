# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Are events there as often as the program says that things happened? Sections of jvmtest.sh.

counts() {
    section "counts $*"
    listen
    traced "$@" Counts
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    [ "$(cat "$work/out")" = counted ] || bad "output: $(head -3 "$work/out")"
    heard
    expect 'Counts$Notified.notify' 300000
    expect 'Counts$Notified.notifyAll' 50000
    expect 'Counts$Handed.contendedEnter' 40
    expect 'Counts$Handed.contendedEntered' 40
    expect 'Counts$Handed.owned' 40
    expect 'Counts$Joined.joinStart' 20
    expect 'Counts$Joined.waited' 20
    expect 'Counts$Joined.joinEnd' 20
    expect 'Counts$Joined.interrupted' 1
    expect 'Counts$Timed.wait' 50
    expect 'Counts$Timed.waited' 50
    expect 'Counts$Timed.timedOut' 50
    expect 'Counts$Timed.waitReturned' 50
    expect 'Counts$Broken.wait' 10
    expect 'Counts$Broken.waitReturned' 10
    expect 'Counts$Broken.interrupted' 10
    expect 'Counts$Wrong.wait' 0
    expect 'Counts$Wrong.waitReturned' 0
    expect 'Counts$Awaited.wait' 100
    expect 'Counts$Awaited.waitReturned' 100
    expect 'Counts$Awaited.notify' 100
    expect worker.startCalled 65
    expect worker.threadStart 65
    expect worker.threadEnd 65
    expect sleepStart 105
    expect sleepEnd 105
    expect interruptCalled 16
}

# Before each wait of a platform thread what it has used of a processor; and where the owners were, so often as that is asked.
details() {
    more=,cpu=on,owner-stacks=on
    counts "$@"
    more=
    waits=0
    for kind in contendedEnter wait joinStart sleepStart park; do waits=$((waits + $(value $kind))); done
    expect cpu $waits
    [ "$(value ownerStack)" -gt 0 ] || bad "no stack of an owner"
}

# A lock that main held has an owner; a semaphore, a latch and a condition have none.
parks() {
    section "parks $*"
    listen
    traced "$@" Parks
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    [ "$(cat "$work/out")" = parked ] || bad "output: $(head -3 "$work/out")"
    heard
    expect 'Parks$Permit.park' 200000
    expect 'Parks$Owned.park' 1000
    expect 'Parks$Owned.owned' 1000
    expect 'Parks$Timed.park' 60
    expect 'Parks$Timed.timed' 60
    expect 'Parks$Direct.park' 100
    expect 'Parks$Direct.timed' 0
    # JDK 11 wakes more threads than there are permits: those park again.
    [ "$major" -ge 17 ] && expect 'java.util.concurrent.Semaphore$NonfairSync.park' 20
    expect 'java.util.concurrent.Semaphore$NonfairSync.owned' 0
    expect 'java.util.concurrent.CountDownLatch$Sync.park' 4
    # JDK 21 itself waits at locks and their conditions, where it looks after references.
    if [ "$major" != 21 ]; then
        expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.park' 40
        expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.owned' 40
        expect 'java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.park' 50
    fi
    # 100 with and 20 without a blocker, 50 at conditions, 40 at locks, 24 more; main's are 60
    if [ "$major" -ge 17 ]; then
        expect worker.park 201234
        expect worker.unpark 201234
    fi
    expect worker.unparked "$(value worker.park)"
}

# Each hooked method, called in each way: as often as the program says that it did.
coverage() {
    section "coverage $*"
    listen
    more=,pool=256m,yield=on,depth=4,park-depth=0
    traced "$@"
    more=
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    grep -q '^worker.notify\|notify ' "$work/out" || bad "output: $(head -3 "$work/out")"
    heard
    while read -r name count; do
        # Until JDK 13 Thread.interrupted is a part of the compiler: no agent sees that a flag is consumed.
        [ "$name" = worker.interrupted ] && [ "$major" -lt 14 ] && continue
        expect "$name" "$count"
    done <"$work/out"
    [ "$(value threads)" -lt 5000 ] || bad "$(value threads) definitions of threads"
}

# Without parks there is nothing of them, and all the rest.
unseen() {
    section "park=off"
    listen
    more=,park=off
    traced Parks
    more=
    heard
    expect park 0
    expect unparked 0
    expect unpark 0
    expect worker.threadEnd 68
}

# The same waits, added up: no event, and no wait more or less.
sums() {
    section "sums $*"
    listen
    more=,mode=aggregated,interval=200ms
    traced "$@" Counts
    [ "$(cat "$work/out")" = counted ] || bad "output: $(head -3 "$work/out")"
    heard
    expect events 0
    expect overflow 0
    expect 'Counts$Handed.sum.contendedEnter' 40
    expect 'Counts$Joined.sum.joinStart' 20
    expect 'Counts$Joined.sum.waited' 20
    expect 'Counts$Timed.sum.wait' 50
    expect 'Counts$Timed.sum.waited' 50
    expect 'Counts$Broken.sum.wait' 10
    expect 'Counts$Awaited.sum.wait' 100
    [ "$(value sum.wait)" -ge 160 ] || bad "sum.wait is $(value sum.wait)" # and those of the JVM's own threads
    expect sum.sleepStart 105
    listen
    traced "$@" Parks
    more=
    heard
    expect events 0
    expect 'Parks$Owned.sum.park' 1000
    expect 'Parks$Timed.sum.park' 60
    [ "$major" = 21 ] || expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.sum.park' 40
    [ "$(value sum.park)" -ge 201234 ] || bad "sum.park is $(value sum.park)" # and those of main
}
