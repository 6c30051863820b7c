// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// processContext reads what a process publishes of itself, in the way that OTEP 4719 describes for programs such as eBPF profilers: its resource, and further
// attributes. It returns false if there is nothing yet.
func processContext(t *testing.T, pid int) (resource, more map[string]string, ok bool) {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	defer func() { _ = maps.Close() }() // it is only read
	found := 0
	var address int64
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		name := fields[len(fields)-1]
		if strings.HasPrefix(name, "[anon_shmem:OTEL_CTX]") || strings.HasPrefix(name, "[anon:OTEL_CTX]") || strings.Contains(lines.Text(), " /memfd:OTEL_CTX") {
			found++
			_, err := fmt.Sscanf(fields[0], "%x-", &address)
			require.NoError(t, err)
		}
	}
	if found == 0 {
		return nil, nil, false
	}
	require.Equal(t, 1, found, "a process has one context")
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	require.NoError(t, err)
	defer func() { _ = memory.Close() }() // it is only read
	read := func(at int64, size uint32) []byte {
		b := make([]byte, size)
		_, err := memory.ReadAt(b, at)
		require.NoError(t, err)
		return b
	}
	header := read(address, 32)
	require.Equal(t, "OTEL_CTX", string(header[:8]))
	require.EqualValues(t, 2, binary.NativeEndian.Uint32(header[8:]))
	if binary.NativeEndian.Uint64(header[16:]) == 0 {
		return nil, nil, false // is being changed
	}
	payload := read(int64(binary.NativeEndian.Uint64(header[24:])), binary.NativeEndian.Uint32(header[12:]))
	resource, more = make(map[string]string), make(map[string]string)
	eachField(t, payload, func(number protowire.Number, value []byte) {
		switch number {
		case 1: // ProcessContext.resource
			eachField(t, value, func(_ protowire.Number, pair []byte) { putPair(t, resource, pair) })
		case 2: // ProcessContext.attributes
			putPair(t, more, value)
		}
	})
	return resource, more, true
}

// eachField visits the fields of a message, all of which have a length.
func eachField(t *testing.T, message []byte, see func(number protowire.Number, value []byte)) {
	t.Helper()
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		require.Positive(t, n)
		require.Equal(t, protowire.BytesType, kind)
		value, m := protowire.ConsumeBytes(message[n:])
		require.GreaterOrEqual(t, m, 0)
		see(number, value)
		message = message[n+m:]
	}
}

// putPair adds a KeyValue with a text; of other values, it adds the encoding.
func putPair(t *testing.T, to map[string]string, pair []byte) {
	t.Helper()
	key := ""
	eachField(t, pair, func(number protowire.Number, value []byte) {
		if number == 1 {
			key = string(value)
			return
		}
		eachField(t, value, func(_ protowire.Number, value []byte) { to[key] = string(value) })
	})
}

// published waits until a process has published its context, and returns its resource.
func published(t *testing.T, p *process) (resource map[string]string) {
	t.Helper()
	var more map[string]string
	poll(t, "the process publishes its context", func() (ok bool) {
		require.True(t, p.running())
		resource, more, ok = processContext(t, p.cmd.Process.Pid)
		return ok
	})
	assert.Equal(t, map[string]string{"threadlocal.schema_version": "tlsdesc_v1_dev", "threadlocal.attribute_key_map": ""}, more)
	return resource
}

// checkProcessContext compares what a process published with the resource of its a span that was exported.
func checkProcessContext(t *testing.T, resource map[string]string, s *span) {
	t.Helper()
	exported := map[string]string{}
	for key, value := range s.Resource.All() {
		exported[key] = value.AsString()
	}
	delete(exported, "weft.session.id")
	delete(exported, "process.pid") // readers of the process know it
	assert.NotEmpty(t, resource["service.instance.id"])
	assert.Equal(t, exported, resource)
}
