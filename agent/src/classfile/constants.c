// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/constants.h"

#include <stdlib.h>
#include <string.h>

// Numbers of the class file format.
enum {
    UTF8 = 1,
    LONG = 5,
    DOUBLE = 6,
    CLASS = 7,
    FIELD = 9,
    INTERFACE_METHOD = 11,
    NAME_AND_TYPE = 12,
    INVOKE_DYNAMIC = 18,
    TAGS = 21,
};

// The bytes after each tag; 0: unknown. A text has more.
static const uint8_t sizes[TAGS] = {0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

static uint16_t u16(const struct weft_constants *c, size_t at) {
    return (uint16_t)(c->bytes[at] << 8 | c->bytes[at + 1]);
}

bool weft_constants_open(struct weft_constants *c, const uint8_t *bytes, size_t len,
                         uint32_t count) {
    *c = (struct weft_constants){.bytes = bytes, .len = len, .count = count};
    c->offsets = calloc((size_t)count + 1, sizeof *c->offsets);
    if (c->offsets == NULL || len > UINT32_MAX) {
        return false;
    }
    size_t at = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint8_t tag = at < len ? bytes[at] : 0;
        size_t size = tag < TAGS ? sizes[tag] : 0;
        if (size == 0 || len - at <= size) {
            return false;
        }
        c->offsets[i] = (uint32_t)at + 1; // after the tag
        if (tag == UTF8) {
            size += u16(c, at + 1);
        }
        if (len - at <= size) {
            return false;
        }
        at += 1 + size;
        i += tag == LONG || tag == DOUBLE; // they take two entries
    }
    c->size = at;
    return true;
}

void weft_constants_close(struct weft_constants *c) {
    free(c->offsets);
    *c = (struct weft_constants){0};
}

// Returns the position of an entry with a tag between two, 0 if there is none.
static uint32_t find(const struct weft_constants *c, uint16_t index, uint8_t least, uint8_t most) {
    uint32_t at = index < c->count ? c->offsets[index] : 0;
    return at != 0 && c->bytes[at - 1] >= least && c->bytes[at - 1] <= most ? at : 0;
}

bool weft_constants_text(const struct weft_constants *c, uint16_t index, struct weft_text *t) {
    uint32_t at = find(c, index, UTF8, UTF8);
    if (at == 0) {
        return false;
    }
    *t = (struct weft_text){(const char *)c->bytes + at + 2, u16(c, at)};
    return true;
}

bool weft_constants_member(const struct weft_constants *c, uint16_t index, struct weft_member *m) {
    *m = (struct weft_member){{"", 0}, {"", 0}, {"", 0}};
    uint32_t at = find(c, index, FIELD, INTERFACE_METHOD);
    if (at != 0) {
        uint32_t class_at = find(c, u16(c, at), CLASS, CLASS);
        if (class_at == 0 || !weft_constants_text(c, u16(c, class_at), &m->class_name)) {
            return false;
        }
    } else {
        at = find(c, index, INVOKE_DYNAMIC, INVOKE_DYNAMIC);
    }
    uint32_t pair = at == 0 ? 0 : find(c, u16(c, at + 2), NAME_AND_TYPE, NAME_AND_TYPE);
    return pair != 0 && weft_constants_text(c, u16(c, pair), &m->name) &&
           weft_constants_text(c, u16(c, pair + 2), &m->descriptor);
}

// Counts the slots of a descriptor's type, 0 for void, and moves to the next one.
static unsigned slots_of(const char **at, const char *end) {
    const char *p = *at;
    unsigned slots = p < end && *p == 'V' ? 0 : 1;
    if (p < end && (*p == 'J' || *p == 'D')) {
        slots = 2;
    }
    while (p < end && *p == '[') {
        p++;
    }
    if (p < end && *p == 'L') {
        const char *semicolon = memchr(p, ';', (size_t)(end - p));
        p = semicolon == NULL ? end : semicolon;
    }
    *at = p < end ? p + 1 : end;
    return slots;
}

unsigned weft_constants_arguments(const struct weft_text *descriptor, unsigned *result) {
    const char *at = descriptor->at;
    const char *end = at + descriptor->len;
    unsigned count = 0;
    if (at < end) {
        at++;
    }
    while (at < end && *at != ')') {
        count += slots_of(&at, end);
    }
    if (at < end) {
        at++;
    }
    *result = slots_of(&at, end);
    return count;
}

unsigned weft_constants_slots(const struct weft_text *descriptor) {
    const char *at = descriptor->at;
    return slots_of(&at, at + descriptor->len);
}
