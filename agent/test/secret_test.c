// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the hash against the examples of NIST (FIPS 180-4) and lengths around the end of a block
// against sha256sum, and that a drawn secret proves its session.

#include "wire/secret.h"

#include "harness.h"
#include "wire/sha256.h"

static void check_hash(const char *data, size_t len, const char *want) {
    uint8_t digest[WEFT_SHA256_SIZE];
    char hex[2 * WEFT_SHA256_SIZE + 1];
    weft_sha256(data, len, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    if (strcmp(hex, want) != 0) {
        fprintf(stderr, "of %zu bytes: %s, want %s\n", len, hex, want);
    }
    CHECK(strcmp(hex, want) == 0);
}

TEST(examples_of_nist) {
    check_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    check_hash(two, strlen(two),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    static char million[1000000];
    memset(million, 'a', sizeof million);
    check_hash(million, sizeof million,
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// head -c N /dev/zero | tr '\0' a | sha256sum
TEST(lengths_around_a_block) {
    static const char *const want[] = {
        "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
        "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
        "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
        "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
        "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0",
        "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb",
        "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c",
        "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e",
    };
    static const size_t lengths[] = {55, 56, 63, 64, 65, 119, 120, 128};
    char data[128];
    memset(data, 'a', sizeof data);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_hash(data, lengths[i], want[i]);
    }
}

// As in protocol/vectors/hello-secret.txt.
TEST(session_of_a_secret) {
    static const uint8_t want[WEFT_SESSION_SIZE] = {0x06, 0x4a, 0x44, 0x8c, 0xd3, 0x65, 0x7e, 0xe2,
                                                    0xd0, 0x05, 0xa6, 0x8b, 0xf0, 0x60, 0xde, 0xb8};
    uint8_t secret[WEFT_SECRET_SIZE];
    uint8_t session[WEFT_SESSION_SIZE];
    for (size_t i = 0; i < WEFT_SECRET_SIZE; i++) {
        secret[i] = (uint8_t)i;
    }
    weft_secret_session(secret, session);
    CHECK(memcmp(session, want, sizeof want) == 0);
}

TEST(a_secret_proves_its_session) {
    uint8_t secret[2][WEFT_SECRET_SIZE];
    uint8_t session[WEFT_SESSION_SIZE];
    uint8_t again[WEFT_SESSION_SIZE];
    for (int i = 0; i < 2000; i++) { // one in 256 begins with a zero byte and is drawn again
        weft_secret_draw(secret[i % 2], session);
        weft_secret_session(secret[i % 2], again);
        CHECK(session[0] != 0);
        CHECK(memcmp(session, again, sizeof session) == 0);
        CHECK(i == 0 || memcmp(secret[0], secret[1], sizeof secret[0]) != 0);
    }
}

int main(void) {
    RUN(examples_of_nist);
    RUN(lengths_around_a_block);
    RUN(session_of_a_secret);
    RUN(a_secret_proves_its_session);
    return harness_end("secret");
}
