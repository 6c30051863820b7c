// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/answer.h"

#include <stdio.h>
#include <unistd.h>

#include "hotspot/notices.h"
#include "jvmti/sdk.h"
#include "jvmti/session.h"
#include "send/control.h"
#include "send/sender.h"

enum { LOCAL_REFERENCES = 32 };

static void write_line(void *to, const char *key, const char *value) {
    dprintf(*(int *)to, "%s=%s\n", key, value);
}

static void write_note(void *to, const char *text) {
    dprintf(*(int *)to, "# %s\n", text);
}

static void write_notes(JavaVM *vm, int fd) {
    JNIEnv *env = NULL;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK &&
        (*env)->PushLocalFrame(env, LOCAL_REFERENCES) == JNI_OK) {
        weft_notices_show(write_note, &fd);
        weft_sdk_show(env, write_note, &fd);
        (*env)->PopLocalFrame(env, NULL);
    }
}

static void write_origin(int fd, enum weft_answer_origin origin) {
    if (origin == WEFT_ANSWER_ENVIRONMENT) {
        write_note(&fd,
                   "weft-otel.jar has started the agent, with the options of WEFT_* variables");
    } else if (origin == WEFT_ANSWER_ENVIRONMENT_IGNORED) {
        write_note(&fd, "WEFT_* variables have no effect: the agent was started before "
                        "weft-otel.jar could do so");
    }
}

void weft_answer_write(JavaVM *vm, int fd, bool ok, const char *what,
                       enum weft_answer_origin origin) {
    dprintf(fd, "%s%s%s\n", ok ? "ok" : "error", what[0] == '\0' ? "" : " ", what);
    if (ok && weft_session_runs()) {
        char where[WEFT_WHEREABOUTS_MAX];
        weft_sender_whereabouts(where);
        dprintf(fd, "# %s\n", where);
        write_notes(vm, fd);
        write_origin(fd, origin);
    }
    if (weft_session_runs()) {
        struct weft_options in_effect = weft_control_options();
        weft_options_show(&in_effect, write_line, &fd);
    }
    close(fd);
}
