// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other copies of this library in the same JVM. The dynamic linker loads a library again if it is
// another file, with variables of its own: both copies would install hooks and send each event.

#pragma once

#include <jni.h>
#include <stdbool.h>

// Agent_OnAttach of the copy that is in use; NULL if there is none besides this one.
typedef jint(JNICALL *weft_copies_attach)(JavaVM *vm, char *options, void *reserved);

weft_copies_attach weft_copies_find(void);

// Notes that this copy is the agent of the JVM, with or without a session.
void weft_copies_use(void);

// Whether it is. Exported: other copies look it up by its name.
JNIEXPORT bool weft_copies_in_use(void);
