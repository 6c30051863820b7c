// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The agent of this JVM: how it is started, changed and ended.

#pragma once

#include <jni.h>

#include "options/values.h"

// As Agent_OnLoad and Agent_OnAttach.
jint weft_agent_load(JavaVM *vm, char *text, void *reserved);
jint weft_agent_attach(JavaVM *vm, char *text, void *reserved);

enum weft_agent_outcome {
    WEFT_AGENT_STARTED,
    WEFT_AGENT_PRESENT, // started before, or another thread is starting or ending it
    WEFT_AGENT_FAILED,
};

// Starts the agent with the options of the environment, on a thread of the program. Text becomes
// what does not work in this JVM, or the reason why the agent was not started.
enum weft_agent_outcome weft_agent_start(JavaVM *vm, char text[WEFT_PROBLEM_MAX]);
