// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Other copies of this library in the same JVM. The dynamic linker loads a library again if it is
// another file, with variables of its own: both copies would install hooks and send each event.

#pragma once

#include <jni.h>

// Agent_OnAttach of the copy that is in use; NULL if there is none besides this one.
typedef jint(JNICALL *weft_copies_attach)(JavaVM *vm, char *options, void *reserved);

weft_copies_attach weft_copies_find(void);
