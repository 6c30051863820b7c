// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the encoder against the specification's vectors. Each file of protocol/vectors contains a
// stream as text and as bytes; every line that an agent can send is encoded and compared. Frames of
// a receiver are decoded instead. Lines that this encoder cannot produce (raw bytes, strings with a
// zero) are skipped by the length of their bytes, and counted.

#include <ctype.h>

#include "harness.h"
#include "wire/wire.h"

static char *text;     // the file
static uint8_t *bytes; // its hexadecimal part
static size_t byte_count;
static int compared;
static int passed_over;
static bool encodable; // so far, on this line
static char unquoted[8][70000];

static const struct {
    const char *name;
    uint16_t number;
} kinds[] = {
#define X(NAME, number, name) {name, number},
    WEFT_EVENT_KINDS(X)
#undef X
};

// Finds " name=" in a line; returns the text after it.
static const char *field(const char *line, const char *name) {
    char key[64];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(line, key);
    return at == NULL ? NULL : at + strlen(key);
}

static uint64_t number(const char *line, const char *name) {
    const char *at = field(line, name);
    if (at == NULL) {
        return 0;
    }
    return *at == '-' ? (uint64_t)strtoll(at, NULL, 10) : strtoull(at, NULL, 10);
}

static unsigned hex_digit(char c) {
    return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

// Reads a quoted string into a slot; returns the text after it.
static const char *quoted(const char *at, int slot) {
    char *out = unquoted[slot];
    if (at == NULL || *at != '"') {
        *out = '\0';
        return at;
    }
    for (at++; *at != '"'; at++) {
        if (*at == '\\' && at[1] == 'x') {
            *out = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
            encodable = encodable && *out != '\0';
            at += 3;
        } else {
            at += *at == '\\';
            *out = *at;
        }
        out++;
    }
    *out = '\0';
    return at + 1;
}

static const char *string(const char *line, const char *name, int slot) {
    quoted(field(line, name), slot);
    return unquoted[slot];
}

static void read_bytes(const char *hex, uint8_t into[16]) {
    for (size_t i = 0; i < 16; i++) {
        into[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
    }
}

static void put_hello(struct weft_bytes *b, const char *line) {
    static struct weft_attribute attributes[2][4];
    struct weft_hello hello = {
        .wall = (int64_t)number(line, "wall"),
        .monotonic = (int64_t)number(line, "monotonic"),
        .pid = (uint32_t)number(line, "pid"),
        .acked = number(line, "acked"),
        .attributes = attributes[0],
        .headers = attributes[1],
    };
    read_bytes(field(line, "session"), hello.session);
    if (field(line, "secret") != NULL) {
        read_bytes(field(line, "secret"), hello.secret);
    }
    const char *headers = strstr(line, " headers ");
    const char *at = strchr(line, '"');
    for (int slot = 0; at != NULL && slot < 8; slot += 2) {
        bool header = headers != NULL && at > headers;
        at = quoted(at, slot);
        at = quoted(at + 1, slot + 1); // after the equals sign
        struct weft_attribute attribute = {unquoted[slot], unquoted[slot + 1]};
        attributes[header][header ? hello.header_count++ : hello.attribute_count++] = attribute;
        at = strchr(at, '"');
    }
    encodable = encodable && at == NULL;
    weft_wire_put_hello(b, &hello);
}

// Reads a:b,a:b,... into two tables.
static uint16_t pairs(const char *at, int64_t *first, int64_t *second) {
    uint16_t count = 0;
    while (at != NULL && *at != '\0' && *at != ' ') {
        char *end;
        first[count] = strtoll(at, &end, 10);
        second[count++] = strtoll(end + 1, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

static void put_definition(struct weft_bytes *b, const char *line) {
    static int64_t first[70000];
    static int64_t second[70000];
    static struct weft_line lines[70000];
    static struct weft_frame frames[70000];
    uint64_t id = number(line, "id");
    uint16_t flags = (uint16_t)number(line, "flags");
    if (strncmp(line, "thread", 6) == 0) {
        weft_wire_put_thread(b, id, flags, string(line, "name", 0), string(line, "group", 1));
    } else if (strncmp(line, "class", 5) == 0) {
        weft_wire_put_class(b, (uint32_t)id, string(line, "name", 0));
    } else if (strncmp(line, "method", 6) == 0) {
        uint16_t count = pairs(field(line, "lines"), first, second);
        for (uint16_t i = 0; i < count; i++) {
            lines[i] = (struct weft_line){(uint32_t)first[i], (uint32_t)second[i]};
        }
        weft_wire_put_method(b, (uint32_t)id, (uint32_t)number(line, "class"),
                             string(line, "name", 0), string(line, "signature", 1),
                             string(line, "file", 2), lines, count);
    } else {
        uint16_t count = pairs(field(line, "frames"), first, second);
        for (uint16_t i = 0; i < count; i++) {
            frames[i] = (struct weft_frame){(uint32_t)first[i], (int32_t)second[i]};
        }
        struct weft_named_lock lock = {.name = string(line, "lock", 0),
                                       .frame = (uint16_t)number(line, "lockFrame")};
        weft_wire_put_stack(b, (uint32_t)id, flags, frames, count, &lock);
    }
}

static uint16_t kind_of(const char *word) {
    size_t len = strcspn(word, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].name) == len && strncmp(word, kinds[i].name, len) == 0) {
            return kinds[i].number;
        }
    }
    encodable = false;
    return 0;
}

static void put_event(struct weft_bytes *b, const char *line) {
    struct weft_record r = {
        .time = (int64_t)number(line, "time"),
        .peer = number(line, "peer"),
        .arg = (int64_t)number(line, "arg"),
        .stack = (uint32_t)number(line, "stack"),
        .flags = (uint16_t)number(line, "flags"),
    };
    const char *lock = field(line, "lock");
    if (lock != NULL) {
        r.class_id = (uint32_t)strtoul(lock, NULL, 10);
        r.hash = (uint32_t)strtoul(strchr(lock, '/') + 1, NULL, 16);
    }
    r.kind = kind_of(line + 6);
    line = strstr(line, " time="); // the kind may be called like a flag
    r.flags |= strstr(line, " timedOut") != NULL ? WEFT_FLAG_TIMED_OUT : 0;
    r.flags |= strstr(line, " interrupted") != NULL ? WEFT_FLAG_INTERRUPTED : 0;
    r.flags |= strstr(line, " virtual") != NULL ? WEFT_FLAG_VIRTUAL : 0;
    r.flags |= strstr(line, " snapshot") != NULL ? WEFT_FLAG_SNAPSHOT : 0;
    r.flags |= strstr(line, " systemCall") != NULL ? WEFT_FLAG_SYSTEM_CALL : 0;
    weft_wire_put_record(b, &r);
}

static void put_series(struct weft_bytes *b, const char *line) {
    uint64_t buckets[64];
    uint16_t count = 0;
    struct weft_series s = {
        .kind = kind_of(line + 7),
        .flags = strstr(line, " overflow") != NULL ? WEFT_SERIES_OVERFLOW : 0,
        .class_id = (uint32_t)number(line, "class"),
        .stack = (uint32_t)number(line, "stack"),
        .sum = (int64_t)number(line, "sum"),
        .max = (int64_t)number(line, "max"),
        .zero = number(line, "zero"),
        .offset = (int32_t)number(line, "offset"),
    };
    const char *at = field(line, "buckets");
    while (at != NULL && isdigit((unsigned char)*at) && count < 64) {
        char *end;
        buckets[count++] = strtoull(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    weft_wire_put_series(b, &s, buckets, count);
}

// Takes the next line with content, without its indentation. NULL at the end of the text.
static char *next_line(char **rest) {
    while (**rest != '\0') {
        char *line = *rest;
        char *end = strchr(line, '\n');
        *rest = end == NULL ? line + strlen(line) : end + 1;
        if (end != NULL) {
            *end = '\0';
        }
        line += strspn(line, " ");
        if (*line != '\0' && *line != '#') {
            return line;
        }
    }
    return NULL;
}

// Puts back a line that belongs to the next frame.
static void put_back(char *line, char *before, char **rest) {
    if (line != NULL) {
        line[strlen(line)] = **rest == '\0' ? '\0' : '\n';
        *rest = before;
    }
}

static void put_aggregate(struct weft_bytes *b, const char *line, char **rest) {
    size_t aggregate = weft_wire_open_aggregate(
        b, number(line, "sequence"), (int64_t)number(line, "watermark"), number(line, "before"),
        (int64_t)number(line, "from"), (int64_t)number(line, "to"), (int32_t)number(line, "scale"));
    char *before = *rest;
    char *next = next_line(rest);
    for (; next != NULL && strncmp(next, "series", 6) == 0; next = next_line(rest)) {
        put_series(b, next);
        before = *rest;
    }
    put_back(next, before, rest);
    weft_wire_close_batch(b, aggregate);
}

static void put_batch(struct weft_bytes *b, const char *line, char **rest) {
    size_t batch = weft_wire_open_batch(b, number(line, "sequence"),
                                        (int64_t)number(line, "watermark"), number(line, "before"));
    size_t section = 0;
    for (uint32_t count = 0;;) {
        char *before = *rest;
        char *next = next_line(rest);
        bool is_section = next != NULL && strncmp(next, "section", 7) == 0;
        bool is_event = next != NULL && strncmp(next, "event", 5) == 0;
        if (section != 0 && !is_event) {
            weft_wire_close_section(b, section, count);
            section = 0;
        }
        if (is_section) {
            section = weft_wire_open_section(b, number(next, "thread"));
            count = 0;
        } else if (is_event) {
            put_event(b, next);
            count++;
        } else {
            put_back(next, before, rest);
            break;
        }
    }
    weft_wire_close_batch(b, batch);
}

// Encodes one frame; false if no agent sends it.
static bool encode(struct weft_bytes *b, char *line, char **rest) {
    if (strncmp(line, "preamble", 8) == 0) {
        weft_wire_put_preamble(b);
        return number(line, "version") == WEFT_PROTOCOL_VERSION;
    }
    if (strncmp(line, "hello", 5) == 0) {
        put_hello(b, line);
    } else if (strncmp(line, "batch", 5) == 0) {
        put_batch(b, line, rest);
    } else if (strncmp(line, "aggregate", 9) == 0) {
        put_aggregate(b, line, rest);
    } else if (strncmp(line, "clock", 5) == 0) {
        weft_wire_put_clock(b, (int64_t)number(line, "wall"), (int64_t)number(line, "monotonic"));
    } else if (strncmp(line, "end", 3) == 0) {
        weft_wire_put_end(b, (int64_t)number(line, "time"), (uint16_t)number(line, "reason"));
    } else if (strncmp(line, "thread ", 7) == 0 || strncmp(line, "class ", 6) == 0 ||
               strncmp(line, "method ", 7) == 0 || strncmp(line, "stack ", 6) == 0) {
        put_definition(b, line);
    } else {
        return false;
    }
    return encodable;
}

// Decodes a receiver's frame and compares it with its line.
static bool read_back(const char *line, size_t at) {
    struct weft_reply reply;
    ptrdiff_t n = weft_wire_read_reply(bytes + at, byte_count - at, &reply);
    if (strncmp(line, "welcome", 7) == 0) {
        CHECK(n > 0 && reply.kind == WEFT_FRAME_WELCOME && reply.sequence == number(line, "acked"));
    } else if (strncmp(line, "ack", 3) == 0) {
        CHECK(n > 0 && reply.kind == WEFT_FRAME_ACK && reply.sequence == number(line, "sequence"));
    } else if (strncmp(line, "refuse", 6) == 0) {
        CHECK(n > 0 && reply.kind == WEFT_FRAME_REFUSE && reply.code == number(line, "code"));
    } else {
        return false;
    }
    compared++;
    return true;
}

static size_t frame_length(size_t at) {
    uint32_t length = 0;
    if (byte_count - at >= 4) {
        memcpy(&length, bytes + at, 4);
    }
    return WEFT_FRAME_HEADER_SIZE + (size_t)length;
}

static void check_file(const char *name) {
    char *rest = text;
    size_t at = 0;
    for (char *line = next_line(&rest); line != NULL; line = next_line(&rest)) {
        struct weft_bytes b = {0};
        encodable = true;
        if (strncmp(line, "raw", 3) == 0) {
            passed_over++;
            return; // the end of these bytes is unknown
        }
        if (encode(&b, line, &rest)) {
            bool same = at + b.len <= byte_count && memcmp(bytes + at, b.data, b.len) == 0;
            if (!same) {
                fprintf(stderr, "%s: at byte %zu, not the same: %.100s\n", name, at, line);
            }
            CHECK(same);
            compared++;
            at += b.len;
        } else {
            passed_over += !read_back(line, at);
            at += frame_length(at);
        }
        weft_bytes_free(&b);
    }
    CHECK_INT(at, byte_count);
}

static void read_hex(char *from) {
    char *end = strstr(from, "\n--");
    byte_count = 0;
    bytes = malloc(strlen(from) / 2 + 1);
    int high = -1;
    for (char *c = from; *c != '\0' && c != end; c++) {
        if (!isxdigit((unsigned char)*c)) {
            continue;
        }
        if (high < 0) {
            high = (int)hex_digit(*c);
        } else {
            bytes[byte_count++] = (uint8_t)((unsigned)high << 4 | hex_digit(*c));
            high = -1;
        }
    }
}

static char *read_file(const char *name) {
    FILE *f = fopen(name, "r");
    if (f == NULL) {
        return NULL;
    }
    char *content = calloc(1, 1 << 20);
    size_t n = fread(content, 1, (1 << 20) - 1, f);
    content[n] = '\0';
    fclose(f);
    return content;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        harness_test = argv[i];
        text = read_file(argv[i]);
        char *hex = text == NULL ? NULL : strstr(text, "-- hex --\n");
        CHECK(hex != NULL);
        if (hex != NULL) {
            read_hex(hex + strlen("-- hex --\n"));
            *hex = '\0';
            check_file(argv[i]);
            free(bytes);
        }
        free(text);
    }
    CHECK(argc == 1 || compared > 0);
    printf("     %d frames compared, %d passed over\n", compared, passed_over);
    return harness_end("vectors");
}
