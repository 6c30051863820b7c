// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is this JVM called, and what runs in it? The resource attributes of a session.

#ifndef WEFT_DESCRIBE_H
#define WEFT_DESCRIBE_H

#include <jni.h>

#include "send/resource.h"

// Adds all that is known; service is the option's value or empty. Calls Java.
void weft_describe(JNIEnv *env, struct weft_resource *resource, const char *service);

#endif
