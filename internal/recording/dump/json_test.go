// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/recording/dump"
)

// A JVM says the same as text and as JSON, a moment later.
func TestJSONIsAsText(t *testing.T) {
	text, json := decode(t, read(t, "jdk25-file.txt")...), decode(t, read(t, "jdk25.json")...)
	assert.Equal(t, text.Sessions[0].PID, json.Sessions[0].PID)
	assert.Equal(t, text.Sessions[0].Attributes, json.Sessions[0].Attributes)
	want, got := text.lines(), json.lines()
	require.Len(t, got, len(want))
	for i := range want[1:] {
		if strings.Contains(want[i+1], "Attach Listener") { // it makes the dump
			continue
		}
		assert.Equal(t, withoutTime(want[i+1]), withoutTime(got[i+1]))
	}
	both := decode(t, read(t, "jdk25-file.txt", "jdk25.json")...)
	require.Len(t, both.Sessions, 1)
	assert.Len(t, both.Sessions[0].Dumps, 2)
	assert.Len(t, both.of("order-1"), 1, "it is blocked in both")
}

// jdk21 is what versions before 24 write: neither states nor locks.
const jdk21 = `{ "threadDump": { "processId": "7", "time": "2026-07-24T15:00:00Z", "runtimeVersion": "21.0.1+12", "threadContainers": [
 { "container": "<root>", "parent": null, "owner": null, "threads": [
  { "tid": "1", "name": "main", "stack": [ "java.base\/java.lang.Thread.sleep(Native Method)", "shop.Main.main(Main.java:3)" ] },
  { "tid": "9", "name": "", "stack": [ "java.base\/java.lang.VirtualThread.park(VirtualThread.java:582)", "java.base\/java.lang.VirtualThread.run(VirtualThread.java:309)" ] },
  { "tid": "10", "name": "runs", "stack": [ "shop.A.b(A.java:3)" ] } ], "threadCount": "3" } ] } }
`

func TestJSONWithoutStates(t *testing.T) {
	d := decode(t, []byte(jdk21))
	assert.Equal(t, []string{
		`session pid=7 [{"service.name" "Main"} {"process.runtime.version" "21.0.1+12"}] dumps=[1784905200000000000] end=1784905200000000001`,
		"1784905200000000000 main sleepStart at java.lang.Thread.sleep(Native Method) (2 frames)",
		"1784905200000000000  park virtual at java.lang.VirtualThread.park(VirtualThread.java:582) (2 frames)",
	}, d.lines())
	assert.Len(t, d.Threads, 3)
}

// jdk27 is what versions to come may write: numbers, and the owner of a lock.
const jdk27 = `{"threadDump":{"formatVersion":2,"processId":7,"time":"2026-07-24T15:00:00Z","runtimeVersion":"27","threadContainers":[{"container":"<root>","threads":[
{"tid":5,"name":"a","state":"WAITING","parkBlocker":{"object":"java.util.concurrent.locks.ReentrantLock$NonfairSync@1b","owner":6},"stack":["jdk.internal.misc.Unsafe.park(Native Method)"]},
{"tid":6,"name":"b","state":"BLOCKED","blockedOn":"shop.A@1c","stack":["shop.B.c(B.java:1)"],"carrier":4},
{"tid":7,"virtual":true,"name":"c","state":"RUNNABLE","stack":["shop.A.b(A.java:3)"],"monitorsOwned":[{"depth":0,"locks":[null,"shop.A@1c"]}]}]}]}}`

func TestJSONWithOwners(t *testing.T) {
	d := decode(t, []byte(jdk27))
	assert.Equal(t, []string{
		"1784905200000000000 a park java.util.concurrent.locks.ReentrantLock$NonfairSync#1 of b at jdk.internal.misc.Unsafe.park(Native Method) (1 frames)",
		"1784905200000000000 b contendedEnter shop.A#2 of c at shop.B.c(B.java:1) (1 frames)",
		"1784905200000000000 c threadStart virtual",
		"1784905200000000000 c running virtual at shop.A.b(A.java:3) (1 frames)",
	}, d.lines()[1:])
}

const jolokia = `{"request":{"mbean":"java.lang:type=Threading","arguments":[true,true],"type":"exec","operation":"dumpAllThreads(boolean,boolean)"},"value":[
{"stackTrace":[{"methodName":"add","fileName":"Cart.java","lineNumber":2,"nativeMethod":false,"className":"shop.Cart"}],"threadId":11,"threadName":"a","lockName":"shop.Cart@1f",
 "lockInfo":{"className":"shop.Cart","identityHashCode":31},"lockOwnerId":12,"lockOwnerName":"b","threadState":"BLOCKED","lockedMonitors":[],"lockedSynchronizers":[]},
{"threadId":12,"threadName":"b","lockOwnerId":-1,"threadState":"RUNNABLE","stackTrace":[],"blockedCount":0}],"timestamp":1784905200,"status":200}`

// Others write threads like Spring: as an array, or with more around it. Several dumps may follow one another.
func TestJSONOfThreadInfo(t *testing.T) {
	want := []string{
		"1784905200000000000 a contendedEnter shop.Cart#1 of b at shop.Cart.add(Cart.java:2) (1 frames)",
		"1784905200000000000 b threadStart",
	}
	assert.Equal(t, want, decode(t, []byte(jolokia)).lines()[1:])
	list := jolokia[strings.Index(jolokia, ":[\n")+1 : strings.LastIndex(jolokia, ",\"timestamp")]
	for _, text := range []string{list, `{"threads":` + list + `}`} {
		d := decode(t, []byte(text+"\n"+text), []byte(text))
		require.Len(t, d.Sessions, 1)
		assert.Len(t, d.Sessions[0].Dumps, 3)
		assert.Len(t, d.of("a"), 1, "it is blocked in all")
	}
}

// Threads of the JVM itself are the same in each, so that two JVMs have some in common.
func TestJSONOfTwoJVMs(t *testing.T) {
	const jvm = `{"threadName":"Finalizer","threadId":3,"threadState":"WAITING","blockedCount":0},`
	one := `[` + jvm + `{"threadName":"a","threadId":11,"threadState":"RUNNABLE"}]`
	grown := `[` + jvm + `{"threadName":"a","threadId":11,"threadState":"RUNNABLE"},{"threadName":"b","threadId":12,"threadState":"RUNNABLE"},{"threadName":"c","threadId":13}]`
	other := `[` + jvm + `{"threadName":"d","threadId":11,"threadState":"RUNNABLE"}]`
	assert.Len(t, decode(t, []byte(one), []byte(grown), []byte(one)).Sessions, 1)
	assert.Len(t, decode(t, []byte(one), []byte(other), []byte(one)).Sessions, 2)
}

func TestDamagedJSON(t *testing.T) {
	text := string(read(t, "jdk25.json")[0])
	cut, _, _ := strings.Cut(text, `"name": "boss"`)
	d := decode(t, []byte(cut))
	assert.Equal(t, "0.txt:323 (byte 12937): the JSON ends in the middle; the threads before are read", d.Problems[0].Error())
	assert.NotEmpty(t, d.of("spinner"))
	assert.Empty(t, d.of("boss"))
	d = decode(t, []byte(strings.Replace(text, `"name": "boss"`, `"name": boss`, 1)))
	require.Len(t, d.Problems, 1)
	assert.Contains(t, d.Problems[0].Error(), "the thread is not JSON: invalid character 'b' looking for beginning of value")
	assert.NotEmpty(t, d.of("guest-1"))
	deep := `"frames": [` + strings.Repeat(`"shop.A.b(A.java:3)",`, 60_000) + `""], "name": "boss"`
	d = decode(t, []byte(strings.Replace(text, `"name": "boss"`, deep, 1)))
	require.Len(t, d.Problems, 1)
	assert.Contains(t, d.Problems[0].Error(), "a thread, or another value, is longer than 1048576 bytes, and is skipped; the others are read")
	assert.NotEmpty(t, d.of("guest-1"))
}

func TestMatchJSON(t *testing.T) {
	for _, text := range []string{jdk21, jdk27, jolokia, string(read(t, "spring17.json")[0])} {
		assert.True(t, dump.Match([]byte(text)), text)
		assert.True(t, dump.Match([]byte("\xEF\xBB\xBF"+text)), text)
		assert.True(t, dump.Match(encoded(text)), text)
	}
	for _, other := range []string{`{"threads":{"active":3}}`, `[{"threadName":"main","level":"INFO"}]`, `"lockOwnerId"`} {
		assert.False(t, dump.Match([]byte(other)), other)
	}
}
