// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does the JVM's spelling become ours?

#ifndef WEFT_NAMES_H
#define WEFT_NAMES_H

// Turns a class signature into a binary name in place: Lcom/acme/Main$1; becomes com.acme.Main$1,
// and [Ljava/lang/String; becomes [Ljava.lang.String;. Returns the start of the name.
char *weft_names_binary(char *signature);

// Turns modified UTF-8 into UTF-8 in place: pairs of surrogates become one character, the two-byte
// zero becomes a question mark, surrogates that stand alone too. The result is never longer.
void weft_names_utf8(char *text);

#endif
