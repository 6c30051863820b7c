// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which threads are there, and which of them has the receiver been told about?
//
// Threads of the application announce; the sender keeps the table. A thread stays in it while it
// lives, and after its death until no batch that names it can be sent again, and a while longer for
// those who still speak of it (a join that ends late). So the table does not grow with the number
// of threads that ever were.

#ifndef WEFT_ROSTER_H
#define WEFT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

// How many threads that are gone are still remembered.
enum { WEFT_ROSTER_GONE = 4096 };

// With more threads than that, virtual ones count as gone at once: those that nothing refers to any
// more are collected without an end.
enum { WEFT_ROSTER_VIRTUAL = 1 << 18 };

// How many bytes announcements take until the sender collects them. It may be held up, by a host
// name that takes long to be looked up: what is announced above stays without a name.
enum { WEFT_ROSTER_WAITING = 32 << 20 };

// Any thread: announces a thread's definition. The strings are copied, as far as they can be sent.
void weft_roster_announce(uint64_t id, uint16_t flags, const char *name, const char *group);

// Any thread: an announced thread will not live after all.
void weft_roster_withdraw(uint64_t id);

// Any thread: whether the ends of virtual threads are seen from now on.
void weft_roster_virtual_ends(bool seen);

// Bytes that wait to be collected.
size_t weft_roster_waiting(void);

// The sender: takes over what was announced.
void weft_roster_collect(void);

// The sender: batch sequence names the thread. A thread nobody announced gets an empty name.
void weft_roster_mention(uint64_t id, uint64_t sequence);

// The sender: the thread has ended and all its events are in batches up to sequence.
void weft_roster_gone(uint64_t id, uint64_t sequence);

// The sender: a new connection knows nobody; without one there is nobody to tell.
void weft_roster_connected(void);
void weft_roster_disconnected(void);

// Another session begins: no batch names anybody yet, and who is there is those that are kept, or
// announced again.
void weft_roster_restart(void);
void weft_roster_keep(uint64_t id);

// The sender: appends the frames of all threads that this connection has not seen yet.
void weft_roster_encode(struct weft_bytes *out);

// The sender: batches up to acked will not be sent again.
void weft_roster_trim(uint64_t acked);

// How many threads are in the table; may be asked by any thread.
uint32_t weft_roster_size(void);

#endif
