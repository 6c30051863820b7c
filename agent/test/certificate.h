// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A certificate and its key, for tests only.

#ifndef WEFT_TEST_CERTIFICATE_H
#define WEFT_TEST_CERTIFICATE_H

// For localhost and 127.0.0.1, signed by itself, valid until 2126.
static const char certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBkjCCATegAwIBAgIUFK96IFz+KhZWDXvQKiywXZL65CswCgYIKoZIzj0EAwIw\n"
    "DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjMyMjA4MjBaGA8yMTI2MTAzMDIyMDgy\n"
    "MFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMC8\n"
    "MR2bHeful+U96SkC6000dHB988xvnEINyPEEQxLU2DNxFQYrqRCh+Jzvbyb8PBPd\n"
    "krZKv4hDGIlRiRpD75+jbzBtMB0GA1UdDgQWBBTGzsSWKY93r0gkxcEcMLQX/L6p\n"
    "qDAfBgNVHSMEGDAWgBTGzsSWKY93r0gkxcEcMLQX/L6pqDAPBgNVHRMBAf8EBTAD\n"
    "AQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjOPQQDAgNJADBG\n"
    "AiEAlzfZ31AyKiz71BS8XOY9nNTpS9iILtxxe7K35uG3sAECIQDR5oE6BRBjQVTv\n"
    "z0lFCRXUlzodgB2WjEaxloBzQ8KAIg==\n"
    "-----END CERTIFICATE-----\n";

static const char key[] = "-----BEGIN PRIVATE KEY-----\n"
                          "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+6nONYOu04s5raBf\n"
                          "3my14t6XeRBBEUIpVvzv0J8ml4qhRANCAATAvDEdmx3n7pflPekpAutNNHRwffPM\n"
                          "b5xCDcjxBEMS1NgzcRUGK6kQofic728m/DwT3ZK2Sr+IQxiJUYkaQ++f\n"
                          "-----END PRIVATE KEY-----\n";

#endif
