// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread_info.h"

#include <stddef.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "options/filter.h"
#include "record/roster.h"
#include "wire/names.h"

void weft_thread_info_announce(JNIEnv *env, jthread thread, uint64_t id, bool is_virtual) {
    jvmtiEnv *ti = weft_jvm.ti;
    jvmtiThreadInfo info = {0};
    jvmtiThreadGroupInfo group = {0};
    if ((*ti)->GetThreadInfo(ti, thread, &info) != JVMTI_ERROR_NONE) {
        weft_roster_announce(id, is_virtual ? WEFT_THREAD_VIRTUAL : 0, "", "");
        return;
    }
    if (info.thread_group != NULL &&
        (*ti)->GetThreadGroupInfo(ti, info.thread_group, &group) != JVMTI_ERROR_NONE) {
        group.name = NULL;
    }
    uint16_t flags = weft_jvm_is_carrier(env, thread) ? WEFT_THREAD_CARRIER : 0;
    if (info.is_daemon) {
        flags |= WEFT_THREAD_DAEMON;
    }
    if (is_virtual) {
        flags |= WEFT_THREAD_VIRTUAL;
    }
    if (info.name != NULL) {
        weft_names_utf8(info.name);
    }
    if (group.name != NULL) {
        weft_names_utf8(group.name);
    }
    weft_roster_announce(id, flags, info.name, group.name);
    weft_jvm_deallocate(info.name);
    weft_jvm_deallocate(group.name);
    (*env)->DeleteLocalRef(env, info.thread_group);
    (*env)->DeleteLocalRef(env, info.context_class_loader);
    (*env)->DeleteLocalRef(env, group.parent);
}

bool weft_thread_info_of_jvm(JNIEnv *env, jthread thread) {
    jvmtiEnv *ti = weft_jvm.ti;
    jvmtiThreadInfo info = {0};
    jvmtiThreadGroupInfo group = {0};
    if ((*ti)->GetThreadInfo(ti, thread, &info) != JVMTI_ERROR_NONE) {
        return false;
    }
    bool own = info.thread_group != NULL &&
               (*ti)->GetThreadGroupInfo(ti, info.thread_group, &group) == JVMTI_ERROR_NONE &&
               (group.parent == NULL || strcmp(group.name, "InnocuousThreadGroup") == 0);
    weft_jvm_deallocate(info.name);
    weft_jvm_deallocate(group.name);
    (*env)->DeleteLocalRef(env, info.thread_group);
    (*env)->DeleteLocalRef(env, info.context_class_loader);
    (*env)->DeleteLocalRef(env, group.parent);
    return own;
}

bool weft_thread_info_wanted(JNIEnv *env, jthread thread) {
    jvmtiThreadInfo info = {0};
    if (!atomic_load_explicit(&weft_filter.threads, memory_order_relaxed) ||
        (*weft_jvm.ti)->GetThreadInfo(weft_jvm.ti, thread, &info) != JVMTI_ERROR_NONE) {
        return true;
    }
    bool wanted = weft_filter_thread(info.name == NULL ? "" : info.name);
    weft_jvm_deallocate(info.name);
    (*env)->DeleteLocalRef(env, info.thread_group);
    (*env)->DeleteLocalRef(env, info.context_class_loader);
    return wanted;
}
