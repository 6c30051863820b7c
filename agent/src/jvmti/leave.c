// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/leave.h"

#include <jni.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "record/self.h"
#include "wire/thread.h"

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
    struct request *request = malloc(sizeof *request);
    if (request == NULL) {
        return false;
    }
    *request = (struct request){leave, session};
    bool ok = weft_thread_start(run, request, (size_t)1024 * 1024); // it calls Java
    if (!ok) {
        free(request);
    }
    return ok;
}
