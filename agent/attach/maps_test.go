// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseMaps(t *testing.T) {
	const maps = `00400000-00401000 r-xp 00000000 fe:00 1 /opt/jdk 21/bin/java
7f00-7f01 rw-s 00000000 fe:00 2                    /tmp/hsperfdata_alice/7
7f00-7f01 rw-s 00000000 fe:00 2                    /tmp/hsperfdata_alice/8
7f02-7f03 r-xp 00000000 fe:00 3                    /opt/jdk 21/lib/server/libjvm.so (deleted)
7f04-7f05 r--p 00000000 fe:00 4                    /opt/libweft-data.so
7f04-7f05 r-xp 00000000 fe:00 4                    /opt/libweft.so
7f04-7f05 r-xp 00000000 fe:00 4                    /tmp/libweft-17-18.so
7f06-7f07 r-xp 00000000 fe:00 5                    /usr/lib/libc.so.6
7fff-7fff r-xp 00000000 00:00 0                    [vdso]
7fff-7fff rw-p 00000000 00:00 0
`
	got := parseMaps([]byte(maps), "7")
	assert.Equal(t, images{
		jvm: image{"/opt/jdk 21/lib/server/libjvm.so", true}, agent: image{"/opt/libweft.so", false},
		perfData: "/tmp/hsperfdata_alice/7", libc: glibc,
	}, got)
	assert.True(t, got.isHotSpot())
	for _, c := range []struct{ line, libc string }{
		{"/usr/lib/x86_64-linux-gnu/libc-2.31.so", glibc},
		{"/lib64/ld-linux-x86-64.so.2", glibc},
		{"/lib/ld-musl-x86_64.so.1", musl},
		{"/lib64/ld-linux-x86-64.so.2\n1-2 r-xp 0 0:0 1 /lib/ld-musl-x86_64.so.1", musl},
		{"/lib/libcrypt.so", ""},
	} {
		assert.Equal(t, c.libc, parseMaps([]byte("1-2 r-xp 0 0:0 1 "+c.line+"\n"), "7").libc, c.line)
	}
	emulated := parseMaps([]byte("1-2 r--p 0 0:0 1 /x/libjvm.so\n1-2 r--p 0 0:0 1 /x/libweft-linux-aarch64.so\n"), "7")
	assert.Equal(t, "/x/libweft-linux-aarch64.so", emulated.agent.path, "qemu maps code for reading")
	j9 := parseMaps([]byte("1-2 r-xp 0 0:0 1 /x/libjvm.so\n1-2 r-xp 0 0:0 1 /x/libj9vm29.so\n"), "7")
	assert.False(t, j9.isHotSpot())
	assert.Equal(t, images{}, parseMaps([]byte("/"), "7"))
	assert.Equal(t, "/a\nb/libweft.so", parseMaps([]byte("1-2 r-xp 0 0:0 1 /a\\012b/libweft.so\n"), "7").agent.path)
}
