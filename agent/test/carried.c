// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The span that the agent publishes for the current thread, as other programs read it (OTEP 4947),
// for test/java/Carried.java.

#include <dlfcn.h>
#include <jni.h>
#include <stddef.h>
#include <stdint.h>

JNIEXPORT jint JNICALL Java_Carried_published(JNIEnv *env, jclass class, jstring agent);

// The last byte of its id; 0: none, -1: the agent publishes nothing.
JNIEXPORT jint JNICALL Java_Carried_published(JNIEnv *env, jclass class, jstring agent) {
    enum { LAST_BYTE = 23, VALID = 24 };
    (void)class;
    const char *path = (*env)->GetStringUTFChars(env, agent, NULL);
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    const uint8_t *const *slot = library == NULL ? NULL : dlsym(library, "otel_thread_ctx_v1");
    if (path != NULL) {
        (*env)->ReleaseStringUTFChars(env, agent, path);
    }
    if (slot == NULL) {
        return -1;
    }
    return *slot == NULL || (*slot)[VALID] != 1 ? 0 : (*slot)[LAST_BYTE];
}
