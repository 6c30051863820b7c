// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/sender.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hotspot/notices.h"
#include "options/settings.h"
#include "record/buffer.h"
#include "record/context.h"
#include "record/contexts.h"
#include "record/published.h"
#include "record/roster.h"
#include "record/thread_context.h"
#include "send/connection.h"
#include "send/control.h"
#include "send/drain.h"
#include "send/findings.h"
#include "send/process_context.h"
#include "send/recording.h"
#include "send/report.h"
#include "send/retain.h"
#include "wire/endpoint.h"
#include "wire/thread.h"

#define MILLISECOND ((int64_t)1000000)
#define BEAT        (1000 * MILLISECOND)

enum { BUSY_WAIT_MS = 5, IDLE_WAIT_MS = 50, ALONE_SHARE = 5 };

static struct {
    struct weft_retain retain;
    struct weft_drain drain;
    struct weft_connection connection;
    struct weft_recording recording; // replaces the connection if open
    int64_t last_batch;
    bool warned; // in this session
    int finish_ms;
    int64_t give_up;
    int64_t end;            // of the duration
    int64_t last_streaming; // or the start
    uint64_t session;
    bool (*expired)(uint64_t session); // NULL: it was called
    const char *endpoint;
    const char *file;
    bool (*renewed)(const uint8_t before[16], const uint8_t session[16]);
    void (*look)(void);

    int event; // wakes the sender
    atomic_bool sleeping;
    atomic_bool streaming;
    atomic_int trouble; // of the connection
    atomic_bool finish;

    pthread_mutex_t mutex;
    char detail[WEFT_TLS_PROBLEM_MAX]; // of the connection's trouble
    pthread_cond_t finished_cond;
    bool prepared; // for the first session
    bool running;  // the thread was started
    bool finished;
    uint16_t end_reason;
} sender = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void wake(void) {
    if (atomic_exchange(&sender.sleeping, false)) {
        uint64_t one = 1;
        ssize_t n = write(sender.event, &one, sizeof one);
        (void)n; // the counter is full: the sender is awake
    }
}

static void sleep_until_needed(int timeout_ms) {
    struct pollfd fds[2] = {
        {.fd = sender.event, .events = POLLIN},
        {.fd = sender.connection.stream.fd, .events = weft_connection_events(&sender.connection)},
    };
    atomic_store(&sender.sleeping, true);
    if (atomic_load(&sender.finish) && timeout_ms > 1) {
        timeout_ms = 1;
    }
    poll(fds, 2, timeout_ms);
    atomic_store(&sender.sleeping, false);
    uint64_t count;
    ssize_t n = read(sender.event, &count, sizeof count);
    (void)n;
}

// Describes the state of the connection in one line. Trouble as in struct weft_connection.
static void describe(bool connected, int trouble, char line[WEFT_WHEREABOUTS_MAX]) {
    if (connected || trouble != WEFT_TROUBLE_DETAIL) {
        weft_endpoint_describe(sender.endpoint, connected, trouble, line, WEFT_WHEREABOUTS_MAX);
        return;
    }
    const char *endpoint = sender.endpoint[0] == '\0' ? "the default socket" : sender.endpoint;
    pthread_mutex_lock(&sender.mutex);
    snprintf(line, WEFT_WHEREABOUTS_MAX, "not connected to %s: %s", endpoint, sender.detail);
    pthread_mutex_unlock(&sender.mutex);
}

// Keeps what prevents the connection for weft_sender_whereabouts. Says once on standard error that
// somebody listens where the collector should, that credentials do not suffice, or that the process
// may not connect: they last until somebody corrects it. Not through a stream, whose lock the
// application may need.
static void show_trouble(void) {
    int trouble = sender.connection.trouble;
    if (trouble == WEFT_TROUBLE_DETAIL) {
        pthread_mutex_lock(&sender.mutex);
        memcpy(sender.detail, sender.connection.detail, sizeof sender.detail);
        pthread_mutex_unlock(&sender.mutex);
    }
    if (weft_connection_is_lasting(trouble) && !sender.warned) {
        char line[WEFT_WHEREABOUTS_MAX];
        sender.warned = true;
        describe(false, trouble, line);
        dprintf(STDERR_FILENO, "weft: %s\n", line);
    }
    atomic_store(&sender.trouble, trouble);
}

static void show_notices(void) {
    for (const char *text; (text = weft_notices_take()) != NULL;) {
        dprintf(STDERR_FILENO, "weft: %s\n", text);
    }
}

// Talks to the receiver once. If that has more of this session than was sent, the session is also
// somebody else's: it continues under another identity.
static void talk(void) {
    struct weft_connection *c = &sender.connection;
    weft_connection_step(c, weft_clock());
    if (!c->mistaken) {
        return;
    }
    uint8_t before[sizeof c->hello.session];
    memcpy(before, c->hello.session, sizeof before);
    weft_batch_renumber(&sender.drain.batch);
    weft_connection_renew(c, weft_clock());
    // First what is configured later, then what others read, so that none of them adopts the
    // previous identity.
    if (sender.renewed != NULL && sender.renewed(before, c->hello.session)) {
        weft_process_context_withdraw(); // share_spans publishes the new one
    }
    weft_control_snapshot();
}

// Drains the threads and talks to the receiver once. Complete: nothing is left.
static size_t turn(bool last, bool *complete) {
    int64_t now = weft_clock();
    bool streaming = sender.connection.state == WEFT_STREAMING;
    bool beat = streaming && now - sender.last_batch >= BEAT;
    uint64_t before = sender.drain.batch.sequence;
    weft_settings_pressure(weft_pool_used(), weft_pool_chunks());
    size_t records = weft_drain_pass(&sender.drain, beat, last, complete);
    if (!last || *complete) {
        bool reported = weft_report(&sender.drain.batch, weft_clock(), last);
        *complete = *complete && (reported || !last);
    }
    if (sender.drain.batch.sequence != before) {
        sender.last_batch = now;
    }
    weft_roster_collect();
    show_notices();
    if (sender.recording.fd >= 0) {
        weft_recording_step(&sender.recording, &sender.retain);
        weft_roster_trim(sender.drain.batch.sequence);
        return records;
    }
    talk();
    weft_roster_trim(sender.connection.hello.acked);
    show_trouble();
    atomic_store(&sender.streaming, sender.connection.state == WEFT_STREAMING);
    return records;
}

// Requests the end of a session from which no receiver has taken events for too long, or that has
// lasted long enough.
static void check_expiry(void) {
    int64_t now = weft_clock();
    bool recording = sender.recording.fd >= 0;
    if (recording || sender.connection.state == WEFT_STREAMING) {
        sender.last_streaming = now;
    }
    bool alone = sender.give_up > 0 && now - sender.last_streaming >= sender.give_up;
    bool over = sender.end > 0 && now >= sender.end;
    if ((alone || over) && sender.expired != NULL && sender.expired(sender.session)) {
        sender.expired = NULL;
    }
}

static void finish_recording(void) {
    bool complete = false;
    for (int i = 0; i < 100 && !complete; i++) {
        turn(true, &complete);
    }
    weft_recording_close(&sender.recording, sender.drain.looked, sender.end_reason);
}

static void finish(void) {
    if (sender.recording.fd >= 0) {
        finish_recording();
        return;
    }
    struct weft_connection *c = &sender.connection;
    bool complete = false;
    c->end_reason = sender.end_reason;
    int64_t limit = sender.finish_ms / (c->state == WEFT_STREAMING ? 1 : ALONE_SHARE);
    int64_t deadline = weft_clock() + limit * MILLISECOND;
    uint64_t attempts = c->attempts;
    c->retry_at = 0;
    while (weft_clock() < deadline) {
        if (!complete) {
            turn(true, &complete);
        } else {
            talk();
        }
        if (complete && !c->end_wanted) {
            c->end_wanted = true;
            c->end_time = sender.drain.looked;
            continue;
        }
        bool failed = c->state == WEFT_OFF && c->attempts > attempts && c->retry_at > weft_clock();
        if (weft_connection_settled(c) || failed) {
            break;
        }
        sleep_until_needed(1);
    }
    weft_connection_close(c, weft_clock());
    weft_bytes_free(&c->own);
    weft_bytes_free(&c->answers);
}

// Once the application reports its spans, other programs may read them.
static void share_spans(void) {
    const struct weft_hello *hello = &sender.connection.hello;
    if (weft_process_context_publish(hello->attributes, hello->attribute_count) &&
        !weft_thread_context_enabled()) {
        weft_thread_context_enable();
    }
}

static void *run(void *nothing) {
    (void)nothing;
    pthread_setname_np(pthread_self(), "weft-sender");
    while (!atomic_load(&sender.finish)) {
        bool complete;
        size_t records = turn(false, &complete);
        if (!atomic_load(&weft_context_reported)) {
            weft_published_look(sender.drain.looked, false);
        } else if (weft_published_library() == NULL) {
            share_spans();
        }
        if (sender.look != NULL) {
            sender.look();
        }
        check_expiry();
        sleep_until_needed(records > 0 ? BUSY_WAIT_MS : IDLE_WAIT_MS);
    }
    weft_process_context_withdraw();
    finish();
    pthread_mutex_lock(&sender.mutex);
    sender.finished = true;
    pthread_cond_signal(&sender.finished_cond);
    pthread_mutex_unlock(&sender.mutex);
    return NULL;
}

// Once, before the first session.
static bool prepare_first(int64_t now, char problem[WEFT_PROBLEM_MAX]) {
    sender.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sender.event < 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "cannot create an eventfd: %s; allow this process the system call, or more open "
                 "files",
                 strerror(errno));
        return false;
    }
    if (!weft_drain_init(&sender.drain, &sender.retain, now)) {
        close(sender.event);
        snprintf(problem, WEFT_PROBLEM_MAX, "no memory for a batch; allow this process more");
        return false;
    }
    weft_clock_condition(&sender.finished_cond);
    weft_findings_init();
    sender.prepared = true;
    return true;
}

// Prepares a session, the first or a later one. False on failure.
static bool prepare(int64_t now, char problem[WEFT_PROBLEM_MAX]) {
    pthread_mutex_lock(&sender.mutex);
    bool idle = !sender.running || sender.finished;
    if (idle) {
        sender.finished = sender.running = false;
    }
    pthread_mutex_unlock(&sender.mutex);
    if (!idle) {
        snprintf(problem, WEFT_PROBLEM_MAX, "a session is running; end it first");
        return false;
    }
    atomic_store(&sender.streaming, false);
    atomic_store(&sender.finish, false);
    sender.last_batch = 0;
    sender.warned = false;
    weft_report_restart(now);
    if (sender.prepared) {
        weft_retain_drop(&sender.retain, UINT64_MAX);
        weft_retain_rewind(&sender.retain);
        weft_roster_restart();
        weft_drain_restart(&sender.drain, now);
        return true;
    }
    return prepare_first(now, problem);
}

bool weft_sender_start(const struct weft_sender_config *config, char problem[WEFT_PROBLEM_MAX]) {
    if (!prepare(config->hello.monotonic, problem)) {
        return false;
    }
    sender.retain.limit = config->retain;
    sender.finish_ms = config->finish_ms;
    weft_connection_init(&sender.connection, config->endpoint, &sender.retain, &config->hello);
    sender.connection.credentials = config->credentials;
    sender.endpoint = config->endpoint;
    sender.file = config->file;
    sender.renewed = config->renewed;
    sender.look = config->look;
    sender.give_up = config->give_up;
    sender.last_streaming = config->hello.monotonic;
    sender.end = config->duration > 0 ? config->hello.monotonic + config->duration : 0;
    sender.session = config->session;
    sender.expired = config->expired;
    atomic_store(&sender.streaming, false);
    atomic_store(&sender.trouble, 0);
    sender.recording.fd = -1;
    if (config->file != NULL) {
        if (!weft_recording_open(&sender.recording, config->file, config->file_size, &config->hello,
                                 problem)) {
            return false;
        }
        weft_roster_connected(); // all threads must be defined
    }
    weft_pool_on_pressure(wake);

    sender.running = weft_thread_start(run, NULL, (size_t)256 * 1024); // for host name lookups
    if (!sender.running) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "cannot start a thread: %s; allow this process more threads or memory",
                 strerror(errno));
        weft_recording_drop(&sender.recording);
    }
    return sender.running;
}

void weft_sender_whereabouts(char line[WEFT_WHEREABOUTS_MAX]) {
    enum { LOOKS = 100 };
    const struct timespec pause = {.tv_nsec = 5 * MILLISECOND};
    if (sender.file != NULL) {
        snprintf(line, WEFT_WHEREABOUTS_MAX, "recording to %s", sender.file);
        return;
    }
    for (int i = 0; i < LOOKS && !atomic_load(&sender.streaming) && !atomic_load(&sender.trouble);
         i++) {
        nanosleep(&pause, NULL);
    }
    describe(atomic_load(&sender.streaming), atomic_load(&sender.trouble), line);
}

void weft_sender_wake(void) {
    wake();
}

bool weft_sender_runs(void) {
    pthread_mutex_lock(&sender.mutex);
    bool runs = sender.running && !sender.finished;
    pthread_mutex_unlock(&sender.mutex);
    return runs;
}

void weft_sender_finish(uint16_t reason) {
    bool waits = sender.recording.fd >= 0 || atomic_load(&sender.streaming);
    int64_t limit = sender.finish_ms / (waits ? 1 : ALONE_SHARE);
    int64_t until = weft_clock() + limit * MILLISECOND;
    sender.end_reason = reason;
    atomic_store(&sender.finish, true);
    wake();
    pthread_mutex_lock(&sender.mutex);
    while (!sender.finished && weft_clock_await(&sender.finished_cond, &sender.mutex, until)) {
    }
    pthread_mutex_unlock(&sender.mutex);
}
