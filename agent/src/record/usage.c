// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "wire/clock.h"

#define MILLISECOND ((int64_t)1000000)

enum {
    LEAST_RUN_MS = 1,
    LEAST_WAIT_MS = 5,
    READINGS_PER_SECOND = 1000, // of all threads
    LINE = 96,
};

static _Atomic int64_t next_reading;

bool weft_usage_parse(const char *line, struct weft_usage *used) {
    int64_t slices = 0;
    return sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64, &used->cpu, &used->queued, &slices) ==
               3 &&
           slices > 0 && used->cpu >= 0 && used->queued >= 0;
}

// The exact CPU time so far: the one in the file lags while the thread runs.
static int64_t cpu_time(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : -1;
}

static int64_t queue_time(int file) {
    char line[LINE];
    struct weft_usage used;
    ssize_t len = file < 0 ? 0 : pread(file, line, sizeof line - 1, 0);
    line[len < 0 ? 0 : len] = '\0';
    return weft_usage_parse(line, &used) ? used.queued : -1;
}

bool weft_usage_own(struct weft_usage *used) {
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    *used = (struct weft_usage){cpu_time(CLOCK_THREAD_CPUTIME_ID), queue_time(file)};
    if (file >= 0) {
        close(file);
    }
    return used->cpu >= 0;
}

bool weft_usage_of(pid_t tid, int file, struct weft_usage *used) {
    // As of pthread_getcpuclockid, which needs a handle that the end of the thread invalidates.
    const unsigned of_thread = 6;
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | of_thread);
    *used = (struct weft_usage){cpu_time(clock), queue_time(file)};
    return used->cpu >= 0 && cpu_time(clock) > used->cpu;
}

static bool is_due(struct weft_run *run, bool wanted) {
    if (!wanted) {
        return false;
    }
    run->ran = 0; // refused or not: the next events do not ask again
    return weft_clock_allow(&next_reading, READINGS_PER_SECOND);
}

static void runs_until(struct weft_run *run, int64_t now) {
    if (!run->waits) {
        run->ran += now - run->since;
    }
    run->since = now;
}

bool weft_usage_waits(struct weft_run *run, int64_t now) {
    runs_until(run, now);
    run->waits = true;
    return is_due(run, run->ran >= LEAST_RUN_MS * MILLISECOND);
}

bool weft_usage_runs(struct weft_run *run, int64_t now) {
    bool waited = run->waits && now - run->since >= LEAST_WAIT_MS * MILLISECOND;
    runs_until(run, now);
    run->waits = false;
    return is_due(run, waited || run->ran >= LEAST_RUN_MS * MILLISECOND);
}
