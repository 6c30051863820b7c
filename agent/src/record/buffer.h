// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The event buffer of a thread, which the sender reads without a lock.
//
// Each thread writes records into chunks from a pool of fixed size. The thread is the only writer
// and the sender the only reader; the sender also reads partly filled chunks.
//
// The tail pointer is the handshake between the two. A thread takes its tail chunk out (a mark in
// the slot then shows that the thread is busy), reads the clock, writes, and puts the chunk back.
// So if a sender has read the clock (W) and then finds a thread idle, all events of that thread
// before W are written, and all later ones will have a time of W or more.

#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/pool.h"
#include "wire/wire.h"

// The beginning of a wait that may be too short to be recorded (min_duration.h): context, wait,
// waited, contendedEnter, ownerContext, contendedEntered, and two more events between them.
enum { WEFT_HELD_RECORDS = 8 };

struct weft_held {
    _Atomic uint64_t state;
    _Atomic int64_t since; // time of the first record
    struct weft_record records[WEFT_HELD_RECORDS];
};

struct weft_buffer {
    // Shared.
    _Atomic(struct weft_chunk *) tail; // the chunk being written; NULL: none; &busy_mark: taken out
    _Atomic(struct weft_chunk *) first; // a chunk without predecessor, for the sender to pick up
    _Atomic uint64_t written;           // number of records; those before it are visible
    atomic_bool closed;                 // no more records follow
    atomic_uint
        gapped;    // number of gaps, and of lost records: the receiver forgets the current span
    bool vanished; // the thread's end was not recorded; set before closed

    struct weft_held held; // the beginning of a possibly short wait

    pthread_mutex_t loss_mutex; // guards the next four; taken only while events are being lost
    _Atomic uint64_t lost;      // records
    uint64_t lost_events;       // the same without gaps, which are not events
    uint64_t lost_at;           // their position in the history
    int64_t lost_since;         // time of the first lost event

    // Owned by the thread.
    uint64_t thread; // 0: the agent itself, which writes only records of other threads
    struct weft_chunk *current;
    int64_t last; // time of the newest record
    unsigned depth;

    // Owned by the sender.
    struct weft_chunk *head;
    bool detached; // head was taken from the thread; its successor is in first
    uint64_t read;
    int64_t idle_at;
    int64_t newest;                 // time of the newest record read
    uint64_t gaps;                  // gap records added after those read
    unsigned pauses;                // number of pauses the thread was informed of
    uint16_t newest_kind;           // kind of the newest record read
    struct weft_buffer *registered; // link in the list of new buffers
};

// A pseudo record before a record of another thread than the buffer's (a virtual thread on its
// carrier); peer is that thread. It never leaves the process.
enum { WEFT_SUBJECT = 0xFFFF };

// The thread id for losses without a buffer.
#define WEFT_LOST_THREAD ((uint64_t)INT64_MAX)

// The thread id for pauses of the JVM, during which all of its threads stand still. The buffer of
// that id has one writer, as any other. No Java thread has so large an id; JavaScript still has it
// exactly.
#define WEFT_PAUSES_THREAD (((uint64_t)1 << 53) - 2)

// How many new buffers may wait while the sender is blocked.
enum { WEFT_NEW_BUFFERS = 1 << 16 };

// Thread side. NULL without memory or if too many buffers wait; count the loss with
// weft_buffer_lose_unbuffered.
struct weft_buffer *weft_buffer_open(uint64_t thread);
void weft_buffer_close(struct weft_buffer *b); // b must not be used afterwards
void weft_buffer_lose_unbuffered(uint64_t count);

// Begin and end enclose reading the clock and writing the records. They nest.
void weft_buffer_begin(struct weft_buffer *b);
void weft_buffer_end(struct weft_buffer *b);

// Writes a record. Raises its time to that of the thread's previous record if necessary, so times
// never decrease. A subject other than 0 is the thread of the record.
void weft_buffer_write(struct weft_buffer *b, struct weft_record *record, uint64_t subject);

// Sender side.
struct weft_buffer *weft_buffer_take_new(void);    // linked by registered
void weft_buffer_give_back(struct weft_buffer *b); // and all that are linked to it
bool weft_buffer_idle(struct weft_buffer *b);

// Returns the records from the reading position up to position limit: a run of count records, valid
// until weft_buffer_advance. NULL if there are none.
const struct weft_record *weft_buffer_peek(struct weft_buffer *b, uint64_t limit, size_t *count);
void weft_buffer_advance(struct weft_buffer *b, size_t count);

// The time of the first of the events that are missing after the newest record, and the position of
// the gap. INT64_MAX if none are missing.
int64_t weft_buffer_look_loss(struct weft_buffer *b, uint64_t *position);

// If events are missing at the reading position: fills in a gap record and resets the loss.
bool weft_buffer_take_loss(struct weft_buffer *b, struct weft_record *gap);
bool weft_buffer_lost_unbuffered(void); // there is a loss to take
uint64_t weft_buffer_take_unbuffered_loss(void);

// Takes the tail chunk of an idle thread back, immediately or as soon as it is read.
void weft_buffer_reclaim(struct weft_buffer *b);

// Frees a buffer that is closed and read to its end.
void weft_buffer_free(struct weft_buffer *b);
