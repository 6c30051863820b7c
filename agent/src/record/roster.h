// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The threads, and which of them the receiver knows.
//
// Application threads announce; the sender maintains the table. A thread stays in it while it
// lives, after its death until no batch that mentions it can be sent again, and somewhat longer for
// late mentions (such as a late join). So the table does not grow with the number of threads ever
// started.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

// How many dead threads are remembered.
enum { WEFT_ROSTER_GONE = 4096 };

// Above this number of threads, virtual threads count as dead immediately: unreferenced ones are
// collected without an end.
enum { WEFT_ROSTER_VIRTUAL = 1 << 18 };

// How many bytes of announcements may wait while the sender is blocked by a slow host name lookup;
// further threads stay unnamed.
enum { WEFT_ROSTER_WAITING = 32 << 20 };

// Any thread: announces a thread. Copies the strings, truncated to what can be sent.
void weft_roster_announce(uint64_t id, uint16_t flags, const char *name, const char *group);

// Any thread: an announced thread failed to start.
void weft_roster_withdraw(uint64_t id);

// Any thread: whether the ends of virtual threads are reported from now on.
void weft_roster_virtual_ends(bool seen);

// Bytes waiting to be collected.
size_t weft_roster_waiting(void);

// Sender: collects the announcements.
void weft_roster_collect(void);

// Sender: a batch mentions the thread. An unannounced thread gets an empty name.
void weft_roster_mention(uint64_t id, uint64_t sequence);

// Sender: the thread has ended and all its events are in batches up to sequence.
void weft_roster_gone(uint64_t id, uint64_t sequence);

// Sender: a new connection knows no threads; without a connection none need to be sent.
void weft_roster_connected(void);
void weft_roster_disconnected(void);

// Another session begins: no batch mentions any thread yet, and only threads that are kept or
// announced again are alive.
void weft_roster_restart(void);
void weft_roster_keep(uint64_t id);

// Sender: appends the frames of all threads not yet sent on this connection.
void weft_roster_encode(struct weft_bytes *out);

// Sender: batches up to acked will not be sent again.
void weft_roster_trim(uint64_t acked);

// Any thread: the number of threads in the table.
uint32_t weft_roster_size(void);
