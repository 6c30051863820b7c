// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where does a thread put its events, and how does the sender get them without a lock?
//
// Each thread writes records into chunks that it takes from a pool of fixed size. The thread is the
// only writer and the sender the only reader; the sender also reads chunks that are not full.
//
// The tail pointer is the handshake between the two. A thread takes its tail chunk out (the slot
// then holds a mark: the thread is busy), reads the clock, writes, and puts the chunk back. So a
// sender that has read the clock (W) and then finds a thread idle knows that all events of that
// thread with a time before W are written, and that all later ones will have a time of W or more.

#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/pool.h"
#include "wire/wire.h"

// The beginning of a wait that may be too short to be recorded (min_duration.h).
// A wait, waited, contendedEnter, contendedEntered, and one more between them.
enum { WEFT_HELD_RECORDS = 6 };

struct weft_held {
    _Atomic uint64_t state;
    _Atomic int64_t since; // time of the first record
    struct weft_record records[WEFT_HELD_RECORDS];
};

struct weft_buffer {
    // Shared.
    _Atomic(struct weft_chunk *) tail; // the chunk written to; NULL: none; weft_busy: taken out
    _Atomic(struct weft_chunk *)
        first;                // a chunk that has no predecessor, for the sender to pick up
    _Atomic uint64_t written; // records ever written; the records before it are visible
    atomic_bool closed;       // nothing more will be written
    bool vanished;            // the thread ended unseen; set before closed

    struct weft_held held; // of a wait that may be too short to be told

    pthread_mutex_t loss_mutex; // guards the next three; taken only when events are being lost
    _Atomic uint64_t lost;
    uint64_t lost_at;   // position in the history at which they are missing
    int64_t lost_since; // time of the first of them

    // The thread's own.
    uint64_t thread;
    struct weft_chunk *current;
    int64_t last; // time of the newest record
    unsigned depth;

    // The sender's own.
    struct weft_chunk *head;
    bool detached; // head was taken from the thread; what comes behind it is in first
    uint64_t read;
    int64_t idle_at;
    int64_t newest;                 // time of the newest record that was taken
    uint64_t gaps;                  // that were put behind what was taken
    unsigned pauses;                // as many as it was told of
    uint16_t newest_kind;           // of the newest record that was taken
    struct weft_buffer *registered; // link in the list of new buffers
};

// A pseudo record in front of one that is of another thread than the buffer's (a virtual thread on
// its carrier): peer names that thread. It never leaves the process.
enum { WEFT_SUBJECT = 0xFFFF };

// The thread id under which losses are reported that no buffer could be found for.
#define WEFT_LOST_THREAD ((uint64_t)INT64_MAX)

// How many buffers may wait for a sender that is held up.
enum { WEFT_NEW_BUFFERS = 1 << 16 };

// Thread side. NULL if there is no memory, or if too many wait; count the loss with
// weft_buffer_lose_unbuffered.
struct weft_buffer *weft_buffer_open(uint64_t thread);
void weft_buffer_close(struct weft_buffer *b); // the caller must not use b afterwards
void weft_buffer_lose_unbuffered(uint64_t count);

// Begin and end bracket the reading of the clock and the writing of what happened then. They nest.
void weft_buffer_begin(struct weft_buffer *b);
void weft_buffer_end(struct weft_buffer *b);

// Writes a record. Its time is raised to that of the thread's newest record if it is less, so that
// times do not fall. With a subject that is not 0 the record is of that thread.
void weft_buffer_write(struct weft_buffer *b, struct weft_record *record, uint64_t subject);

// Sender side.
struct weft_buffer *weft_buffer_take_new(void);    // linked by registered
void weft_buffer_give_back(struct weft_buffer *b); // with all that are linked to it
bool weft_buffer_idle(struct weft_buffer *b);

// The records from the reading position on, at most up to position limit: a run of count records
// that stay in place until weft_buffer_advance. NULL if there are none.
const struct weft_record *weft_buffer_peek(struct weft_buffer *b, uint64_t limit, size_t *count);
void weft_buffer_advance(struct weft_buffer *b, size_t count);

// If events are missing at the reading position: fills in a gap record and forgets the loss.
bool weft_buffer_take_loss(struct weft_buffer *b, struct weft_record *gap);
uint64_t weft_buffer_take_unbuffered_loss(void);

// Takes the tail chunk of a thread back if the thread is idle, at once or as soon as it is read.
void weft_buffer_reclaim(struct weft_buffer *b);

// Frees a buffer that is closed and read to its end.
void weft_buffer_free(struct weft_buffer *b);

#endif
