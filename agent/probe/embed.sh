#!/bin/sh
# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles ThreadProbe.java to class file version 52 (Java 8) and prints it as the C array
# ../src/jvmti/probe_class.h. Run it with any JDK from 8 to 25: probe/embed.sh > src/jvmti/probe_class.h
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
${JAVAC:-javac} -nowarn -g:none -source 8 -target 8 -d "$out" java/lang/ThreadProbe.java 2>/dev/null
cat <<'HEAD'
// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of java.lang.ThreadProbe, made by probe/embed.sh from probe/java/lang/ThreadProbe.java;
// do not edit.

#pragma once

static const unsigned char weft_probe_class[] = {
HEAD
od -An -v -tx1 -w12 "$out/java/lang/ThreadProbe.class" | sed -e 's/ \([0-9a-f][0-9a-f]\)/ 0x\1,/g' -e 's/^ /    /'
echo '};'
