// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records when garbage collections stop the JVM, as waits of a pseudo thread. What that thread does
// between them is unknown.

#pragma once

// Begins and ends recording. One thread at a time.
void weft_pauses_start(void);
void weft_pauses_stop(void);

// A collection stops and resumes all threads. Only the JVM's VM thread calls these, which must not
// be delayed: they allocate nothing, and take a lock for an instant only while events are lost.
void weft_pauses_begin(void);
void weft_pauses_end(void);
