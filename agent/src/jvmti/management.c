// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/management.h"

#include <string.h>

#include "hotspot/jvm.h"
#include "record/identity.h"
#include "wire/names.h"

enum { LOCAL_REFERENCES = 32, NAME_MAX_BYTES = 1024, NO_FRAMES = 0 };

// Handles for one request.
struct handles {
    jclass threads;      // sun.management.ThreadImpl
    jclass info;         // java.lang.management.ThreadInfo
    jmethodID get_infos; // what ThreadMXBean.getThreadInfo(long[]) calls
    jmethodID get_lock;
    jmethodID get_owner;
    jmethodID get_hash;
    jmethodID get_class;
};

static jmethodID method(JNIEnv *env, const char *class_name, const char *name,
                        const char *signature) {
    jclass class = weft_jvm_find(env, class_name);
    if (class == NULL) {
        return NULL;
    }
    jmethodID id = (*env)->GetMethodID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

// Looking up a method of this class initializes it, which loads the library of the native methods.
static bool load_library(JNIEnv *env) {
    jclass helper = weft_jvm_find(env, "sun/management/ManagementFactoryHelper");
    jmethodID any =
        helper == NULL ? NULL : (*env)->GetStaticMethodID(env, helper, "isThreadSuspended", "(I)Z");
    return !weft_jvm_clear_exception(env) && any != NULL;
}

// Avoids java.lang.management.ManagementFactory: it prepares all beans, 200 classes.
static bool find(JNIEnv *env, struct handles *h) {
    const char *info = "java/lang/management/ThreadInfo";
    const char *lock = "java/lang/management/LockInfo";
    h->threads = weft_jvm_find(env, "sun/management/ThreadImpl");
    h->info = weft_jvm_find(env, info);
    if (h->threads == NULL || h->info == NULL || !load_library(env)) {
        return false;
    }
    h->get_infos = (*env)->GetStaticMethodID(env, h->threads, "getThreadInfo1",
                                             "([JI[Ljava/lang/management/ThreadInfo;)V");
    if (weft_jvm_clear_exception(env)) {
        return false;
    }
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
    jobjectArray answers = (*env)->NewObjectArray(env, (jsize)count, h->info, NULL);
    if (weft_jvm_clear_exception(env) || answers == NULL) {
        return false;
    }
    (*env)->CallStaticVoidMethod(env, h->threads, h->get_infos, ids, NO_FRAMES, answers);
    if (weft_jvm_clear_exception(env)) {
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
