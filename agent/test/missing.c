// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A JVM that lacks something. Linked into a copy of the agent with --wrap, it does not find what
// WEFT_MISSING names, and appends to the file WEFT_FOUND the names of all that it does find.

#include <fcntl.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hotspot/vmstructs.h"

bool __real_weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset);
bool __wrap_weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset);
bool __real_weft_vmstructs_static(const char *type, const char *field, uintptr_t *value);
bool __wrap_weft_vmstructs_static(const char *type, const char *field, uintptr_t *value);
bool __real_weft_vmstructs_size(const char *type, uint64_t *size);
bool __wrap_weft_vmstructs_size(const char *type, uint64_t *size);
bool __real_weft_vmstructs_constant(const char *name, int32_t *value);
bool __wrap_weft_vmstructs_constant(const char *name, int32_t *value);
jfieldID __real_weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature);
jfieldID __wrap_weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature);

// Returns what the agent sees: the item is there, and not missing.
static bool seen(bool found, const char *type, const char *name) {
    char line[256];
    snprintf(line, sizeof line, "%s.%s\n", type, name);
    const char *file = getenv("WEFT_FOUND");
    if (found && file != NULL) {
        int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        ssize_t n = write(fd, line, strlen(line));
        (void)n;
        close(fd);
    }
    const char *missing = getenv("WEFT_MISSING");
    line[strlen(line) - 1] = '\0';
    return found && (missing == NULL || strcmp(missing, line) != 0);
}

bool __wrap_weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    return seen(__real_weft_vmstructs_offset(type, field, offset), type, field);
}

bool __wrap_weft_vmstructs_static(const char *type, const char *field, uintptr_t *value) {
    return seen(__real_weft_vmstructs_static(type, field, value), type, field);
}

bool __wrap_weft_vmstructs_size(const char *type, uint64_t *size) {
    return seen(__real_weft_vmstructs_size(type, size), type, "size");
}

bool __wrap_weft_vmstructs_constant(const char *name, int32_t *value) {
    return seen(__real_weft_vmstructs_constant(name, value), "constant", name);
}

jfieldID __wrap_weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jfieldID field = __real_weft_jvm_field(env, class, name, signature);
    return seen(field != NULL, "field", name) ? field : NULL;
}
