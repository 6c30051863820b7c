// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/leave.h"

#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "record/self.h"

struct request {
    void (*leave)(uint64_t session);
    uint64_t session;
};

static void *run(void *given) {
    struct request request = *(struct request *)given;
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "weft-leave", NULL};
    free(given);
    weft_self_hide(true); // before the JVM reports the start of this thread
    if ((*weft_jvm.vm)->AttachCurrentThreadAsDaemon(weft_jvm.vm, (void **)&env, &args) == JNI_OK) {
        request.leave(request.session);
        (*weft_jvm.vm)->DetachCurrentThread(weft_jvm.vm);
    }
    return NULL;
}

bool weft_leave_request(void (*leave)(uint64_t session), uint64_t session) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t old;
    struct request *request = malloc(sizeof *request);
    if (request == NULL) {
        return false;
    }
    *request = (struct request){leave, session};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)1024 * 1024); // it calls Java
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(&thread, &attributes, run, request) == 0;
    if (!ok) {
        free(request);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return ok;
}
