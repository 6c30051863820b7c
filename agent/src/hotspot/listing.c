// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/listing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/jvm.h"
#include "hotspot/living.h"
#include "hotspot/vmstructs.h"

static struct {
    bool ready;
    bool has_id;   // 24 and later: the structure holds the id of the thread it runs now
    ptrdiff_t env; // from the thread structure to the thread's JNIEnv
} listing;

static __thread uintptr_t ended; // this thread's structure, once its end was reported

void weft_listing_init(JNIEnv *env, jthread thread) {
    ptrdiff_t id;
    listing.ready = weft_jvm_env_offset(env, thread, &listing.env);
    listing.has_id = weft_vmstructs_offset("JavaThread", "_monitor_owner_id", &id);
}

static uintptr_t structure_of(JNIEnv *env) {
    return (uintptr_t)env - (uintptr_t)listing.env;
}

// Up to 23, the structure of a carrier does not show which thread it runs.
static bool is_listed(JNIEnv *env, jthread thread) {
    return listing.ready && (listing.has_id || !weft_jvm_is_carrier(env, thread));
}

void weft_listing_start(JNIEnv *env, jthread thread) {
    if (is_listed(env, thread)) {
        ended = 0;
        weft_living_add(structure_of(env), weft_jvm_thread_id(env, thread));
    }
}

// The JVM's own compiler threads end without a report. They run no Java.
static bool runs_java(jthread thread) {
    jint frames = 0;
    return (*weft_jvm.ti)->GetFrameCount(weft_jvm.ti, thread, &frames) == JVMTI_ERROR_NONE &&
           frames > 0;
}

void weft_listing_seen(JNIEnv *env, jthread thread) {
    if (is_listed(env, thread) && structure_of(env) != ended && runs_java(thread)) {
        weft_living_add(structure_of(env), weft_jvm_thread_id(env, thread));
    }
}

void weft_listing_end(JNIEnv *env) {
    if (listing.ready) {
        ended = structure_of(env);
        weft_living_end(ended);
    }
}

void weft_listing_add_known(JNIEnv *env) {
    jint count = 0;
    jthread *threads = NULL;
    if (!listing.ready ||
        (*weft_jvm.ti)->GetAllThreads(weft_jvm.ti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        // A thread with Java frames has not reported its end, and will.
        uint64_t ends = weft_living_ends();
        uint64_t id = weft_jvm_thread_id(env, threads[i]);
        if (id != 0 && is_listed(env, threads[i]) && runs_java(threads[i])) {
            jlong structure = (*env)->GetLongField(env, threads[i], weft_jvm.eetop);
            weft_living_add_other((uintptr_t)structure, id, ends);
        }
        (*env)->DeleteLocalRef(env, threads[i]);
    }
    weft_jvm_deallocate(threads);
}
