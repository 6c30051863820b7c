// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How do sums become aggregates, and when? The sender asks at each turn.

#ifndef WEFT_REPORT_H
#define WEFT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "send/batch.h"

// A new session: what was added up before is nobody's any more, the interval begins.
void weft_report_restart(int64_t now);

// Puts what was added up into aggregates if the interval is over or a report is asked for; at the
// end of a session (last) if there may be anything. What cannot be retained waits for another time;
// then it returns false.
bool weft_report(struct weft_batch_writer *batch, int64_t now, bool last);

#endif
