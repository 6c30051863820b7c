# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0
#
# A section of jvmtest.sh: what JDK 27 does by default, in older ones that can do it.

# Monitors are in a table instead of being found by the header of their object, and headers are half as long.
layout() {
    next="-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable -XX:+UseCompactObjectHeaders"
    "$java" $next -version >/dev/null 2>&1 || return
    counts $next -Xcheck:jni
    order $next
    parks $next
    stacks $next -Drounds=100
    virtual $next
    [ "$major" -lt 21 ] && return
    section "exact $next"
    counted $next -Xcheck:jni
    crowded $next
}
