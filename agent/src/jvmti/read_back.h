// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads back which methods of a class call the agent, in the bytecode that the JVM runs.

#pragma once

#include <jvmti.h>
#include <stdint.h>

#include "classfile/rewrite.h"

// A bit for each call, in the order of the list; 0 also on failure. The environment needs the
// capabilities can_get_bytecodes and can_get_constant_pool.
uint32_t weft_read_back(jvmtiEnv *ti, jclass class, const struct weft_calls *calls);
