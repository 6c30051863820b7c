// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/carried.h"

#include <stddef.h>
#include <string.h>

#include "hotspot/jvm.h"

static struct {
    jfieldID continuation; // Thread.cont
    jfieldID target;       // Continuation.target
    jclass body;           // the target of the continuations of virtual threads; NULL: unknown
    jfieldID thread;       // its field
    jvmtiExtensionFunction function;
} mounted;

static bool find_fields(JNIEnv *env) {
    jclass continuation = weft_jvm_find(env, "jdk/internal/vm/Continuation");
    jclass body = weft_jvm_class(env, "java/lang/VirtualThread$VThreadContinuation$1");
    if (continuation != NULL && body != NULL) {
        mounted.continuation =
            weft_jvm_field(env, weft_jvm.thread, "cont", "Ljdk/internal/vm/Continuation;");
        mounted.target = weft_jvm_field(env, continuation, "target", "Ljava/lang/Runnable;");
        mounted.thread = weft_jvm_field(env, body, "val$vthread", "Ljava/lang/VirtualThread;");
    }
    (*env)->DeleteLocalRef(env, continuation);
    if (mounted.continuation == NULL || mounted.target == NULL || mounted.thread == NULL) {
        (*env)->DeleteGlobalRef(env, body);
        return false;
    }
    mounted.body = body;
    return true;
}

static void find_function(void) {
    jint count = 0;
    jvmtiExtensionFunctionInfo *found = NULL;
    if ((*weft_jvm.ti)->GetExtensionFunctions(weft_jvm.ti, &count, &found) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        if (strcmp(found[i].id, "com.sun.hotspot.functions.GetVirtualThread") == 0) {
            mounted.function = found[i].func;
        }
        for (jint j = 0; j < found[i].param_count; j++) {
            weft_jvm_deallocate(found[i].params[j].name);
        }
        weft_jvm_deallocate(found[i].id);
        weft_jvm_deallocate(found[i].short_description);
        weft_jvm_deallocate(found[i].params);
        weft_jvm_deallocate(found[i].errors);
    }
    weft_jvm_deallocate(found);
}

bool weft_carried_init(JNIEnv *env) {
    if (mounted.body == NULL && mounted.function == NULL && !find_fields(env)) {
        find_function();
    }
    return mounted.body != NULL || mounted.function != NULL;
}

// The object in a field; deletes the reference to its owner.
static jobject follow(JNIEnv *env, jobject owner, jfieldID field) {
    jobject found = owner == NULL ? NULL : (*env)->GetObjectField(env, owner, field);
    (*env)->DeleteLocalRef(env, owner);
    return found;
}

jthread weft_carried_on(JNIEnv *env, jthread carrier) {
    jthread thread = NULL;
    if (mounted.body == NULL) {
        jvmtiError error = mounted.function(weft_jvm.ti, carrier, &thread);
        return error == JVMTI_ERROR_NONE ? thread : NULL;
    }
    jobject continuation = (*env)->GetObjectField(env, carrier, mounted.continuation);
    jobject body = follow(env, continuation, mounted.target);
    if (body != NULL && !(*env)->IsInstanceOf(env, body, mounted.body)) {
        (*env)->DeleteLocalRef(env, body);
        return NULL; // a continuation that is not a virtual thread
    }
    return follow(env, body, mounted.thread);
}
