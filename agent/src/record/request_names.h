// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of requests. They are defined as classes are, with ids of the same numbers.

#pragma once

#include <stdint.h>

// Names that contain ids of customers or orders could be any number.
enum { WEFT_REQUEST_NAMES = 1024 };

// Returns the id of a name in modified UTF-8, which is converted in place; 0 if there are too many
// names, or the log is full.
uint32_t weft_request_names_id(char *name);
