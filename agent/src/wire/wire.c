// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/wire.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct weft_record) == WEFT_RECORD_SIZE,
              "a record in memory is one on the wire");

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "records are copied as they are: the agent needs a little-endian machine"
#endif

static void put_u16(struct weft_bytes *b, uint16_t v) {
    weft_bytes_append(b, &v, sizeof v);
}

static void put_u32(struct weft_bytes *b, uint32_t v) {
    weft_bytes_append(b, &v, sizeof v);
}

static void put_u64(struct weft_bytes *b, uint64_t v) {
    weft_bytes_append(b, &v, sizeof v);
}

static void put_i64(struct weft_bytes *b, int64_t v) {
    weft_bytes_append(b, &v, sizeof v);
}

static void put_string(struct weft_bytes *b, const char *s) {
    size_t len = s == NULL ? 0 : strlen(s);
    if (len > WEFT_MAX_STRING) {
        len = WEFT_MAX_STRING;
        while (len > 0 && ((unsigned char)s[len] & 0xC0U) == 0x80U) {
            len--; // keep characters whole
        }
    }
    put_u16(b, (uint16_t)len);
    weft_bytes_append(b, s, len);
}

static void overwrite(struct weft_bytes *b, size_t at, const void *data, size_t len) {
    if (!b->failed) {
        memcpy(b->data + at, data, len);
    }
}

static size_t open_frame(struct weft_bytes *b, uint16_t kind) {
    size_t at = b->len;
    put_u32(b, 0);
    put_u16(b, kind);
    put_u16(b, 0);
    return at;
}

static void close_frame(struct weft_bytes *b, size_t at) {
    uint32_t length = (uint32_t)(b->len - at - WEFT_FRAME_HEADER_SIZE);
    overwrite(b, at, &length, sizeof length);
}

void weft_wire_put_preamble(struct weft_bytes *b) {
    weft_bytes_append(b, "WEFT", 4);
    put_u16(b, WEFT_PROTOCOL_VERSION);
    put_u16(b, 0);
}

static void put_attributes(struct weft_bytes *b, const struct weft_attribute *list,
                           uint16_t count) {
    put_u16(b, count);
    for (uint16_t i = 0; i < count; i++) {
        put_string(b, list[i].key);
        put_string(b, list[i].value);
    }
}

void weft_wire_put_hello(struct weft_bytes *b, const struct weft_hello *hello) {
    size_t at = open_frame(b, WEFT_FRAME_HELLO);
    weft_bytes_append(b, hello->session, sizeof hello->session);
    put_i64(b, hello->wall);
    put_i64(b, hello->monotonic);
    put_u32(b, hello->pid);
    put_u64(b, hello->acked);
    put_attributes(b, hello->attributes, hello->attribute_count);
    static const uint8_t none[sizeof hello->secret];
    if (hello->header_count > 0 || memcmp(hello->secret, none, sizeof none) != 0) {
        weft_bytes_append(b, hello->secret, sizeof hello->secret);
    }
    if (hello->header_count > 0) {
        put_attributes(b, hello->headers, hello->header_count);
    }
    close_frame(b, at);
}

void weft_wire_put_thread(struct weft_bytes *b, uint64_t id, uint16_t flags, const char *name,
                          const char *group) {
    size_t at = open_frame(b, WEFT_FRAME_THREAD);
    put_u64(b, id);
    put_u16(b, flags);
    put_string(b, name);
    put_string(b, group);
    close_frame(b, at);
}

void weft_wire_put_class(struct weft_bytes *b, uint32_t id, const char *name) {
    size_t at = open_frame(b, WEFT_FRAME_CLASS);
    put_u32(b, id);
    put_string(b, name);
    close_frame(b, at);
}

void weft_wire_put_method(struct weft_bytes *b, uint32_t id, uint32_t class_id, const char *name,
                          const char *signature, const char *file, const struct weft_line *lines,
                          uint16_t line_count) {
    size_t at = open_frame(b, WEFT_FRAME_METHOD);
    put_u32(b, id);
    put_u32(b, class_id);
    put_string(b, name);
    put_string(b, signature);
    put_string(b, file);
    put_u16(b, line_count);
    weft_bytes_append(b, lines, (size_t)line_count * sizeof *lines);
    close_frame(b, at);
}

void weft_wire_put_stack(struct weft_bytes *b, uint32_t id, uint16_t flags,
                         const struct weft_frame *frames, uint16_t frame_count,
                         const struct weft_named_lock *lock) {
    size_t at = open_frame(b, WEFT_FRAME_STACK);
    put_u32(b, id);
    put_u16(b, flags);
    put_u16(b, frame_count);
    weft_bytes_append(b, frames, (size_t)frame_count * sizeof *frames);
    if (lock->name[0] != '\0') {
        put_u16(b, lock->frame);
        put_string(b, lock->name);
    }
    close_frame(b, at);
}

void weft_wire_put_end(struct weft_bytes *b, int64_t time, uint16_t reason) {
    size_t at = open_frame(b, WEFT_FRAME_END);
    put_i64(b, time);
    put_u16(b, reason);
    close_frame(b, at);
}

void weft_wire_put_clock(struct weft_bytes *b, int64_t wall, int64_t monotonic) {
    size_t at = open_frame(b, WEFT_FRAME_CLOCK);
    put_i64(b, wall);
    put_i64(b, monotonic);
    close_frame(b, at);
}

size_t weft_wire_open_batch(struct weft_bytes *b, uint64_t sequence, int64_t watermark,
                            uint64_t before) {
    size_t at = open_frame(b, WEFT_FRAME_BATCH);
    put_u64(b, sequence);
    put_i64(b, watermark);
    put_u64(b, before);
    return at;
}

size_t weft_wire_open_section(struct weft_bytes *b, uint64_t thread) {
    size_t at = b->len;
    put_u64(b, thread);
    put_u32(b, 0);
    put_u16(b, WEFT_RECORD_SIZE);
    put_u16(b, 0);
    return at;
}

void weft_wire_put_record(struct weft_bytes *b, const struct weft_record *record) {
    weft_bytes_append(b, record, sizeof *record);
}

void weft_wire_close_section(struct weft_bytes *b, size_t section, uint32_t count) {
    overwrite(b, section + 8, &count, sizeof count);
}

void weft_wire_set_watermark(struct weft_bytes *b, size_t batch, int64_t watermark) {
    overwrite(b, batch + WEFT_FRAME_HEADER_SIZE + 8, &watermark, sizeof watermark);
}

void weft_wire_close_batch(struct weft_bytes *b, size_t batch) {
    close_frame(b, batch);
}

size_t weft_wire_open_aggregate(struct weft_bytes *b, uint64_t sequence, int64_t watermark,
                                uint64_t before, int64_t from, int64_t to, int32_t scale) {
    size_t at = open_frame(b, WEFT_FRAME_AGGREGATE);
    put_u64(b, sequence);
    put_i64(b, watermark);
    put_u64(b, before);
    put_i64(b, from);
    put_i64(b, to);
    put_u32(b, (uint32_t)scale);
    put_u32(b, 0);
    return at;
}

void weft_wire_put_series(struct weft_bytes *b, const struct weft_series *series,
                          const uint64_t *buckets, uint16_t count) {
    struct weft_series s = *series;
    s.size = (uint16_t)(sizeof s + count * sizeof *buckets);
    s.buckets = count;
    weft_bytes_append(b, &s, sizeof s);
    weft_bytes_append(b, buckets, count * sizeof *buckets);
}

size_t weft_wire_open_status(struct weft_bytes *b, uint32_t id, const char *error) {
    size_t at = open_frame(b, WEFT_FRAME_STATUS);
    put_u32(b, id);
    put_string(b, error);
    put_u16(b, 0);
    return at;
}

void weft_wire_put_option(struct weft_bytes *b, const char *key, const char *value) {
    put_string(b, key);
    put_string(b, value);
}

void weft_wire_close_status(struct weft_bytes *b, size_t status) {
    close_frame(b, status);
    if (b->failed) {
        return;
    }
    // Counts the strings that follow, in pairs.
    size_t at = status + WEFT_FRAME_HEADER_SIZE + sizeof(uint32_t);
    uint16_t len;
    uint16_t strings = 0;
    memcpy(&len, b->data + at, sizeof len);
    size_t count_at = at + sizeof len + len;
    for (at = count_at + sizeof len; at < b->len; at += sizeof len + len, strings++) {
        memcpy(&len, b->data + at, sizeof len);
    }
    strings /= 2;
    overwrite(b, count_at, &strings, sizeof strings);
}

static size_t skip_string(const uint8_t *data, size_t len, size_t at) {
    uint16_t size;
    if (at + sizeof size > len) {
        return len + 1;
    }
    memcpy(&size, data + at, sizeof size);
    return at + sizeof size + size;
}

// Checks all lengths, so that weft_wire_read_option need not.
static bool read_control(const uint8_t *payload, size_t length, struct weft_reply *reply) {
    size_t at = sizeof reply->id + sizeof reply->option_count;
    if (length < at) {
        return false;
    }
    memcpy(&reply->id, payload, sizeof reply->id);
    memcpy(&reply->option_count, payload + sizeof reply->id, sizeof reply->option_count);
    reply->options = payload + at;
    for (uint32_t i = 0; i < 2 * (uint32_t)reply->option_count && at <= length; i++) {
        at = skip_string(payload, length, at);
    }
    return at <= length;
}

static void read_string(const uint8_t *data, size_t *at, char *to, size_t size) {
    uint16_t len;
    memcpy(&len, data + *at, sizeof len);
    size_t fit = len < size ? len : size - 1;
    memcpy(to, data + *at + sizeof len, fit);
    to[fit] = '\0';
    *at += sizeof len + len;
}

void weft_wire_read_option(const struct weft_reply *control, size_t *at, char *key, size_t key_size,
                           char *value, size_t value_size) {
    read_string(control->options, at, key, key_size);
    read_string(control->options, at, value, value_size);
}

// In the payload of a batch.
enum { SEQUENCE_AT = WEFT_FRAME_HEADER_SIZE, BEFORE_AT = SEQUENCE_AT + 16 };

uint64_t weft_wire_before(const uint8_t *frame) {
    uint64_t before;
    memcpy(&before, frame + BEFORE_AT, sizeof before);
    return before;
}

static void lower(uint8_t *at, uint64_t by) {
    uint64_t number;
    memcpy(&number, at, sizeof number);
    number -= by;
    memcpy(at, &number, sizeof number);
}

void weft_wire_renumber(uint8_t *frame, uint64_t sequence, uint64_t before) {
    lower(frame + SEQUENCE_AT, sequence);
    lower(frame + BEFORE_AT, before);
}

ptrdiff_t weft_wire_read_reply(const uint8_t *data, size_t len, struct weft_reply *reply) {
    *reply = (struct weft_reply){0};
    if (len < WEFT_FRAME_HEADER_SIZE) {
        return 0;
    }
    uint32_t length;
    uint16_t kind;
    memcpy(&length, data, sizeof length);
    memcpy(&kind, data + 4, sizeof kind);
    if (length > WEFT_MAX_REPLY) {
        return -1;
    }
    if (len - WEFT_FRAME_HEADER_SIZE < length) {
        return 0;
    }
    const uint8_t *payload = data + WEFT_FRAME_HEADER_SIZE;
    switch (kind) {
    case WEFT_FRAME_WELCOME:
    case WEFT_FRAME_ACK:
        if (length < sizeof reply->sequence) {
            return -1;
        }
        memcpy(&reply->sequence, payload, sizeof reply->sequence);
        reply->kind = kind;
        break;
    case WEFT_FRAME_REFUSE:
        if (length < sizeof reply->code) {
            return -1;
        }
        memcpy(&reply->code, payload, sizeof reply->code);
        reply->kind = kind;
        break;
    case WEFT_FRAME_CONTROL:
        if (!read_control(payload, length, reply)) {
            return -1;
        }
        reply->kind = kind;
        break;
    default:
        break; // skip frames of a newer receiver
    }
    return (ptrdiff_t)(WEFT_FRAME_HEADER_SIZE + (size_t)length);
}
