// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/receiver_name.h"

#include <string.h>

#include "wire/names.h"

// Appends a text to a name, or returns false if it does not fit.
static bool add(char *name, const char *text, size_t len) {
    size_t used_len = strlen(name);
    if (len >= WEFT_RECEIVER_MAX - used_len) {
        return false;
    }
    memcpy(name + used_len, text, len);
    name[used_len + len] = '\0';
    return true;
}

// Appends the class without its package, and the name.
static bool add_member(char *name, const struct weft_member *m) {
    static const char captured[] = "val$";
    const size_t prefix = sizeof captured - 1;
    if (m->name.len > prefix && memcmp(m->name.at, captured, prefix) == 0) {
        return add(name, "local ", strlen("local ")) &&
               add(name, m->name.at + prefix, m->name.len - prefix);
    }
    size_t start = m->class_name.len;
    while (start > 0 && m->class_name.at[start - 1] != '/') {
        start--;
    }
    return add(name, m->class_name.at + start, m->class_name.len - start) && add(name, ".", 1) &&
           add(name, m->name.at, m->name.len);
}

static bool write_name(const struct weft_constants *constants, struct weft_source v, char *name) {
    struct weft_member m;
    struct weft_member field;
    name[0] = '\0';
    if ((v.kind != WEFT_FIELD && v.kind != WEFT_CALL) ||
        !weft_constants_member(constants, v.member, &m)) {
        return false;
    }
    if (v.kind == WEFT_FIELD) {
        return add_member(name, &m);
    }
    if (v.of == 0) {
        return add_member(name, &m) && add(name, "()", 2);
    }
    return weft_constants_member(constants, v.of, &field) && add_member(name, &field) &&
           add(name, ".", 1) && add(name, m.name.at, m.name.len) && add(name, "()", 2);
}

bool weft_receiver_name(const struct weft_code *code, uint32_t at, enum weft_use use,
                        char name[WEFT_RECEIVER_MAX]) {
    if (!write_name(code->constants, weft_receiver_find(code, at, use), name)) {
        return false;
    }
    weft_names_utf8(name);
    return true;
}
