// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/buffer.h"
#include "record/definitions.h"
#include "record/roster.h"

// Reserved for the losses and the end frame.
enum { RESERVE = 1024 };

// Appends all of out to the whole frames, or nothing.
static bool write_out(struct weft_recording *r, size_t limit) {
    bool ok = !r->out.failed && r->size + r->out.len <= limit;
    size_t done = 0;
    while (ok && done < r->out.len) {
        ssize_t n = pwrite(r->fd, r->out.data + done, r->out.len - done, (off_t)(r->size + done));
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            ok = false;
        }
    }
    if (ok) {
        r->size += done;
    } else if (done > 0 && ftruncate(r->fd, (off_t)r->size) != 0) {
        ok = false; // readers ignore a truncated frame
    }
    r->out.len = 0;
    r->out.failed = false;
    return ok;
}

static bool is_recording(int fd) {
    char magic[4];
    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           memcmp(magic, WEFT_MAGIC, sizeof magic) == 0;
}

// Why an opened file must not be replaced, with a remedy; NULL: it may. Another user could have put
// it there to read what the agent writes.
static const char *obstacle(int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return "it is not a regular file; use another path";
    }
    if (st.st_uid != geteuid()) {
        return "it belongs to another user; use another path";
    }
    if (st.st_nlink != 1) {
        return "it has a second name (a hard link); remove it";
    }
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return "others have permissions for it; remove it, or chmod 600";
    }
    // Such as a child of this JVM that inherited the options. Unknown on file systems without
    // locks.
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return "another JVM is recording to it; use another path";
    }
    return st.st_size == 0 || is_recording(fd) ? NULL
                                               : "it exists and is not a recording; use another "
                                                 "path";
}

// Begins the file. Returns why it could not, with a remedy; NULL: it did.
static const char *begin(struct weft_recording *r, size_t limit, const struct weft_hello *hello) {
    struct weft_hello open_hello = *hello; // who reads the file must not own the session
    const char *why = obstacle(r->fd);
    if (why != NULL) {
        return why;
    }
    memset(open_hello.secret, 0, sizeof open_hello.secret);
    open_hello.header_count = 0;
    weft_wire_put_preamble(&r->out);
    weft_wire_put_hello(&r->out, &open_hello);
    return ftruncate(r->fd, 0) == 0 && write_out(r, limit)
               ? NULL
               : "it cannot be written; check the space on its disk";
}

bool weft_recording_open(struct weft_recording *r, const char *path, size_t limit,
                         const struct weft_hello *hello, char problem[WEFT_PROBLEM_MAX]) {
    *r = (struct weft_recording){.limit = limit, .sequence = 1};
    r->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (r->fd < 0) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"file\": %.256s: %s; use another path", path,
                 strerror(errno));
        return false;
    }
    const char *why = begin(r, limit, hello);
    if (why != NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"file\": %.256s: %s", path, why);
        weft_recording_drop(r);
    }
    return why == NULL;
}

void weft_recording_drop(struct weft_recording *r) {
    if (r->fd >= 0) {
        close(r->fd);
    }
    r->fd = -1;
    weft_bytes_free(&r->out);
}

static void add_definitions(struct weft_recording *r, uint64_t end) {
    for (uint64_t at = r->definitions; at < end;) {
        size_t len;
        const uint8_t *data = weft_definitions_read(at, end, &len);
        weft_bytes_append(&r->out, data, len);
        at += len;
    }
    weft_roster_encode(&r->out);
}

// Counts the events in a batch that is not written. The agent built it, so it is well-formed.
static uint64_t events_in(const uint8_t *at, const uint8_t *end) {
    uint64_t events = 0;
    for (at += WEFT_BATCH_HEADER_SIZE; at < end;) {
        uint32_t count;
        memcpy(&count, at + 8, sizeof count);
        at += WEFT_SECTION_SIZE;
        for (uint32_t i = 0; i < count; i++, at += WEFT_RECORD_SIZE) {
            struct weft_record record;
            memcpy(&record, at, sizeof record);
            events += record.kind == WEFT_EV_GAP ? (uint64_t)record.arg : 1;
        }
    }
    return events;
}

static uint64_t waits_in(const uint8_t *at, const uint8_t *end) {
    uint64_t waits = 0;
    for (at += WEFT_AGGREGATE_HEADER_SIZE; at < end;) {
        struct weft_series series;
        memcpy(&series, at, sizeof series);
        waits += series.zero;
        at += sizeof series;
        for (uint16_t i = 0; i < series.buckets; i++, at += sizeof(uint64_t)) {
            uint64_t count;
            memcpy(&count, at, sizeof count);
            waits += count;
        }
    }
    return waits;
}

// Counts what is not written. Nothing is written from here on, so that there are no holes.
static void lose(struct weft_recording *r, const struct weft_batch *batch) {
    const uint8_t *at = batch->data + WEFT_FRAME_HEADER_SIZE;
    const uint8_t *end = batch->data + batch->len;
    uint16_t kind;
    memcpy(&kind, batch->data + 4, sizeof kind);
    if (!r->full) {
        r->full = true;
        memcpy(&r->since, at + 8, sizeof r->since);
        memcpy(&r->before, at + 16, sizeof r->before);
        weft_roster_disconnected(); // otherwise dead threads would be kept until they are sent
    }
    r->lost += kind == WEFT_FRAME_AGGREGATE ? waits_in(at, end) : events_in(at, end);
}

void weft_recording_step(struct weft_recording *r, struct weft_retain *retain) {
    for (struct weft_batch *batch = retain->oldest; batch != NULL; batch = retain->oldest) {
        if (!r->full) {
            add_definitions(r, batch->definitions);
            weft_bytes_append(&r->out, batch->data, batch->len);
        }
        if (!r->full && write_out(r, r->limit - RESERVE)) {
            r->definitions = batch->definitions;
            r->sequence = batch->sequence + 1;
        } else {
            lose(r, batch);
        }
        retain->unsent = batch->next;
        weft_retain_drop(retain, batch->sequence);
    }
}

void weft_recording_close(struct weft_recording *r, int64_t time, uint16_t reason) {
    if (r->lost > 0) {
        struct weft_record gap = {.time = r->since, .arg = (int64_t)r->lost, .kind = WEFT_EV_GAP};
        weft_wire_put_thread(&r->out, WEFT_LOST_THREAD, 0, "(lost)", "");
        size_t batch = weft_wire_open_batch(&r->out, r->sequence, r->since, r->before);
        size_t section = weft_wire_open_section(&r->out, WEFT_LOST_THREAD);
        weft_wire_put_record(&r->out, &gap);
        weft_wire_close_section(&r->out, section, 1);
        weft_wire_close_batch(&r->out, batch);
    }
    // What the threads did after the loss is not known.
    weft_wire_put_end(&r->out, r->lost > 0 ? r->since : time, reason);
    write_out(r, r->limit);
    weft_recording_drop(r);
}
