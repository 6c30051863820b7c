# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Sections of jvmtest.sh: the number of events equals the number of actions of the program.

# Checks the output of Counts.
has_counted() {
    awaited=$(sed -n 's/^counted //p' "$work/out")
    [ "$awaited" -ge 100 ] && [ "$(wc -l <"$work/out")" = 1 ] || bad "output: $(head -3 "$work/out")"
}

counts() {
    section "counts $*"
    listen
    traced "$@" Counts
    [ $code = 0 ] || bad "code $code: $(head -3 "$work/err")"
    has_counted
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
    expect 'Counts$Worker.wait' 10
    expect 'Counts$Worker.waitReturned' 10
    expect 'Counts$Worker.joinEnd' "$(value 'Counts$Worker.joinStart')"
    [ "$(value 'Counts$Worker.joinStart')" -ge 1 ] || bad "no join of a thread with itself"
    expect 'Counts$Timed.wait' 50
    expect 'Counts$Timed.waited' 50
    expect 'Counts$Timed.timedOut' 50
    expect 'Counts$Timed.waitReturned' 50
    expect 'Counts$Broken.wait' 10
    expect 'Counts$Broken.waitReturned' 10
    expect 'Counts$Broken.interrupted' 10
    expect 'Counts$Wrong.wait' 0
    expect 'Counts$Wrong.waitReturned' 0
    expect 'Counts$Awaited.wait' "$awaited"
    expect 'Counts$Awaited.waitReturned' "$awaited"
    expect 'Counts$Awaited.notify' 100
    expect worker.startCalled 65
    expect worker.threadStart 65
    expect worker.threadEnd 65
    # Only for our threads: those of the JDK and of other tools act on their own.
    expect worker.sleepStart 100
    expect worker.sleepEnd 100
    expect worker.interruptCalled 1
    expect main.sleepStart 5
    expect main.sleepEnd 5
    expect main.interruptCalled 15
}

# CPU times of threads, and stacks of owners.
details() {
    more=,cpu=on,owner-stacks=on
    counts "$@"
    more=
    [ "$(value cpu)" -gt 0 ] || bad "no reading of a CPU time" # how many depends on how long threads run
    [ "$(value ownerStack)" -gt 0 ] || bad "no owner stack"
}

# A lock held by main has an owner; a semaphore, a latch and a condition have none.
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
    # JDK 11 wakes more threads than there are permits; they park again.
    [ "$major" -ge 17 ] && expect 'java.util.concurrent.Semaphore$NonfairSync.park' 20
    expect 'java.util.concurrent.Semaphore$NonfairSync.owned' 0
    expect 'java.util.concurrent.CountDownLatch$Sync.park' 4
    expect worker.classless.park 20
    # The JDK's own threads also wait at such locks and conditions.
    expect 'worker.java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.park' 50
    locks=$(count_of 'worker.java.util.concurrent.locks.ReentrantLock$NonfairSync.park')
    # On JDK 21 the reference handler may find the lock of its queue taken.
    [ "$locks" = 40 ] || { [ "$major" = 21 ] && [ "$locks" -gt 40 ]; } || bad "$locks parks at locks"
    expect 'worker.java.util.concurrent.locks.ReentrantLock$NonfairSync.owned' "$locks"
    # 201 000 with an available permit, 120 with unparks by main, 50 at conditions, 24 others, and those at locks; 60 by main.
    if [ "$major" -ge 17 ]; then
        expect worker.park $((201194 + locks))
        expect worker.unpark $((201194 + locks))
    fi
    expect worker.unparked "$(value worker.park)"
}

# Each hooked method, called in each way, is counted exactly.
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
        # Up to JDK 13 Thread.interrupted is a compiler intrinsic: no agent sees that a flag is consumed.
        [ "$name" = worker.interrupted ] && [ "$major" -lt 14 ] && continue
        case $name in # the program parks without a lock, the JDK also at its own ones
        worker.park) name=worker.classless.park ;;
        worker.unparked) count=$(value worker.park) ;;
        esac
        expect "$name" "$count"
    done <"$work/out"
    [ "$(value threads)" -lt 5000 ] || bad "$(value threads) definitions of threads"
}

# park=off removes parks and nothing else.
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

# The same waits in aggregated mode: no events, and exactly as many waits.
sums() {
    section "sums $*"
    listen
    more=',mode=aggregated,interval=200ms,include-threads=main|worker-*'
    traced "$@" Counts
    has_counted
    heard
    expect events 0
    expect overflow 0
    expect 'Counts$Handed.sum.contendedEnter' 40
    expect 'Counts$Joined.sum.joinStart' 20
    expect 'Counts$Joined.sum.waited' 20
    expect 'Counts$Timed.sum.wait' 50
    expect 'Counts$Timed.sum.waited' 50
    expect 'Counts$Broken.sum.wait' 10
    expect 'Counts$Awaited.sum.wait' "$awaited"
    [ "$(value sum.wait)" -ge $((60 + awaited)) ] || bad "sum.wait is $(value sum.wait)" # and waits of the JDK on these threads
    expect sum.sleepStart 105
    listen
    traced "$@" Parks
    more=
    heard
    expect events 0
    expect 'Parks$Owned.sum.park' 1000
    expect 'Parks$Timed.sum.park' 60
    expect 'java.util.concurrent.locks.ReentrantLock$NonfairSync.sum.park' 40
    [ "$(value sum.park)" -ge 201294 ] || bad "sum.park is $(value sum.park)"
}
