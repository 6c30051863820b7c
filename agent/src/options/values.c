// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/values.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/endpoint.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

#define MILLISECOND UINT64_C(1000000)
#define SECOND      (1000 * MILLISECOND)
#define HOUR        (3600 * SECOND)

struct unit {
    const char *suffix;
    uint64_t size;
};

enum { UNITS = 7 };

static const struct unit none[UNITS] = {{"", 1}};
static const struct unit sizes[UNITS] = {{"", 1},    {"k", KIB}, {"m", MIB}, {"g", GIB},
                                         {"K", KIB}, {"M", MIB}, {"G", GIB}};
static const struct unit short_times[UNITS] = {
    {"s", SECOND}, {"ms", MILLISECOND}, {"us", 1000}, {"ns", 1}};
static const struct unit long_times[UNITS] = {
    {"h", HOUR}, {"m", 60 * SECOND}, {"s", SECOND}, {"ms", MILLISECOND}};

// Reads a number with its unit. False if it is malformed or not between least and most.
static bool read_number(const char *value, const struct unit *units, uint64_t least, uint64_t most,
                        uint64_t *result) {
    char *end;
    uint64_t unit = 0;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    for (int i = 0; i < UNITS && units[i].suffix != NULL; i++) {
        unit = strcmp(end, units[i].suffix) == 0 ? units[i].size : unit;
    }
    if (value[0] < '0' || value[0] > '9' || errno != 0 || unit == 0 || n > most / unit ||
        n * unit < least) {
        return false;
    }
    *result = n * unit;
    return true;
}

// Shows a time in the largest unit that divides it.
static void show_time(const struct unit *units, uint64_t ns, char text[WEFT_VALUE_MAX]) {
    while (ns % units->size != 0 && units[1].suffix != NULL) {
        units++;
    }
    snprintf(text, WEFT_VALUE_MAX, "%llu%s", (unsigned long long)(ns / units->size), units->suffix);
}

static bool take_text(const struct weft_option *option, const char *value, void *to,
                      char *problem) {
    size_t len = strlen(value);
    if (len < option->least || len >= option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid length: want %zu to %zu characters", option->key,
                 option->least, option->most - 1);
        return false;
    }
    memcpy(to, value, len + 1);
    return true;
}

static void show_text(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", (const char *)from);
}

static bool take_file(const struct weft_option *option, const char *value, void *to,
                      char *problem) {
    char path[WEFT_VALUE_MAX];
    size_t len = 0;
    for (const char *at = value; *at != '\0' && len < sizeof path; at++) {
        int written;
        if (*at != '%') {
            written = snprintf(path + len, sizeof path - len, "%c", *at);
        } else if (at[1] == 'p') {
            written = snprintf(path + len, sizeof path - len, "%d", (int)getpid());
        } else if (at[1] == '%') {
            written = snprintf(path + len, sizeof path - len, "%%");
        } else {
            snprintf(
                problem, WEFT_PROBLEM_MAX,
                "option \"%s\": invalid \"%.2s\" in \"%.128s\": want %%p for the process ID, or "
                "%%%% for a percent sign",
                option->key, at, value);
            return false;
        }
        len += (size_t)written;
        at += *at == '%';
    }
    path[len < sizeof path ? len : sizeof path - 1] = '\0'; // if cut, it is too long for the option
    return take_text(option, path, to, problem);
}

static bool take_endpoint(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    if (!weft_endpoint_valid(value)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid endpoint \"%.128s\": want unix:///path, tcp://host:port "
                 "or tls://host:port",
                 option->key, value);
        return false;
    }
    return take_text(option, value, to, problem);
}

static bool take_switch(const struct weft_option *option, const char *value, void *to,
                        char *problem) {
    bool on = strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid value \"%.64s\": want on or off", option->key, value);
        return false;
    }
    *(bool *)to = on;
    return true;
}

static void show_switch(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", *(const bool *)from ? "on" : "off");
}

static bool take_mode(const struct weft_option *option, const char *value, void *to,
                      char *problem) {
    bool aggregated = strcmp(value, "aggregated") == 0;
    if (!aggregated && strcmp(value, "details") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid mode \"%.64s\": want details or aggregated", option->key,
                 value);
        return false;
    }
    *(bool *)to = aggregated;
    return true;
}

static void show_mode(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", *(const bool *)from ? "aggregated" : "details");
}

static const char *const extents[] = {
    [WEFT_VIRTUAL_OFF] = "off", [WEFT_VIRTUAL_ON] = "on", [WEFT_VIRTUAL_EXACT] = "exact"};

static bool take_extent(const struct weft_option *option, const char *value, void *to,
                        char *problem) {
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        if (strcmp(value, extents[i]) == 0) {
            *(enum weft_virtual *)to = (enum weft_virtual)i;
            return true;
        }
    }
    snprintf(problem, WEFT_PROBLEM_MAX,
             "option \"%s\": invalid value \"%.64s\": want off, on or exact", option->key, value);
    return false;
}

static void show_extent(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", extents[*(const enum weft_virtual *)from]);
}

static bool take_depth(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    uint64_t frames;
    if (!read_number(value, none, 0, option->most, &frames)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid number of frames \"%.64s\": want 0 to %zu", option->key,
                 value, option->most);
        return false;
    }
    *(int *)to = (int)frames;
    return true;
}

static void show_depth(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%d", *(const int *)from);
}

// 100 ms to 24 h.
static bool take_interval(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    if (!read_number(value, long_times, 100 * MILLISECOND, 24 * HOUR, to)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid interval \"%.64s\": want 100ms to 24h, such as 10s",
                 option->key, value);
        return false;
    }
    return true;
}

static void show_interval(const void *from, char text[WEFT_VALUE_MAX]) {
    show_time(long_times, *(const uint64_t *)from, text);
}

static bool take_count(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    if (!read_number(value, none, option->least, option->most, to)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid number \"%.64s\": want %zu to %zu", option->key, value,
                 option->least, option->most);
        return false;
    }
    return true;
}

static bool take_command(const struct weft_option *option, const char *value, void *to,
                         char *problem) {
    if (strcmp(value, "now") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": invalid value \"%.64s\": want now",
                 option->key, value);
        return false;
    }
    *(bool *)to = true;
    return true;
}

static bool take_bytes(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    if (!read_number(value, sizes, option->least, GIB, to)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid size \"%.64s\": want %zuk to 1g, such as 16m", option->key,
                 value, (size_t)(option->least / KIB));
        return false;
    }
    return true;
}

static void show_bytes(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%zu", *(const size_t *)from);
}

static bool take_duration(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    const char *text = strcmp(value, "0") == 0 ? "0s" : value;
    if (!read_number(text, short_times, 0, option->most, to)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": invalid duration \"%.64s\": want 0 to %zus, such as 20ms",
                 option->key, value, (size_t)(option->most / SECOND));
        return false;
    }
    return true;
}

static void show_duration(const void *from, char text[WEFT_VALUE_MAX]) {
    uint64_t ns = *(const uint64_t *)from;
    if (ns == 0) {
        snprintf(text, WEFT_VALUE_MAX, "0");
    } else {
        show_time(short_times + 1, ns, text); // whole seconds in milliseconds
    }
}

const struct weft_type WEFT_DURATION = {take_duration, show_duration};
const struct weft_type WEFT_TEXT = {take_text, show_text};
const struct weft_type WEFT_FILE = {take_file, show_text};
const struct weft_type WEFT_ENDPOINT = {take_endpoint, show_text};
const struct weft_type WEFT_DEPTH = {take_depth, show_depth};
const struct weft_type WEFT_SWITCH = {take_switch, show_switch};
const struct weft_type WEFT_BYTES = {take_bytes, show_bytes};
const struct weft_type WEFT_MODE = {take_mode, show_mode};
const struct weft_type WEFT_EXTENT = {take_extent, show_extent};
const struct weft_type WEFT_INTERVAL = {take_interval, show_interval};
const struct weft_type WEFT_COUNT = {take_count, show_bytes};
const struct weft_type WEFT_COMMAND = {take_command, NULL};
