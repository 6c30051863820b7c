// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The resource attributes that describe the JVM and the program.

#pragma once

#include <jni.h>

#include "send/resource.h"

// Adds all attributes; service is the option's value or empty. Calls Java.
void weft_describe(JNIEnv *env, struct weft_resource *resource, const char *service);
