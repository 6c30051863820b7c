// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/control.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "options/settings.h"

static struct {
    pthread_mutex_t mutex;
    struct weft_options options;
    void (*snapshot)(void);
    bool running;
} control = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// Puts options into effect and executes commands among them. Called with the mutex held.
static void apply(const struct weft_options *options) {
    bool was_silent = control.options.pause || control.options.aggregated;
    bool silent = options->pause || options->aggregated; // no events are sent
    bool snapshot = options->snapshot || (was_silent && !silent);
    control.options = *options;
    control.options.snapshot = false;
    control.options.report = false;
    control.options.detach = false;
    control.options.status = false;
    weft_settings_apply(options);
    weft_settings_record(control.running && !options->pause);
    if (snapshot) {
        atomic_fetch_add(&weft_epoch, 1); // the receiver may have missed the beginning
    }
    if (snapshot && control.running && !silent && control.snapshot != NULL) {
        control.snapshot();
    }
}

void weft_control_prepare(const struct weft_options *options, void (*snapshot)(void)) {
    pthread_mutex_lock(&control.mutex);
    atomic_fetch_add(&weft_blackouts, 1);
    weft_settings_pause(); // waits of the previous session have no end in this one
    control.options = *options;
    control.snapshot = snapshot;
    apply(options);
    pthread_mutex_unlock(&control.mutex);
}

void weft_control_begin(void) {
    pthread_mutex_lock(&control.mutex);
    struct weft_options options = control.options;
    control.running = true;
    apply(&options);
    pthread_mutex_unlock(&control.mutex);
}

void weft_control_end(void) {
    pthread_mutex_lock(&control.mutex);
    control.running = false;
    atomic_store(&weft_tracing, false);
    pthread_mutex_unlock(&control.mutex);
}

void weft_control_snapshot(void) {
    pthread_mutex_lock(&control.mutex);
    struct weft_options options = control.options;
    options.snapshot = true;
    if (control.running) {
        apply(&options);
    }
    pthread_mutex_unlock(&control.mutex);
}

bool weft_control_attach(const char *text, bool *detach, char problem[WEFT_PROBLEM_MAX]) {
    pthread_mutex_lock(&control.mutex);
    struct weft_options options = control.options;
    bool ok = weft_options_change(text, WEFT_AT_ATTACH, &options, problem);
    *detach = ok && options.detach;
    if (ok && !options.detach && !options.status) {
        apply(&options);
    }
    pthread_mutex_unlock(&control.mutex);
    return ok;
}

static bool take_all(const struct weft_reply *frame, struct weft_options *options, char *problem) {
    char key[WEFT_VALUE_MAX];
    char value[WEFT_VALUE_MAX];
    size_t at = 0;
    if (!options->control && frame->option_count > 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "remote control is off; attach to the agent with control=on");
        return false;
    }
    for (uint16_t i = 0; i < frame->option_count; i++) {
        weft_wire_read_option(frame, &at, key, sizeof key, value, sizeof value);
        if (!weft_options_set(key, value, WEFT_BY_CONTROL, options, problem)) {
            return false;
        }
    }
    return true;
}

static void put(void *to, const char *key, const char *value) {
    weft_wire_put_option(to, key, value);
}

static void put_status(uint32_t id, const char *error, const struct weft_options *options,
                       struct weft_bytes *out) {
    size_t status = weft_wire_open_status(out, id, error);
    weft_options_show(options, put, out);
    weft_wire_close_status(out, status);
}

void weft_control_answer(const struct weft_reply *frame, struct weft_bytes *out) {
    char problem[WEFT_PROBLEM_MAX] = "";
    pthread_mutex_lock(&control.mutex);
    struct weft_options options = control.options;
    if (take_all(frame, &options, problem) && frame->option_count > 0) {
        apply(&options);
    }
    options = control.options;
    pthread_mutex_unlock(&control.mutex);
    put_status(frame->id, problem, &options, out);
}

struct weft_options weft_control_options(void) {
    pthread_mutex_lock(&control.mutex);
    struct weft_options options = control.options;
    pthread_mutex_unlock(&control.mutex);
    return options;
}
