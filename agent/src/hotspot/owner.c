// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/owner.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "hotspot/addresses.h"
#include "hotspot/jvm.h"
#include "hotspot/vmstructs.h"
#include "hotspot/words.h"
#include "wire/clock.h"

enum { CHECKS = 16, MAX_MISMATCHES = 3, ASKS_PER_SECOND = 100 };

static struct {
    atomic_bool readable; // reading the structures is allowed
    bool owner_is_id;     // 24 and later: the field holds the owner's thread id
    ptrdiff_t env;        // from the JVM's thread structure to the thread's JNIEnv
    ptrdiff_t pending;    // from the thread structure to the monitor it blocks on
    ptrdiff_t owner;      // from the monitor to its owner
    atomic_int checks;    // answers left to check
    atomic_int mismatches;
    _Atomic int64_t next_ask;
} owner;

// Values of the owner field that do not denote an owner: 1 means "anonymous, look into the object",
// 2 and a few more are internal marks of the JVM.
enum { ANONYMOUS = 1, LAST_MARK_ID = 2, LAST_MARK_ADDRESS = 4095 };

static void add_known_threads(JNIEnv *env) {
    jint count = 0;
    jthread *threads = NULL;
    if ((*weft_jvm.ti)->GetAllThreads(weft_jvm.ti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        jlong structure = (*env)->GetLongField(env, threads[i], weft_jvm.eetop);
        weft_addresses_add_structure((uintptr_t)structure, weft_jvm_thread_id(env, threads[i]));
        (*env)->DeleteLocalRef(env, threads[i]);
    }
    weft_jvm_deallocate(threads);
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
        add_known_threads(env);
    }
    atomic_store(&owner.checks, CHECKS);
    atomic_store(&owner.readable, true);
}

// Reads the owner from the structures; 0 is free. False if they do not contain it.
static bool read_owner(JNIEnv *env, uint64_t *id) {
    uintptr_t monitor = word_at((uintptr_t)env - (uintptr_t)(owner.env - owner.pending));
    if (monitor == 0) {
        return false;
    }
    uintptr_t value = word_at(monitor + (uintptr_t)owner.owner);
    if (value == 0) {
        *id = 0;
        return true;
    }
    if (owner.owner_is_id) {
        *id = value;
        return value > LAST_MARK_ID;
    }
    if (value <= LAST_MARK_ADDRESS) {
        return false;
    }
    *id = weft_addresses_find(value);
    return *id != 0;
}

// Gets the owner from JVMTI, which stops all threads.
static uint64_t owner_from_jvmti(JNIEnv *env, jobject object) {
    jvmtiMonitorUsage usage = {0};
    if ((*weft_jvm.ti)->GetObjectMonitorUsage(weft_jvm.ti, object, &usage) != JVMTI_ERROR_NONE) {
        return 0;
    }
    uint64_t id = usage.owner == NULL ? 0 : weft_jvm_thread_id(env, usage.owner);
    (*env)->DeleteLocalRef(env, usage.owner);
    for (jint i = 0; i < usage.waiter_count; i++) {
        (*env)->DeleteLocalRef(env, usage.waiters[i]);
    }
    for (jint i = 0; i < usage.notify_waiter_count; i++) {
        (*env)->DeleteLocalRef(env, usage.notify_waiters[i]);
    }
    weft_jvm_deallocate(usage.waiters);
    weft_jvm_deallocate(usage.notify_waiters);
    return id;
}

static void check(JNIEnv *env, jobject object, uint64_t id) {
    uint64_t again;
    uint64_t answer = owner_from_jvmti(env, object);
    // If the owner changed meanwhile, this proves nothing; JVMTI does not report virtual owners.
    if (answer != 0 && answer != id && read_owner(env, &again) && again == id &&
        atomic_fetch_add(&owner.mismatches, 1) + 1 >= MAX_MISMATCHES) {
        atomic_store(&owner.readable, false);
    }
}

uint64_t weft_owner(JNIEnv *env, jobject object) {
    uint64_t id = 0;
    if (atomic_load_explicit(&owner.readable, memory_order_relaxed) && read_owner(env, &id)) {
        if (id != 0 && atomic_load_explicit(&owner.checks, memory_order_relaxed) > 0 &&
            atomic_fetch_sub(&owner.checks, 1) > 0) {
            check(env, object, id);
        }
        return id;
    }
    return weft_clock_allow(&owner.next_ask, ASKS_PER_SECOND) ? owner_from_jvmti(env, object) : 0;
}
