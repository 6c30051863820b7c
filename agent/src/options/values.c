// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What may the value of an option be? See values.h.

#include "options/values.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/endpoint.h"

static const size_t KIB = 1024;
static const size_t MIB = 1048576;
static const size_t GIB = 1073741824;

static bool take_text(const struct weft_option *option, const char *value, void *to,
                      char *problem) {
    size_t len = strlen(value);
    if (len < option->least || len >= option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": give %zu to %zu characters",
                 option->key, option->least, option->most - 1);
        return false;
    }
    memcpy(to, value, len + 1);
    return true;
}

static void show_text(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", (const char *)from);
}

static bool take_endpoint(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    if (!weft_endpoint_valid(value)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.128s\" is no endpoint; give unix:///path or tcp://host:port",
                 option->key, value);
        return false;
    }
    return take_text(option, value, to, problem);
}

static bool take_depth(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (value[0] == '\0' || *end != '\0' || errno != 0 || n < 0 || n > (long)option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a number of frames; give 0 to %zu", option->key,
                 value, option->most);
        return false;
    }
    *(int *)to = (int)n;
    return true;
}

static void show_depth(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%d", *(const int *)from);
}

static bool take_switch(const struct weft_option *option, const char *value, void *to,
                        char *problem) {
    bool on = strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": \"%.64s\" is neither on nor off",
                 option->key, value);
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
                 "option \"%s\": \"%.64s\" is no mode; give details or aggregated", option->key,
                 value);
        return false;
    }
    *(bool *)to = aggregated;
    return true;
}

static void show_mode(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", *(const bool *)from ? "aggregated" : "details");
}

static const struct {
    const char *suffix;
    int64_t ns;
} time_units[] = {{"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000}, {"ms", 1000000}};

enum { TIME_UNITS = sizeof time_units / sizeof time_units[0] };

// 100 ms to 24 h.
static bool take_interval(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    int64_t unit = 0;
    for (size_t i = 0; i < TIME_UNITS; i++) {
        unit = strcmp(end, time_units[i].suffix) == 0 ? time_units[i].ns : unit;
    }
    if (value[0] < '0' || value[0] > '9' || errno != 0 || unit == 0 || n > 86400000 ||
        (int64_t)n > 86400000000000 / unit || (int64_t)n * unit < 100000000) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is no interval; give 100ms to 24h, such as 10s",
                 option->key, value);
        return false;
    }
    *(int64_t *)to = (int64_t)n * unit;
    return true;
}

static void show_interval(const void *from, char text[WEFT_VALUE_MAX]) {
    int64_t ns = *(const int64_t *)from;
    size_t i = 0;
    while (i + 1 < TIME_UNITS && ns % time_units[i].ns != 0) {
        i++;
    }
    snprintf(text, WEFT_VALUE_MAX, "%lld%s", (long long)(ns / time_units[i].ns),
             time_units[i].suffix);
}

static bool take_count(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || n < option->least ||
        n > option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not their number; give %zu to %zu", option->key,
                 value, option->least, option->most);
        return false;
    }
    *(size_t *)to = (size_t)n;
    return true;
}

static bool take_command(const struct weft_option *option, const char *value, void *to,
                         char *problem) {
    if (strcmp(value, "now") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not what it takes; give now", option->key, value);
        return false;
    }
    *(bool *)to = true;
    return true;
}

static size_t unit_of(const char *suffix) {
    static const char *const suffixes[] = {"", "k", "m", "g", "K", "M", "G"};
    const size_t units[] = {1, KIB, MIB, GIB, KIB, MIB, GIB};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return units[i];
        }
    }
    return 0;
}

static bool take_bytes(const struct weft_option *option, const char *value, void *to,
                       char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    size_t unit = unit_of(end);
    bool number = value[0] >= '0' && value[0] <= '9' && errno == 0 && unit != 0;
    if (!number || n > GIB / unit || n * unit < option->least) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a size; give %zuk to 1g, such as 16m",
                 option->key, value, option->least / KIB);
        return false;
    }
    *(size_t *)to = (size_t)n * unit;
    return true;
}

static void show_bytes(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%zu", *(const size_t *)from);
}

static int64_t unit_of_time(const char *suffix) {
    static const char *const suffixes[] = {"ns", "us", "ms", "s"};
    static const int64_t units[] = {1, 1000, 1000000, 1000000000};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return units[i];
        }
    }
    return 0;
}

static bool take_duration(const struct weft_option *option, const char *value, void *to,
                          char *problem) {
    int64_t most = (int64_t)option->most;
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    int64_t unit = n == 0 && *end == '\0' ? 1 : unit_of_time(end);
    bool number = value[0] >= '0' && value[0] <= '9' && errno == 0 && unit != 0;
    if (!number || n > most / unit) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a duration; give 0 to %llds, such as 20ms",
                 option->key, value, (long long)(most / 1000000000));
        return false;
    }
    *(int64_t *)to = n * unit;
    return true;
}

static void show_duration(const void *from, char text[WEFT_VALUE_MAX]) {
    int64_t n = *(const int64_t *)from;
    int64_t unit = n % 1000000 == 0 ? 1000000 : n % 1000 == 0 ? 1000 : 1;
    const char *name = unit == 1000000 ? "ms" : unit == 1000 ? "us" : "ns";
    snprintf(text, WEFT_VALUE_MAX, "%lld%s", (long long)(n / unit), n == 0 ? "" : name);
}

const struct weft_type WEFT_DURATION = {take_duration, show_duration};
const struct weft_type WEFT_TEXT = {take_text, show_text};
const struct weft_type WEFT_ENDPOINT = {take_endpoint, show_text};
const struct weft_type WEFT_DEPTH = {take_depth, show_depth};
const struct weft_type WEFT_SWITCH = {take_switch, show_switch};
const struct weft_type WEFT_BYTES = {take_bytes, show_bytes};
const struct weft_type WEFT_MODE = {take_mode, show_mode};
const struct weft_type WEFT_INTERVAL = {take_interval, show_interval};
const struct weft_type WEFT_COUNT = {take_count, show_bytes};
const struct weft_type WEFT_COMMAND = {take_command, NULL};
