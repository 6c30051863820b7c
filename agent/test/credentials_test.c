// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which headers and files apply, and that messages contain no secret.

#include "send/credentials.h"

#include <unistd.h>

#include "harness.h"

static struct weft_options options;
static struct weft_credentials c;
static char problem[WEFT_PROBLEM_MAX];
static char file[] = "/tmp/weft-credentials-test-XXXXXX";

static bool parse(const char *text) {
    problem[0] = '\0';
    return weft_options_parse(text, &options, problem) &&
           weft_credentials_init(&c, &options, problem);
}

// The headers as key=value lines, or the problem.
static const char *headers(void) {
    static char text[40000];
    struct weft_attribute list[WEFT_MAX_HEADERS];
    char trouble[WEFT_TLS_PROBLEM_MAX];
    int count = weft_credentials_headers(&c, list, trouble);
    text[0] = '\0';
    if (count < 0) {
        snprintf(text, sizeof text, "%s", trouble);
        return text;
    }
    for (int i = 0; i < count; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s=%s\n", list[i].key, list[i].value);
    }
    return text;
}

static void write_token(const char *content) {
    FILE *f = fopen(file, "w");
    CHECK(f != NULL && fputs(content, f) >= 0 && fclose(f) == 0);
}

TEST(headers_of_the_option) {
    CHECK(parse("endpoint=unix:///x"));
    CHECK_STRING(headers(), "");
    CHECK(parse("headers=X-Tenant=a|authorization=Basic dTpw%2Cx%3D| k = v "));
    CHECK_STRING(headers(), "x-tenant=a\nauthorization=Basic dTpw,x=\nk=v\n");
    static const char *const broken[] = {"headers=word",       "headers=a b=c", "headers=a=%zz",
                                         "headers=a=b%0D%0Ac", "headers==b",    "headers=a=b|c"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        CHECK(!parse(broken[i]));
        CHECK_STRING(problem, "option \"headers\": want key=value pairs separated by |, special "
                              "characters as %XX");
    }
}

TEST(the_token_is_read_each_time) {
    char text[128];
    snprintf(text, sizeof text, "token-file=%s,headers=a=b|Authorization=c", file);
    CHECK(parse(text));
    write_token(" \n first\r\n");
    CHECK_STRING(headers(), "a=b\nauthorization=Bearer first\n");
    write_token("second");
    CHECK_STRING(headers(), "a=b\nauthorization=Bearer second\n");
    write_token(" \n");
    CHECK(strstr(headers(), "it is empty; give the JVM's user") != NULL);
    write_token("two words");
    CHECK(strstr(headers(), "it has more than one word") != NULL);
    CHECK(strstr(headers(), "words\"") == NULL);
    char *huge = malloc(20000);
    memset(huge, 'x', 19999);
    huge[19999] = '\0';
    write_token(huge);
    CHECK(strstr(headers(), "it is too long") != NULL);
    huge[16384] = '\0';
    write_token(huge);
    CHECK_INT(strlen(headers()), strlen("a=b\nauthorization=Bearer \n") + 16384);
    free(huge);
    unlink(file);
    CHECK(strstr(headers(), "No such file or directory") != NULL);
    CHECK(parse("token-file=/tmp"));
    CHECK(strstr(headers(), "it is not a file") != NULL);
}

TEST(variables_apply_to_tls_only) {
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=k%2C1,x=y", 1);
    setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem", 1);
    setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/c.pem", 1);
    setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/k.pem", 1);
    CHECK(parse("endpoint=unix:///x"));
    CHECK_STRING(headers(), "");
    CHECK(parse("endpoint=tcp://h:1,headers=a=b"));
    CHECK_STRING(headers(), "a=b\n");
    CHECK_STRING(c.tls.ca_file, "");
    CHECK(parse("endpoint=tls://h:1"));
    CHECK_STRING(headers(), "api-key=k,1\nx=y\n");
    CHECK_STRING(c.tls.ca_file, "/ca.pem");
    CHECK_STRING(c.tls.cert_file, "/c.pem");
    CHECK_STRING(c.tls.key_file, "/k.pem");
    CHECK(parse("endpoint=tls://h:1,headers=a=b,ca-file=/o,cert-file=/oc,key-file=/ok"));
    CHECK_STRING(headers(), "a=b\n");
    CHECK_STRING(c.tls.ca_file, "/o");
    CHECK_STRING(c.tls.cert_file, "/oc");
    CHECK_STRING(c.tls.key_file, "/ok");
    setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "z=1", 1);
    setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "", 1); // as if not set
    CHECK(parse("endpoint=tls://h:1"));
    CHECK_STRING(headers(), "z=1\n");
    CHECK_STRING(c.tls.ca_file, "/ca.pem");
    setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b,secret", 1); // prints a line without it
    CHECK(parse("endpoint=tls://h:1"));
    CHECK_STRING(headers(), "");
    CHECK(parse("endpoint=unix:///x"));
}

static void put(void *to, const char *name, const char *value) {
    char *text = to;
    size_t len = strlen(text);
    snprintf(text + len, 8192 - len, "%s=%s ", name, value);
}

TEST(secrets_stay_out_of_messages) {
    static const char *const leaking[] = {
        "headers=authorization=Basic QUJD,SECRET",
        "headers=authorization=Basic QUJD,SECRET=", "headers=SECRET",
        "headers=authorization=SECRET|x", "headers=authorization=%zzSECRET"};
    for (size_t i = 0; i < sizeof leaking / sizeof leaking[0]; i++) {
        CHECK(!parse(leaking[i]));
        CHECK(strstr(problem, "option \"headers\": ") != NULL);
        CHECK(strstr(problem, "SECRET") == NULL);
    }
    char text[8192] = "";
    CHECK(parse("headers=authorization=SECRET,depth=3,token-file=/SECRET"));
    weft_options_show(&options, put, text);
    CHECK(strstr(text, "depth=3") != NULL);
    CHECK(strstr(text, "SECRET") == NULL);
    CHECK(!weft_options_change("headers=authorization=OTHER", WEFT_AT_ATTACH, &options, problem));
    CHECK(strstr(problem, "SECRET") == NULL && strstr(problem, "OTHER") == NULL);
    CHECK(!weft_options_set("headers", "OTHER", WEFT_BY_CONTROL, &options, problem));
    CHECK(strstr(problem, "OTHER") == NULL);
}

TEST(options_of_tls_need_tls) {
    CHECK(parse("endpoint=tls://h:1,ca-file=/a,server-name=n"));
    static const char *const keys[] = {"ca-file", "cert-file", "key-file", "server-name"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char text[64];
        char want[WEFT_PROBLEM_MAX];
        snprintf(text, sizeof text, "endpoint=tcp://h:1,%s=x", keys[i]);
        snprintf(want, sizeof want,
                 "option \"%s\": only for TLS; want endpoint=tls://host:port with it", keys[i]);
        CHECK(!parse(text));
        CHECK_STRING(problem, want);
    }
    CHECK(!parse("endpoint=tls://h:1,cert-file=/c"));
    CHECK_STRING(problem,
                 "option \"key-file\" is missing; set both cert-file and key-file, or neither");
    CHECK(!parse("endpoint=tls://h"));
}

int main(void) {
    int fd = mkstemp(file);
    CHECK(fd >= 0);
    close(fd);
    RUN(headers_of_the_option);
    RUN(the_token_is_read_each_time);
    RUN(variables_apply_to_tls_only);
    RUN(secrets_stay_out_of_messages);
    RUN(options_of_tls_need_tls);
    CHECK(parse("")); // frees
    return harness_end("credentials");
}
