// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/joins.h"

#include "hotspot/jvm.h"

enum { FRAMES = 4 }; // Object.wait0, wait, and join, which all other methods of the name call

static jmethodID join; // NULL: not found

void weft_joins_init(JNIEnv *env) {
    join = (*env)->GetMethodID(env, weft_jvm.thread, "join", "(J)V");
    if (weft_jvm_clear_exception(env)) {
        join = NULL;
    }
}

bool weft_joins(jthread thread) {
    jvmtiFrameInfo frames[FRAMES];
    jint count = 0;
    if (join == NULL ||
        (*weft_jvm.ti)->GetStackTrace(weft_jvm.ti, thread, 0, FRAMES, frames, &count) !=
            JVMTI_ERROR_NONE) {
        return true; // most are
    }
    for (jint i = 0; i < count; i++) {
        if (frames[i].method == join) {
            return true;
        }
    }
    return false;
}
