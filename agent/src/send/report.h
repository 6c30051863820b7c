// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns sums into aggregates when a report is due.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "send/batch.h"

// Begins a session: drops earlier sums and starts the interval.
void weft_report_restart(int64_t now);

// Writes the sums into aggregates if the interval is over or a report is requested, or, with last,
// if there may be any. False if not everything could be retained; the rest waits.
bool weft_report(struct weft_batch_writer *batch, int64_t now, bool last);
