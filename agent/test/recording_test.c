// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a recording is well-formed whatever happens to its file. The witness reads it.

#include "send/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "record/definitions.h"
#include "record/roster.h"
#include "witness.h"

static char path[64];
static struct weft_recording recording;
static struct weft_retain retain;
static struct witness witness;
static uint64_t sequence;
static uint64_t before;

// More than is ever written, unless a test sets it.
static const size_t PLENTY = 1U << 30;

static const struct weft_attribute attributes[] = {{"service.name", "test"}};
static const struct weft_hello hello = {
    .session = {1},
    .monotonic = 1,
    .attributes = attributes,
    .attribute_count = 1,
    .headers = &(const struct weft_attribute){"authorization", "Bearer of-this-jvm"},
    .header_count = 1,
    .secret = "only the JVM's",
};

static void begin(size_t limit) {
    sequence = before = 0;
    char problem[WEFT_PROBLEM_MAX] = "";
    CHECK(weft_recording_open(&recording, path, limit, &hello, problem));
    CHECK_STRING(problem, "");
    weft_roster_connected();
}

static void keep(struct weft_bytes *b, size_t batch) {
    weft_wire_close_batch(b, batch);
    CHECK(weft_retain_add(&retain, sequence, weft_definitions_end(), b->data, b->len));
    weft_bytes_free(b);
}

// A batch with a number of events of one thread.
static void add_events(uint64_t thread, uint32_t count) {
    struct weft_bytes b = {0};
    sequence++;
    size_t batch = weft_wire_open_batch(&b, sequence, (int64_t)sequence, before);
    size_t section = weft_wire_open_section(&b, thread);
    for (uint32_t i = 0; i < count; i++) {
        weft_wire_put_record(&b, &(struct weft_record){.kind = WEFT_EV_YIELD, .time = 1});
    }
    weft_wire_close_section(&b, section, count);
    weft_roster_mention(thread, sequence);
    before += count;
    keep(&b, batch);
}

// An aggregate with a number of waits in a number of series.
static void add_sums(uint64_t waits, int series) {
    struct weft_bytes b = {0};
    int64_t to = (int64_t)++sequence;
    size_t batch = weft_wire_open_aggregate(&b, sequence, to, before, to - 1, to, 2);
    for (int i = 0; i < series; i++) {
        struct weft_series s = {.kind = WEFT_EV_PARK, .zero = waits};
        weft_wire_put_series(&b, &s, NULL, 0);
    }
    keep(&b, batch);
}

static void end(void) {
    static uint8_t data[1 << 16];
    weft_recording_close(&recording, 1 << 20, 1);
    CHECK(retain.oldest == NULL);
    witness_init(&witness);
    witness_connect(&witness);
    int fd = open(path, O_RDONLY);
    ssize_t n = 0;
    while ((n = read(fd, data, sizeof data)) > 0 && witness_feed(&witness, data, (size_t)n)) {
    }
    close(fd);
    CHECK_STRING(witness.problem, "");
    CHECK(witness.ended);
    witness_free(&witness);
}

TEST(keeps_all) {
    begin(PLENTY);
    add_events(1, 100);
    weft_recording_step(&recording, &retain);
    add_events(1, 10);
    weft_recording_step(&recording, &retain);
    end();
    CHECK_INT(witness.total, 110);
    CHECK_INT(witness.lost, 0);
    CHECK_INT(witness.end, 1 << 20);
}

// Once a batch does not fit, all later ones are counted, and the recording ends there.
TEST(counts_events_that_do_not_fit) {
    begin(8192);
    add_events(1, 100);
    add_events(1, 1000);
    add_events(1, 1); // it would fit, but a batch before it is missing
    weft_recording_step(&recording, &retain);
    end();
    CHECK_INT(witness.total, 100);
    CHECK_INT(witness.lost, 1001);
    CHECK_INT(witness.end, 2); // the watermark of the second batch
}

TEST(counts_sums_that_do_not_fit) {
    begin(8192);
    add_sums(3, 10);
    add_sums(7, 1000);
    add_sums(1, 1);
    weft_recording_step(&recording, &retain);
    end();
    CHECK_INT(witness.aggregates, 1);
    CHECK_INT(witness.sums[WEFT_EV_PARK], 30);
    CHECK_INT(witness.lost, 7001);
}

// A disk that fills up within a frame.
TEST(keeps_whole_frames_on_a_full_disk) {
    const struct rlimit small = {8192, RLIM_INFINITY};
    const struct rlimit large = {RLIM_INFINITY, RLIM_INFINITY};
    begin(PLENTY);
    add_events(1, 100);
    weft_recording_step(&recording, &retain);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    add_events(1, 1000);
    weft_recording_step(&recording, &retain);
    setrlimit(RLIMIT_FSIZE, &large);
    add_events(1, 1);
    weft_recording_step(&recording, &retain);
    end();
    CHECK_INT(witness.total, 100);
    CHECK_INT(witness.lost, 1001);
}

// Short-lived threads do not pile up once nothing more is written.
TEST(forgets_threads_when_it_is_full) {
    const uint64_t many = (uint64_t)3 * WEFT_ROSTER_GONE;
    begin(8192);
    add_events(1, 1000);
    for (uint64_t id = 2; id < many; id++) {
        weft_roster_announce(id, 0, "worker", "test");
        weft_roster_collect();
        add_events(id, 1);
        weft_roster_gone(id, sequence);
        weft_recording_step(&recording, &retain);
        weft_roster_trim(sequence);
    }
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
    end();
    CHECK_INT(witness.total, 0);
    CHECK_INT(witness.lost, 1000 + many - 2);
}

TEST(has_no_credentials) {
    static uint8_t data[4096];
    begin(PLENTY);
    end();
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, data, sizeof data);
    close(fd);
    CHECK(n > 0);
    CHECK(memmem(data, (size_t)n, hello.session, sizeof hello.session) != NULL);
    CHECK(memmem(data, (size_t)n, hello.secret, sizeof hello.secret) == NULL);
    CHECK(memmem(data, (size_t)n, "of-this", 7) == NULL);
}

static void refuses(const char *file, const char *why) {
    struct weft_recording other;
    char problem[WEFT_PROBLEM_MAX] = "";
    char want[WEFT_PROBLEM_MAX];
    snprintf(want, sizeof want, "option \"file\": %s: %s", file, why);
    CHECK(!weft_recording_open(&other, file, PLENTY, &hello, problem));
    CHECK_STRING(problem, want);
    CHECK_INT(other.fd, -1);
}

// A file that others can reach may be there to read what the agent writes. It stays as it is.
TEST(refuses_files_of_others) {
    char link[sizeof path + 8];
    struct stat st;
    snprintf(link, sizeof link, "%s.link", path);
    refuses("/dev/null", "it is not a regular file; use another path");
    refuses("/nowhere/x", "No such file or directory; use another path");
    CHECK_INT(symlink(path, link), 0);
    refuses(link, "Too many levels of symbolic links; use another path");
    unlink(link);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (unsigned bit = 1; bit <= S_IRWXG; bit <<= 1) {
        CHECK_INT(fchmod(fd, S_IRUSR | S_IWUSR | bit), 0);
        refuses(path, "others have permissions for it; remove it, or chmod 600");
    }
    CHECK_INT(fchmod(fd, S_IRUSR | S_IWUSR), 0);
    CHECK_INT(linkat(AT_FDCWD, path, AT_FDCWD, link, 0), 0);
    refuses(path, "it has a second name (a hard link); remove it");
    unlink(link);
    if (geteuid() == 0 && fchown(fd, 4711, (gid_t)-1) == 0) {
        refuses(path, "it belongs to another user; use another path");
        CHECK_INT(fchown(fd, 0, (gid_t)-1), 0);
    }
    CHECK(write(fd, "mine", 4) == 4);
    refuses(path, "it exists and is not a recording; use another path");
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_size, 4);
    CHECK_INT(ftruncate(fd, 0), 0);
    close(fd);
    begin(PLENTY); // empty, and of this user only
    end();
}

// Another JVM with the same options does not overwrite a recording in progress.
TEST(leaves_a_recording_in_use_alone) {
    begin(PLENTY);
    add_events(1, 100);
    weft_recording_step(&recording, &retain);
    refuses(path, "another JVM is recording to it; use another path");
    end();
    CHECK_INT(witness.total, 100);
    begin(PLENTY);
    end();
    CHECK_INT(witness.total, 0);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/weft-recording-test-%d", (int)getpid());
    weft_definitions_init(1U << 20);
    RUN(keeps_all);
    RUN(counts_events_that_do_not_fit);
    RUN(counts_sums_that_do_not_fit);
    RUN(keeps_whole_frames_on_a_full_disk);
    RUN(forgets_threads_when_it_is_full);
    RUN(has_no_credentials);
    RUN(refuses_files_of_others);
    RUN(leaves_a_recording_in_use_alone);
    unlink(path);
    return harness_end("recording");
}
