// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/owner.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "hotspot/addresses.h"
#include "hotspot/jvm.h"
#include "hotspot/lock_stacks.h"
#include "hotspot/mounted.h"
#include "hotspot/notices.h"
#include "hotspot/unmounted.h"
#include "hotspot/vmstructs.h"
#include "hotspot/words.h"
#include "wire/clock.h"

enum { CHECKS = 16, MAX_MISMATCHES = 3, ASKS_PER_SECOND = 100, TRIES = 2 };
enum { MOST_WAITERS = 4096 }; // that a frame of references can be announced for

// A way to read the owner, trusted while it finds the current thread where that is the owner.
struct source {
    atomic_bool readable;
    atomic_int checks; // answers left to check
    atomic_int mismatches;
};

static struct {
    bool owner_is_id;  // 24 and later: the field holds the owner's thread id
    ptrdiff_t env;     // from the JVM's thread structure to the thread's JNIEnv
    ptrdiff_t pending; // from the thread structure to the monitor it blocks on
    ptrdiff_t owner;   // from the monitor to its owner
    bool ask;          // JVMTI, if the structures give no answer
    struct source monitors;
    struct source lock_stacks;
    _Atomic int64_t next_ask;
} owner;

// Values of the owner field that do not denote an owner: 1 means "anonymous, look into the object",
// 2 and a few more are internal marks of the JVM.
enum { ANONYMOUS = 1, LAST_MARK_ID = 2, LAST_MARK_ADDRESS = 4095 };

// Versions of Java. From 23 on, GetObjectMonitorUsage crashes the JVM if a native thread is being
// attached, or main has returned, at that instant: it reads the Thread object of each thread, and
// such a thread has none yet (get_pending_threads in HotSpot's threads.cpp). 22 was not tested.
enum { LAST_TO_ASK = 21, ANONYMOUS_AT_FIRST = 23, OWNERS_ARE_IDS = 24 };

static void add_known_threads(JNIEnv *env) {
    jint count = 0;
    jthread *threads = NULL;
    if ((*weft_jvm.ti)->GetAllThreads(weft_jvm.ti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        jlong structure = (*env)->GetLongField(env, threads[i], weft_jvm.eetop);
        uint64_t id = weft_jvm_thread_id(env, threads[i]);
        if (id != 0) {
            weft_addresses_add_structure((uintptr_t)structure, id);
        }
        if (weft_jvm_is_carrier(env, threads[i])) {
            weft_mounted_add(id);
        }
        (*env)->DeleteLocalRef(env, threads[i]);
    }
    weft_jvm_deallocate(threads);
}

static void trust(struct source *source) {
    atomic_store(&source->checks, CHECKS);
    atomic_store(&source->readable, true);
}

void weft_owner_init(JNIEnv *env, jthread thread) {
    ptrdiff_t id_field;
    if (!weft_jvm_env_offset(env, thread, &owner.env) ||
        (!weft_vmstructs_offset("JavaThread", "_current_pending_monitor", &owner.pending) &&
         !weft_vmstructs_offset("Thread", "_current_pending_monitor", &owner.pending)) ||
        !weft_vmstructs_offset("ObjectMonitor", "_owner", &owner.owner)) {
        return;
    }
    owner.owner_is_id = weft_vmstructs_offset("JavaThread", "_monitor_owner_id", &id_field);
    if (word_at((uintptr_t)env - (uintptr_t)(owner.env - owner.pending)) != 0) {
        return; // this thread is not blocked, so the offset is wrong
    }
    if (!owner.owner_is_id) {
        weft_addresses_enable(owner.env);
        weft_mounted_enable();
        add_known_threads(env);
    }
    trust(&owner.monitors);
    if (weft_lock_stacks_init(env, owner.env)) {
        trust(&owner.lock_stacks);
    }
}

void weft_owner_note(int version) {
    owner.ask = version <= LAST_TO_ASK;
    if (version >= OWNERS_ARE_IDS && !owner.owner_is_id) {
        atomic_store(&owner.monitors.readable, false);
    }
    if (!atomic_load(&owner.monitors.readable)) {
        weft_notices_raise(WEFT_NOTICE_NO_OWNERS);
    } else if (version >= ANONYMOUS_AT_FIRST && !atomic_load(&owner.lock_stacks.readable)) {
        weft_notices_raise(WEFT_NOTICE_NO_LOCK_STACKS);
    }
}

static bool is_trusted(struct source *source) {
    return atomic_load_explicit(&source->readable, memory_order_relaxed);
}

// Finds the owner by an address of the JVM. A carrier must run the same virtual thread while it is
// seen to own the monitor.
static bool find_owner(uintptr_t field, uintptr_t value, uint64_t *id) {
    uint64_t state;
    uint64_t later;
    uint64_t carrier = weft_addresses_find(value);
    *id = carrier;
    if (carrier == 0 || !weft_mounted_resolve(id, &state)) {
        return false;
    }
    bool same = word_at(field) == value;
    return weft_mounted_resolve(&carrier, &later) && same && later == state;
}

// The monitor that the current thread is about to block on; 0: none.
static uintptr_t pending_monitor(JNIEnv *env) {
    return word_at((uintptr_t)env - (uintptr_t)(owner.env - owner.pending));
}

// Reads the owner from the monitor; 0 is free. False if it does not contain it.
static bool read_monitor(uintptr_t monitor, uint64_t *id, bool *anonymous) {
    uintptr_t field = monitor + (uintptr_t)owner.owner;
    uintptr_t value = word_at(field);
    *anonymous = value == ANONYMOUS;
    if (value == 0) {
        *id = 0;
        return true;
    }
    if (owner.owner_is_id) {
        *id = value;
        return value > LAST_MARK_ID;
    }
    return value > LAST_MARK_ADDRESS && find_owner(field, value, id);
}

// Reads the owner from the structures.
static bool read_owner(uintptr_t monitor, jobject object, uint64_t *id) {
    for (int i = 0; i < TRIES && monitor != 0; i++) {
        bool anonymous;
        if (read_monitor(monitor, id, &anonymous)) {
            return true;
        }
        if (!anonymous || !is_trusted(&owner.lock_stacks)) {
            return false;
        }
        if (weft_lock_stacks_find(object, id)) {
            return true;
        }
        *id = weft_unmounted_find(object);
        if (*id != 0) {
            return true;
        }
        // Meanwhile the owner may have released the monitor, or announced itself.
    }
    return false;
}

// Gets the owner from JVMTI, which stops all threads. The frame holds a reference to each thread
// that waits for the monitor.
static uint64_t owner_from_jvmti(JNIEnv *env, jobject object) {
    jvmtiMonitorUsage usage = {0};
    uint64_t id = 0;
    if ((*env)->PushLocalFrame(env, MOST_WAITERS) != JNI_OK) {
        return 0;
    }
    if ((*weft_jvm.ti)->GetObjectMonitorUsage(weft_jvm.ti, object, &usage) == JVMTI_ERROR_NONE) {
        id = usage.owner == NULL ? 0 : weft_jvm_thread_id(env, usage.owner);
        weft_jvm_deallocate(usage.waiters);
        weft_jvm_deallocate(usage.notify_waiters);
    }
    (*env)->PopLocalFrame(env, NULL);
    return id;
}

static bool is_checked(struct source *source) {
    return atomic_load_explicit(&source->checks, memory_order_relaxed) > 0 && is_trusted(source);
}

// Counts an answer about a lock that the current thread owns.
static void check(struct source *source, bool right, enum weft_notice notice) {
    atomic_fetch_sub(&source->checks, 1);
    if (!right && atomic_fetch_add(&source->mismatches, 1) + 1 >= MAX_MISMATCHES) {
        atomic_store(&source->readable, false);
        weft_notices_raise(notice);
    }
}

uint64_t weft_owner(JNIEnv *env, jobject object, bool *unknown, uintptr_t *monitor) {
    uint64_t id = 0;
    uintptr_t pending = is_trusted(&owner.monitors) ? pending_monitor(env) : 0;
    *unknown = false;
    *monitor = is_checked(&owner.monitors) ? pending : 0;
    if (read_owner(pending, object, &id)) {
        return id;
    }
    if (owner.ask && weft_clock_allow(&owner.next_ask, ASKS_PER_SECOND)) {
        id = owner_from_jvmti(env, object);
    }
    *unknown = id == 0;
    return id;
}

void weft_owner_entered(uintptr_t monitor, uint64_t self) {
    uint64_t id;
    bool anonymous;
    if (monitor != 0 && read_monitor(monitor, &id, &anonymous)) {
        check(&owner.monitors, id == self, WEFT_NOTICE_WRONG_OWNERS);
    }
}

void weft_owner_holds(jobject object, uint64_t self) {
    uint64_t id;
    if (is_checked(&owner.lock_stacks) && weft_lock_stacks_find(object, &id)) {
        check(&owner.lock_stacks, id == self, WEFT_NOTICE_WRONG_LOCK_STACKS);
    }
}
