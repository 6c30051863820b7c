// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>

// Writes a text to out, with an escape such as \x1b for each byte that could move a terminal's
// cursor, begin a line, or reorder or hide text. Options come from environment variables and files
// that others may have written. The text ends early if out is full. Returns out.
const char *weft_printable_text(const char *text, char *out, size_t size);
