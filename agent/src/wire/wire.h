// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes the frames of protocol/README.md and decodes the few frames that come back. Independent
// of sockets, threads and the JVM.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/wire_kinds.h"

// An event, in memory and on the wire; the layout is that of the protocol's record.
struct weft_record {
    int64_t time;
    uint64_t peer;
    int64_t arg;
    uint32_t hash;
    uint32_t class_id;
    uint32_t stack;
    uint16_t kind;
    uint16_t flags;
};

// The fixed part of a series of an aggregate; the layout is that of the protocol. Put fills in size
// and buckets.
struct weft_series {
    uint16_t size;
    uint16_t kind;
    uint16_t flags;
    uint16_t buckets;
    uint32_t class_id;
    uint32_t stack;
    int64_t sum;
    int64_t max;
    uint64_t zero;
    int32_t offset;
    uint32_t reserved;
};

struct weft_attribute {
    const char *key;
    const char *value;
};

struct weft_hello {
    uint8_t session[16];
    int64_t wall;
    int64_t monotonic;
    uint32_t pid;
    uint64_t acked;
    const struct weft_attribute *attributes;
    uint16_t attribute_count;
    uint16_t header_count;
    const struct weft_attribute *headers; // credentials: never exported, logged or recorded
    uint8_t secret[16];                   // likewise; zero: none
};

struct weft_line {
    uint32_t start;
    uint32_t line;
};

struct weft_frame {
    uint32_t method;
    int32_t bci;
};

void weft_wire_put_preamble(struct weft_bytes *b);
void weft_wire_put_hello(struct weft_bytes *b, const struct weft_hello *hello);
void weft_wire_put_thread(struct weft_bytes *b, uint64_t id, uint16_t flags, const char *name,
                          const char *group);
void weft_wire_put_class(struct weft_bytes *b, uint32_t id, const char *name);
void weft_wire_put_method(struct weft_bytes *b, uint32_t id, uint32_t class_id, const char *name,
                          const char *signature, const char *file, const struct weft_line *lines,
                          uint16_t line_count);

// The source's name for the lock that a frame takes.
struct weft_named_lock {
    const char *name; // empty: not known
    uint16_t frame;   // index
};

void weft_wire_put_stack(struct weft_bytes *b, uint32_t id, uint16_t flags,
                         const struct weft_frame *frames, uint16_t frame_count,
                         const struct weft_named_lock *lock);
void weft_wire_put_end(struct weft_bytes *b, int64_t time, uint16_t reason);
void weft_wire_put_clock(struct weft_bytes *b, int64_t wall, int64_t monotonic);

// A batch is written sequentially: open, then for each thread a section and its records, then
// close, which fills in the length of the frame. Pass the position returned by open to close.
size_t weft_wire_open_batch(struct weft_bytes *b, uint64_t sequence, int64_t watermark,
                            uint64_t before);
size_t weft_wire_open_section(struct weft_bytes *b, uint64_t thread);
void weft_wire_put_record(struct weft_bytes *b, const struct weft_record *record);
void weft_wire_close_section(struct weft_bytes *b, size_t section, uint32_t count);
void weft_wire_set_watermark(struct weft_bytes *b, size_t batch, int64_t watermark);
void weft_wire_close_batch(struct weft_bytes *b, size_t batch);

// Of the frame of a batch or an aggregate: the events before it; and lowers that and its sequence.
uint64_t weft_wire_before(const uint8_t *frame);
void weft_wire_renumber(uint8_t *frame, uint64_t sequence, uint64_t before);

// An aggregate is a batch too: open, series, then weft_wire_close_batch.
size_t weft_wire_open_aggregate(struct weft_bytes *b, uint64_t sequence, int64_t watermark,
                                uint64_t before, int64_t from, int64_t to, int32_t scale);
void weft_wire_put_series(struct weft_bytes *b, const struct weft_series *series,
                          const uint64_t *buckets, uint16_t count);

// A status is written sequentially: open, options, close.
size_t weft_wire_open_status(struct weft_bytes *b, uint32_t id, const char *error);
void weft_wire_put_option(struct weft_bytes *b, const char *key, const char *value);
void weft_wire_close_status(struct weft_bytes *b, size_t status);

// A frame from the receiver. Unknown kinds become 0 and are skipped.
struct weft_reply {
    uint16_t kind;
    uint64_t sequence; // welcome: acked; ack: sequence
    uint16_t code;     // refuse
    uint32_t id;       // control
    uint16_t option_count;
    const uint8_t *options; // within the data that was read
};

// The largest payload of a frame from the receiver.
enum { WEFT_MAX_REPLY = 65536 };

// Reads one frame from the front of data. Returns the number of bytes consumed, 0 if the frame is
// incomplete, or -1 if it is malformed (close the connection).
ptrdiff_t weft_wire_read_reply(const uint8_t *data, size_t len, struct weft_reply *reply);

// Reads the option of a control at a position (initially 0) and advances to the next; there must be
// one. Truncates what does not fit, and terminates the texts with a zero.
void weft_wire_read_option(const struct weft_reply *control, size_t *at, char *key, size_t key_size,
                           char *value, size_t value_size);
