// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the clocks of threads: how much of a processor they used, and how long they waited for one.
//
// A thread reads its own before a wait once it has run for a millisecond since, and after a wait of
// five, which includes a time in the run queue that is not known. So a reading costs at most a
// hundredth of the time, and all together at most half a percent of a processor.

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft_usage {
    int64_t cpu;    // nanoseconds so far
    int64_t queued; // nanoseconds so far; -1: not known
};

// Parses a line of /proc/PID/task/TID/schedstat. False if it is none, or the kernel does not count.
bool weft_usage_parse(const char *line, struct weft_usage *used);

// Reads the clocks of the current thread.
bool weft_usage_own(struct weft_usage *used);

// Reads those of another thread, whose SCHEDSTAT file is open, if it is on a processor: of one that
// waits for a processor, the kernel counts that when it gets it. False otherwise.
bool weft_usage_of(pid_t tid, int file, struct weft_usage *used);

// What a thread did since its last reading, as far as it was recorded.
struct weft_run {
    int64_t since; // it runs or waits
    int64_t ran;   // before that
    bool waits;
};

// Notes that the thread begins to wait, or runs. They return whether a reading is due now.
bool weft_usage_waits(struct weft_run *run, int64_t now);
bool weft_usage_runs(struct weft_run *run, int64_t now);
