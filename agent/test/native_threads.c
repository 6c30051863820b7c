// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attaches native threads to the JVM, works there and detaches, for test/java/Native.java, and
// calls Java from a native frame, for test/java/Pinned.java.

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum command { ATTACH, WORK, LEAVE, COME_AND_GO, CALM, DONE };

enum { VISITORS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum command command = DONE;
static JavaVM *vm;
static jclass class;
static jmethodID work;
static atomic_bool calm;
static pthread_t visitors[VISITORS];

// Attaches and detaches until all is calm.
static void *visit(void *nothing) {
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "visitor", NULL};
    JNIEnv *env = NULL;
    while (!atomic_load(&calm)) {
        (*vm)->AttachCurrentThread(vm, (void **)&env, &args);
        (*vm)->DetachCurrentThread(vm);
    }
    return nothing;
}

static void obey(enum command what) {
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "worker-native", NULL};
    JNIEnv *env = NULL;
    if (what == ATTACH) {
        (*vm)->AttachCurrentThread(vm, (void **)&env, &args);
    } else if (what == LEAVE) {
        (*vm)->DetachCurrentThread(vm);
    } else if (what == COME_AND_GO) {
        for (int i = 0; i < VISITORS; i++) {
            pthread_create(&visitors[i], NULL, visit, NULL);
        }
    } else if (what == CALM) {
        atomic_store(&calm, true);
        for (int i = 0; i < VISITORS; i++) {
            pthread_join(visitors[i], NULL);
        }
    } else if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK) {
        (*env)->CallStaticVoidMethod(env, class, work);
        (*env)->ExceptionClear(env);
    }
}

static void *run(void *nothing) {
    (void)nothing;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (command == DONE) {
            pthread_cond_wait(&changed, &mutex);
        }
        obey(command);
        command = DONE;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

JNIEXPORT void JNICALL Java_Native_command(JNIEnv *env, jclass caller, jint what);

// Returns when it is done.
JNIEXPORT void JNICALL Java_Native_command(JNIEnv *env, jclass caller, jint what) {
    pthread_t thread;
    if (vm == NULL) {
        (*env)->GetJavaVM(env, &vm);
        class = (*env)->NewGlobalRef(env, caller);
        work = (*env)->GetStaticMethodID(env, caller, "work", "()V");
        pthread_create(&thread, NULL, run, NULL);
    }
    pthread_mutex_lock(&mutex);
    command = (enum command)what;
    pthread_cond_broadcast(&changed);
    while (command != DONE) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

JNIEXPORT void JNICALL Java_Pinned_below(JNIEnv *env, jclass caller, jobject body);

// Calls Java from a native frame.
JNIEXPORT void JNICALL Java_Pinned_below(JNIEnv *env, jclass caller, jobject body) {
    (void)caller;
    jmethodID method = (*env)->GetMethodID(env, (*env)->GetObjectClass(env, body), "run", "()V");
    (*env)->CallVoidMethod(env, body, method);
}
