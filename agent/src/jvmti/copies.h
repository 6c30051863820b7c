// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of this library in one process: the same file under several paths, such as one given with
// -agentpath, one next to weft-otel.jar and one that weft attach brought. Each has variables of its
// own, but there is one agent: that of the copy that was loaded first. The others call it.

#pragma once

#include <jni.h>
#include <stdbool.h>

// What a copy calls in another one, which may be of another version: the types stay as they are.
struct weft_copies_calls {
    jint (*load)(JavaVM *vm, char *text, void *reserved);
    jint (*attach)(JavaVM *vm, char *text, void *reserved);
    // Of a class loader that has another copy: its native methods are to be those of this one.
    jstring (*begin)(JNIEnv *env, bool another);
};

extern const struct weft_copies_calls weft_copies_calls;

// The calls of the first copy. Libraries are never unloaded, so the answer does not change.
const struct weft_copies_calls *weft_copies_first(void);
