// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts the JVM's names to those of the protocol.

#pragma once

// The class of class objects.
#define WEFT_NAMES_MIRROR "java.lang.Class"

// Turns a class signature into a binary name in place: Lcom/acme/Main$1; becomes com.acme.Main$1,
// and [Ljava/lang/String; becomes [Ljava.lang.String;. Returns the start of the name.
char *weft_names_binary(char *signature);

// Turns modified UTF-8 into UTF-8 in place: a surrogate pair becomes one character, a two-byte zero
// or a lone surrogate becomes a question mark. The result is never longer.
void weft_names_utf8(char *text);
