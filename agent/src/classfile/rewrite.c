// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "classfile/rewrite.h"

#include <stdbool.h>
#include <string.h>

#include "classfile/constants.h"
#include "classfile/input.h"
#include "classfile/prologue.h"
#include "classfile/put.h"

enum { MAGIC = 0xCAFEBABE, MAX_CONSTANTS = 65535 };
enum { TAG_UTF8 = 1, TAG_CLASS = 7, TAG_METHOD = 10, TAG_NAME_AND_TYPE = 12 };
enum { STATIC = 0x0008, NATIVE = 0x0100, ABSTRACT = 0x0400 };

struct rewriting {
    struct weft_input in;
    struct weft_constants pool;
    const struct weft_calls *calls;
    uint16_t callees[WEFT_MAX_CALLS]; // constant pool indexes
    uint32_t added;                   // a bit per call
    struct weft_bytes *out;
};

static void copy(struct rewriting *r, size_t len) {
    const uint8_t *at = weft_input_skip(&r->in, len);
    if (at != NULL) {
        weft_bytes_append(r->out, at, len);
    }
}

static void put_text(struct weft_bytes *out, const char *text) {
    size_t len = strlen(text);
    weft_put_u8(out, TAG_UTF8);
    weft_put_u16(out, (uint32_t)len);
    weft_bytes_append(out, text, len);
}

// Copies the constant pool and appends what the calls need. The old entries keep their indexes.
static bool extend_pool(struct rewriting *r) {
    uint16_t count = weft_input_u16(&r->in);
    const uint8_t *entries = r->in.at;
    size_t more = 3 + 3 * r->calls->count;
    if (r->in.failed || count == 0 || count + more > MAX_CONSTANTS ||
        !weft_constants_open(&r->pool, entries, r->in.left, count)) {
        return false;
    }
    weft_put_u16(r->out, (uint32_t)(count + more));
    copy(r, r->pool.size);
    uint16_t at = count; // class name, class, descriptor
    put_text(r->out, r->calls->class_name);
    weft_put_u8(r->out, TAG_CLASS);
    weft_put_u16(r->out, at);
    put_text(r->out, r->calls->descriptor);
    for (size_t i = 0; i < r->calls->count; i++) {
        uint16_t name = (uint16_t)(at + 3 + 3 * i);
        put_text(r->out, r->calls->list[i].callee);
        weft_put_u8(r->out, TAG_NAME_AND_TYPE);
        weft_put_u16(r->out, name);
        weft_put_u16(r->out, at + 2u);
        weft_put_u8(r->out, TAG_METHOD);
        weft_put_u16(r->out, at + 1u);
        weft_put_u16(r->out, name + 1u);
        r->callees[i] = (uint16_t)(name + 2);
    }
    return true;
}

static void copy_attributes(struct rewriting *r) {
    uint16_t count = weft_input_u16(&r->in);
    weft_put_u16(r->out, count);
    for (uint16_t i = 0; i < count && !r->in.failed; i++) {
        weft_put_u16(r->out, weft_input_u16(&r->in));
        uint32_t len = weft_input_u32(&r->in);
        weft_put_u32(r->out, len);
        copy(r, len);
    }
}

// Copies flags, name and descriptor of a field or method. Returns the index of the call to add, or
// the number of calls if there is none.
static size_t copy_head(struct rewriting *r, uint16_t *flags) {
    struct weft_text name;
    struct weft_text descriptor;
    *flags = weft_input_u16(&r->in);
    uint16_t name_at = weft_input_u16(&r->in);
    uint16_t descriptor_at = weft_input_u16(&r->in);
    weft_put_u16(r->out, *flags);
    weft_put_u16(r->out, name_at);
    weft_put_u16(r->out, descriptor_at);
    if (!weft_constants_text(&r->pool, name_at, &name) ||
        !weft_constants_text(&r->pool, descriptor_at, &descriptor)) {
        r->in.failed = true;
        return r->calls->count;
    }
    for (size_t i = 0; i < r->calls->count; i++) {
        const struct weft_call *call = &r->calls->list[i];
        if (weft_constants_is(&name, call->method) &&
            weft_constants_is(&descriptor, call->descriptor)) {
            return i;
        }
    }
    return r->calls->count;
}

static void add_call(struct rewriting *r, size_t call, struct weft_input *code) {
    struct weft_bytes changed = {0};
    bool ok = weft_prologue_add(&r->pool, code->at, code->left, r->callees[call], &changed);
    weft_put_u32(r->out, (uint32_t)changed.len);
    weft_bytes_append(r->out, changed.data, changed.len);
    weft_bytes_free(&changed);
    uint32_t bit = UINT32_C(1) << call;
    r->in.failed = r->in.failed || !ok || (r->added & bit) != 0;
    r->added |= bit;
}

static void copy_method(struct rewriting *r) {
    uint16_t flags;
    size_t call = copy_head(r, &flags);
    if (call == r->calls->count || r->in.failed) {
        copy_attributes(r);
        return;
    }
    r->in.failed = (flags & (STATIC | NATIVE | ABSTRACT)) != 0;
    uint16_t count = weft_input_u16(&r->in);
    weft_put_u16(r->out, count);
    for (uint16_t i = 0; i < count && !r->in.failed; i++) {
        struct weft_text name;
        uint16_t index = weft_input_u16(&r->in);
        struct weft_input content = weft_input_part(&r->in, weft_input_u32(&r->in));
        if (content.failed || !weft_constants_text(&r->pool, index, &name)) {
            r->in.failed = true;
            return;
        }
        weft_put_u16(r->out, index);
        if (weft_constants_is(&name, "Code")) {
            add_call(r, call, &content);
        } else {
            weft_put_u32(r->out, (uint32_t)content.left);
            weft_bytes_append(r->out, content.at, content.left);
        }
    }
    r->in.failed = r->in.failed || (r->added >> call & 1) == 0;
}

static void copy_members(struct rewriting *r, bool methods) {
    uint16_t count = weft_input_u16(&r->in);
    weft_put_u16(r->out, count);
    for (uint16_t i = 0; i < count && !r->in.failed; i++) {
        if (methods) {
            copy_method(r);
        } else {
            copy(r, 6);
            copy_attributes(r);
        }
    }
}

uint32_t weft_rewrite(const uint8_t *file, size_t len, const struct weft_calls *calls,
                      struct weft_bytes *out) {
    struct rewriting r = {.in = {file, len, false}, .calls = calls, .out = out};
    if (calls->count > WEFT_MAX_CALLS || weft_input_u32(&r.in) != MAGIC) {
        return 0;
    }
    weft_put_u32(out, MAGIC);
    copy(&r, 4); // version
    if (extend_pool(&r)) {
        copy(&r, 6); // flags, class, superclass
        uint16_t interfaces = weft_input_u16(&r.in);
        weft_put_u16(out, interfaces);
        copy(&r, 2 * (size_t)interfaces);
        copy_members(&r, false);
        copy_members(&r, true);
        copy_attributes(&r);
    } else {
        r.in.failed = true;
    }
    weft_constants_close(&r.pool);
    return r.in.failed || r.in.left != 0 || out->failed ? 0 : r.added;
}
