// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests options whose values depend on each other or on the process.

#include <unistd.h>

#include "harness.h"
#include "options/options.h"

static struct weft_options o;
static char problem[WEFT_PROBLEM_MAX];

static bool parse(const char *text) {
    problem[0] = '\0';
    return weft_options_parse(text, &o, problem);
}

TEST(status_is_given_alone) {
    CHECK(parse("status=now"));
    CHECK(o.status);
    CHECK(!parse("depth=3,status=now"));
    CHECK_STRING(problem, "option \"status\": it only reports; give it without other options");
    CHECK(parse("depth=3"));
    CHECK(!weft_options_set("status", "now", WEFT_BY_CONTROL, &o, problem));
    CHECK_STRING(problem,
                 "option \"status\": cannot be changed remotely; set it when attaching the "
                 "agent");
    CHECK(!weft_options_set("status", "later", WEFT_AT_ATTACH, &o, problem));
    CHECK_STRING(problem, "option \"status\": invalid value \"later\": want now");
}

TEST(files_are_named_after_the_process) {
    char want[WEFT_PATH_MAX];
    CHECK(parse("file=/tmp/a-%p.weft"));
    snprintf(want, sizeof want, "/tmp/a-%d.weft", (int)getpid());
    CHECK_STRING(o.file, want);
    CHECK(weft_options_change("file=/tmp/a-%p.weft", WEFT_AT_ATTACH, &o, problem)); // as it is
    CHECK(parse("file=%p%p/100%%-%%p"));
    snprintf(want, sizeof want, "%d%d/100%%-%%p", (int)getpid(), (int)getpid());
    CHECK_STRING(o.file, want);
    CHECK(!parse("file=/tmp/%t.weft"));
    CHECK_STRING(problem, "option \"file\": invalid \"%t\" in \"/tmp/%t.weft\": want %p for the "
                          "process ID, or %% for a percent sign");
    CHECK(!parse("file=/tmp/%"));
    CHECK_STRING(problem,
                 "option \"file\": invalid \"%\" in \"/tmp/%\": want %p for the process ID, "
                 "or %% for a percent sign");
    CHECK(!parse("file="));
    CHECK_STRING(problem, "option \"file\": invalid length: want 1 to 511 characters");
}

TEST(expanded_files_have_a_limit) {
    char text[1024] = "file=";
    memset(text + 5, 'x', WEFT_PATH_MAX - 1);
    CHECK(parse(text));
    CHECK_INT(strlen(o.file), WEFT_PATH_MAX - 1);
    text[5 + WEFT_PATH_MAX - 1] = 'x';
    CHECK(!parse(text));
    for (size_t i = 5; i + 1 < sizeof text; i++) {
        text[i] = i % 2 == 1 ? '%' : 'p';
    }
    CHECK(!parse(text));
    CHECK_STRING(problem, "option \"file\": invalid length: want 1 to 511 characters");
}

int main(void) {
    RUN(status_is_given_alone);
    RUN(files_are_named_after_the_process);
    RUN(expanded_files_have_a_limit);
    return harness_end("values");
}
