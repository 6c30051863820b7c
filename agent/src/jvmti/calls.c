// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hotspot/jvm.h"
#include "hotspot/native_id.h"
#include "hotspot/notices.h"
#include "jvmti/looker.h"
#include "options/settings.h"
#include "record/io_names.h"
#include "record/sighting.h"
#include "record/stacks.h"
#include "record/system_call.h"
#include "record/thread_info.h"
#include "record/thread_refs.h"
#include "record/tids.h"
#include "record/usage.h"
#include "send/findings.h"
#include "send/sender.h"
#include "wire/clock.h"

#define MILLISECOND ((int64_t)1000000)

enum {
    STACKS_PER_SECOND = 50,
    STACKS_PER_SECOND_STOPPING = 5, // before 17, each stops all threads
    POSTED = 64,                    // findings of one look; others follow
    REST = 50,                      // looks without one at a thread that waits in Java
    KEPT = 64,                      // threads of which files are kept open, two each
    TRIES = 3,
    READ_EVERY_MS = 100, // the clocks of a thread that runs
    LINE = 256,
};

// What the thread knows of a place in the list of threads.
struct watched {
    uint64_t thread; // 0: none
    int files[2];    // SYSCALL and SCHEDSTAT, plus 1; 0: not open
    int rest;
    int64_t read; // when its clocks were
    struct weft_sightings seen;
};

enum { SYSCALL, SCHEDSTAT };

struct state {
    int memory; // of this process
    int kept;   // threads with open files
    unsigned pauses;
    unsigned epoch;
    size_t first;               // the place to begin with, so that the limit affects all alike
    struct weft_finding *found; // by the current look
    size_t count;
    struct watched watched[WEFT_TIDS_MAX];
};

static struct weft_looker *current;
static _Atomic int64_t next_stack;

static int open_file(pid_t tid, int which) {
    static const char *const names[] = {"syscall", "schedstat"};
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, names[which]);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void forget(struct state *s, struct watched *w) {
    s->kept -= w->files[SYSCALL] > 0;
    for (int i = SYSCALL; i <= SCHEDSTAT; i++) {
        if (w->files[i] > 0) {
            close(w->files[i] - 1);
        }
    }
    *w = (struct watched){0};
}

static void keep_files(struct state *s, struct watched *w, pid_t tid) {
    if (w->files[SYSCALL] > 0 || s->kept == KEPT) {
        return;
    }
    int first = open_file(tid, SYSCALL);
    int second = open_file(tid, SCHEDSTAT);
    if (first < 0 || second < 0) {
        close(first);
        close(second);
        return;
    }
    w->files[SYSCALL] = first + 1;
    w->files[SCHEDSTAT] = second + 1;
    s->kept++;
}

static bool read_file(const struct watched *w, pid_t tid, int which, char line[LINE]) {
    int kept = w->files[which];
    int file = kept > 0 ? kept - 1 : open_file(tid, which);
    ssize_t len = file < 0 ? -1 : pread(file, line, LINE - 1, 0);
    if (kept == 0 && file >= 0) {
        close(file);
    }
    line[len < 0 ? 0 : len] = '\0';
    return len > 0;
}

// False if the thread is gone.
static bool look_at(const struct state *s, const struct watched *w, const struct weft_tid *tid,
                    struct weft_sight *sight) {
    char line[LINE];
    struct weft_system_call call;
    *sight = (struct weft_sight){.time = weft_clock(), .written = tid->written};
    if (!read_file(w, tid->tid, SYSCALL, line) || !weft_system_call_parse(line, &call)) {
        return false;
    }
    sight->runnable = call.number == WEFT_RUNNABLE;
    sight->io = weft_system_call_io(&call, s->memory);
    struct weft_usage used = {0};
    bool ok = sight->io.verb == WEFT_IO_NONE ||
              (read_file(w, tid->tid, SCHEDSTAT, line) && weft_usage_parse(line, &used));
    sight->active = used.cpu + used.queued;
    return ok;
}

static bool is_idle(const struct weft_io *io) {
    return io->verb == WEFT_IO_CLIENTS || io->verb == WEFT_IO_EVENTS;
}

// Whether a thread that was looked at is still there, and has written nothing since.
static bool is_still(const struct state *s, const struct watched *w, size_t place,
                     const struct weft_sight *before) {
    struct weft_tid tid;
    struct weft_sight sight;
    return weft_tids_look(place, &tid) && tid.thread == w->thread && tid.idle &&
           tid.written == before->written && look_at(s, w, &tid, &sight) &&
           sight.io.verb == before->io.verb && sight.io.of == before->io.of;
}

// The stack of the wait, 0 if it cannot be had now. The thread is in the kernel: it is not stopped.
static uint32_t stack_of(JNIEnv *env, jthread thread) {
    int depth = weft_settings_depth(WEFT_PLACE_PARK);
    int most = weft_jvm.version >= 17 ? STACKS_PER_SECOND : STACKS_PER_SECOND_STOPPING;
    return depth > 0 && weft_clock_allow(&next_stack, most) ? weft_stacks_of(env, thread, depth)
                                                            : 0;
}

static void add(struct state *s, const struct watched *w, const struct weft_record *r) {
    s->found[s->count] = (struct weft_finding){.thread = w->thread,
                                               .position = w->seen.last.written,
                                               .since = w->seen.since,
                                               .seen = true,
                                               .record = *r};
    s->found[s->count].record.flags = WEFT_FLAG_SNAPSHOT | WEFT_FLAG_SYSTEM_CALL;
    s->count++;
}

static void report_wait(JNIEnv *env, struct state *s, struct watched *w, size_t place) {
    const struct weft_sight before = w->seen.last;
    struct weft_record r = {.time = before.time, .kind = WEFT_EV_PARK};
    jthread thread = weft_thread_refs_find(env, w->thread);
    bool wanted = thread != NULL && weft_thread_info_wanted(env, thread);
    if (wanted && !is_idle(&before.io)) {
        r.stack = stack_of(env, thread);
    }
    (*env)->DeleteLocalRef(env, thread);
    r.class_id = wanted ? weft_io_names_id(&before.io, weft_settings_io_names()) : 0;
    // After the stack and the name, so that they belong to this call.
    if (r.class_id != 0 && is_still(s, w, place, &before)) {
        add(s, w, &r);
        w->seen.reported = true;
    }
}

static bool is_wanted(JNIEnv *env, uint64_t thread) {
    jthread object = weft_thread_refs_find(env, thread);
    bool wanted = object != NULL && weft_thread_info_wanted(env, object);
    (*env)->DeleteLocalRef(env, object);
    return wanted;
}

// Reads the clocks of a thread that may be on a processor. It may compute for long without an
// event.
static void report_usage(JNIEnv *env, struct state *s, struct watched *w, size_t place) {
    struct weft_tid tid;
    struct weft_usage used;
    struct weft_record r = {.kind = WEFT_EV_CPU, .flags = WEFT_FLAG_SNAPSHOT};
    if (!is_wanted(env, w->thread) || !weft_tids_look(place, &tid)) {
        return;
    }
    int kept = w->files[SCHEDSTAT];
    int file = kept > 0 ? kept - 1 : open_file(tid.tid, SCHEDSTAT);
    r.time = weft_clock();
    // After that, it is still the same thread, which has written nothing.
    if (weft_usage_of(tid.tid, file, &used) && weft_tids_look(place, &tid) &&
        tid.thread == w->thread && tid.idle && tid.written == w->seen.last.written) {
        r.arg = used.cpu;
        w->read = r.time;
        s->found[s->count++] = (struct weft_finding){.thread = w->thread,
                                                     .position = tid.written,
                                                     .seen = true,
                                                     .queued = used.queued,
                                                     .record = r};
    }
    if (kept == 0 && file >= 0) {
        close(file);
    }
}

static void look_at_place(JNIEnv *env, struct state *s, size_t place) {
    struct weft_tid tid;
    struct weft_sight sight;
    struct watched *w = &s->watched[place];
    if (!weft_tids_look(place, &tid)) {
        forget(s, w);
        return;
    }
    if (w->thread != tid.thread) {
        forget(s, w);
        w->thread = tid.thread;
    }
    if (tid.written == w->seen.last.written && w->rest > 0) {
        w->rest--;
        return;
    }
    keep_files(s, w, tid.tid);
    if (!tid.idle || !look_at(s, w, &tid, &sight)) {
        w->seen = (struct weft_sightings){0};
        return;
    }
    bool waits = sight.io.verb == WEFT_IO_NONE && !sight.runnable;
    if (!weft_settings_io()) {
        sight.io.verb = WEFT_IO_NONE;
    }
    enum weft_verdict verdict = weft_sighting_next(&w->seen, &sight);
    if (verdict == WEFT_SEEN_WAITING) {
        report_wait(env, s, w, place);
    } else if (verdict == WEFT_SEEN_GONE) {
        const struct weft_record r = {.time = sight.time, .kind = WEFT_EV_UNPARKED};
        add(s, w, &r);
        w->seen.reported = false;
    } else if (sight.runnable && weft_settings_wanted(WEFT_EV_CPU) &&
               sight.time - w->read >= READ_EVERY_MS * MILLISECOND) {
        report_usage(env, s, w, place);
    }
    w->rest = waits ? REST : 0;
}

// What was reported is no longer known to the receiver.
static void begin_anew(struct state *s) {
    unsigned pauses = atomic_load(&weft_pauses);
    unsigned epoch = atomic_load(&weft_epoch);
    for (size_t i = 0; (pauses != s->pauses || epoch != s->epoch) && i < WEFT_TIDS_MAX; i++) {
        s->watched[i].seen.reported = false;
    }
    s->pauses = pauses;
    s->epoch = epoch;
}

static void end_all(struct state *s) {
    for (size_t i = 0; i < WEFT_TIDS_MAX; i++) {
        struct watched *w = &s->watched[i];
        if (w->seen.reported && s->count < POSTED) {
            const struct weft_record r = {.time = weft_clock(), .kind = WEFT_EV_UNPARKED};
            add(s, w, &r);
        }
        forget(s, w);
    }
}

static void look(JNIEnv *env, void *state, const struct weft_look_in *in) {
    struct state *s = state;
    if (!atomic_load(&weft_tracing) || weft_settings_aggregated() ||
        (s->found = calloc(POSTED, sizeof *s->found)) == NULL) {
        return;
    }
    s->count = 0;
    begin_anew(s);
    bool wanted = weft_settings_io() || weft_settings_wanted(WEFT_EV_CPU);
    size_t size = wanted ? weft_tids_size() : 0;
    if (size == 0) {
        end_all(s);
    }
    size_t first = size == 0 ? 0 : s->first % size;
    for (size_t i = 0; i < size && !atomic_load(&in->stop); i++) {
        s->first = (first + i) % size;
        if (s->count == POSTED) {
            break;
        }
        look_at_place(env, s, s->first);
    }
    bool any = s->count > 0;
    weft_findings_post(s->found, s->count);
    if (any) {
        weft_sender_wake();
    }
}

// Lists the threads that are older than the session.
static void list_others(JNIEnv *env, const struct state *s) {
    jint count = 0;
    jthread *threads = NULL;
    if (!weft_native_id_init()) {
        weft_notices_raise(WEFT_NOTICE_NO_OLDER_THREADS);
        return;
    }
    if ((*weft_jvm.ti)->GetAllThreads(weft_jvm.ti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    (*env)->EnsureLocalCapacity(env, count);
    for (jint i = 0; i < count; i++) {
        jint frames = 0;
        uint64_t id = weft_jvm_thread_id(env, threads[i]);
        for (int try = 0; try < TRIES && id != 0 && !weft_jvm_is_carrier(env, threads[i]); try++) {
            uint64_t ends = weft_tids_ends();
            // The JVM's own compiler threads end without a report. They run no Java.
            if ((*weft_jvm.ti)->GetFrameCount(weft_jvm.ti, threads[i], &frames) !=
                    JVMTI_ERROR_NONE ||
                frames == 0) {
                break;
            }
            pid_t tid = weft_native_id(env, threads[i], s->memory);
            if (tid == 0) {
                break;
            }
            if (weft_tids_add_other(id, tid, ends)) {
                weft_thread_refs_add(env, threads[i], id);
                break;
            }
        }
        if (id != 0 && !weft_tids_has(id)) {
            weft_thread_refs_remove(env, id); // it has ended meanwhile
        }
        (*env)->DeleteLocalRef(env, threads[i]);
    }
    weft_jvm_deallocate(threads);
}

// Whether this system shows the calls and the times of threads.
static bool is_shown(void) {
    char line[LINE];
    const struct watched none = {0};
    struct weft_system_call call;
    struct weft_usage used;
    pid_t self = (pid_t)syscall(SYS_gettid); // glibc has gettid since 2.30 only
    return read_file(&none, self, SYSCALL, line) && weft_system_call_parse(line, &call) &&
           read_file(&none, self, SCHEDSTAT, line) && weft_usage_parse(line, &used);
}

static void *begin(JNIEnv *env) {
    if (!is_shown()) {
        weft_notices_raise(WEFT_NOTICE_NO_CALLS);
        return NULL;
    }
    struct state *s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        list_others(env, s);
    }
    return s;
}

static void end(void *state) {
    struct state *s = state;
    for (size_t i = 0; i < WEFT_TIDS_MAX; i++) {
        forget(s, &s->watched[i]);
    }
    close(s->memory);
    free(s);
}

static const struct weft_looks looks = {"weft-calls", NULL, NULL, begin, look, end};

void weft_calls_start(void) {
    current = weft_looker_start(&looks);
}

void weft_calls_stop(void) {
    weft_looker_stop(current);
    current = NULL;
}
