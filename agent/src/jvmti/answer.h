// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the agent answers to an attach.

#pragma once

#include <jni.h>
#include <stdbool.h>

// Where the options of the session come from.
enum weft_answer_origin {
    WEFT_ANSWER_GIVEN,               // from the command line or an attach
    WEFT_ANSWER_ENVIRONMENT,         // the agent was started by weft-otel.jar
    WEFT_ANSWER_ENVIRONMENT_IGNORED, // as the first, but the jar was loaded too
};

// Reports the result to the attaching program in a file, and closes it. The first line is "ok" or
// "error" with a message; the next, after "# ", states where events go, further ones what else a
// user should know; then follow the options in effect.
void weft_answer_write(JavaVM *vm, int fd, bool ok, const char *what,
                       enum weft_answer_origin origin);
