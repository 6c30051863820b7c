// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/management.h"

#include <string.h>

#include "hotspot/jvm.h"
#include "record/identity.h"
#include "wire/names.h"

enum { LOCAL_REFERENCES = 32, NAME_MAX_BYTES = 1024 };

// Handles for one request.
struct handles {
    jobject bean;        // java.lang.management.ThreadMXBean
    jmethodID get_infos; // getThreadInfo(long[])
    jmethodID get_lock;
    jmethodID get_owner;
    jmethodID get_hash;
    jmethodID get_class;
};

static jmethodID method(JNIEnv *env, const char *class_name, const char *name,
                        const char *signature) {
    jclass class = (*env)->FindClass(env, class_name);
    if (weft_jvm_clear_exception(env) || class == NULL) {
        return NULL;
    }
    jmethodID id = (*env)->GetMethodID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

static bool find(JNIEnv *env, struct handles *h) {
    h->bean = weft_jvm_call_static(env, "java/lang/management/ManagementFactory", "getThreadMXBean",
                                   "()Ljava/lang/management/ThreadMXBean;");
    if (h->bean == NULL) {
        return false;
    }
    const char *info = "java/lang/management/ThreadInfo";
    const char *lock = "java/lang/management/LockInfo";
    h->get_infos = method(env, "java/lang/management/ThreadMXBean", "getThreadInfo",
                          "([J)[Ljava/lang/management/ThreadInfo;");
    h->get_lock = method(env, info, "getLockInfo", "()Ljava/lang/management/LockInfo;");
    h->get_owner = method(env, info, "getLockOwnerId", "()J");
    h->get_hash = method(env, lock, "getIdentityHashCode", "()I");
    h->get_class = method(env, lock, "getClassName", "()Ljava/lang/String;");
    return h->get_infos != NULL && h->get_lock != NULL && h->get_owner != NULL &&
           h->get_hash != NULL && h->get_class != NULL;
}

static uint32_t class_of(JNIEnv *env, const struct handles *h, jobject lock, uint32_t hash) {
    char text[NAME_MAX_BYTES];
    jstring name = (*env)->CallObjectMethod(env, lock, h->get_class);
    if (weft_jvm_clear_exception(env) || name == NULL ||
        (*env)->GetStringUTFLength(env, name) >= NAME_MAX_BYTES) {
        return 0;
    }
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), text);
    if (weft_jvm_clear_exception(env)) {
        return 0;
    }
    return strcmp(text, WEFT_NAMES_MIRROR) == 0 ? weft_identity_mirror_by_hash(env, hash)
                                                : weft_identity_class_by_name(text);
}

// Fills in the data of a ThreadInfo; an ended thread has none.
static void read_info(JNIEnv *env, const struct handles *h, jobject info,
                      struct weft_lock_info *to) {
    if (info == NULL) {
        return;
    }
    jlong owner = (*env)->CallLongMethod(env, info, h->get_owner);
    if (!weft_jvm_clear_exception(env) && owner > 0) {
        to->owner = (uint64_t)owner;
    }
    jobject lock = (*env)->CallObjectMethod(env, info, h->get_lock);
    if (weft_jvm_clear_exception(env) || lock == NULL) {
        return;
    }
    jint hash = (*env)->CallIntMethod(env, lock, h->get_hash);
    if (!weft_jvm_clear_exception(env)) {
        to->hash = (uint32_t)hash;
        to->class_id = class_of(env, h, lock, to->hash);
    }
}

static bool ask(JNIEnv *env, const struct handles *h, struct weft_lock_info *infos, size_t count) {
    jlongArray ids = (*env)->NewLongArray(env, (jsize)count);
    if (weft_jvm_clear_exception(env) || ids == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        jlong id = (jlong)infos[i].thread;
        (*env)->SetLongArrayRegion(env, ids, (jsize)i, 1, &id);
    }
    jobjectArray answers = (*env)->CallObjectMethod(env, h->bean, h->get_infos, ids);
    if (weft_jvm_clear_exception(env) || answers == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if ((*env)->PushLocalFrame(env, LOCAL_REFERENCES) != JNI_OK) {
            weft_jvm_clear_exception(env);
            return false;
        }
        jobject info = (*env)->GetObjectArrayElement(env, answers, (jsize)i);
        if (!weft_jvm_clear_exception(env)) {
            read_info(env, h, info, &infos[i]);
        }
        (*env)->PopLocalFrame(env, NULL);
    }
    return true;
}

bool weft_management_locks(JNIEnv *env, struct weft_lock_info *infos, size_t count) {
    struct handles h = {0};
    if ((*env)->PushLocalFrame(env, LOCAL_REFERENCES) != JNI_OK) {
        weft_jvm_clear_exception(env);
        return false;
    }
    bool ok = find(env, &h) && ask(env, &h, infos, count);
    (*env)->PopLocalFrame(env, NULL);
    return ok;
}
