// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/recording/dump"
)

// core is a javacore of the JVM with process ID 7, at a second.
func core(second int, locks, threads string) string {
	return fmt.Sprintf(`NULL           ------------------------------------------------------------------------
0SECTION       TITLE subcomponent dump routine
NULL           ===============================
1TISIGINFO     Dump Event "user" (00004000) received
1TIDATETIMEUTC Date: 2026/07/24 at 15:00:%02d:500 (UTC)
1TIDATETIME    Date: 2026/07/24 at 17:00:%02d:500
0SECTION       ENVINFO subcomponent dump routine
1CIJAVAVERSION JRE 17 Linux amd64-64 (build 17.0.9+9)
1CIPROCESSID   Process ID: 7 (0x7)
2CIENVVAR      "x" tid=0x1 nid=0x1 runnable
0SECTION       LOCKS subcomponent dump routine
1LKMONPOOLDUMP Monitor Pool Dump (flat & inflated object-monitors):
%s
0SECTION       THREADS subcomponent dump routine
1XMCURTHDINFO  Current thread
%s
1XMTHDSUMMARY  Threads CPU Usage Summary
0SECTION       Javadump End section
NULL           ---------------------- END OF DUMP -------------------------------------
`, second, second, locks, threads)
}

// coreThread is a thread of a javacore.
func coreThread(id int, name, state, body string) string {
	return fmt.Sprintf(`3XMTHREADINFO      "%s" J9VMThread:0x0000000000000A%02X, omrthread_t:0x00007F3F8C0D02C8, java/lang/Thread:0x00000000FFF42120, state:%s, prio=5
3XMJAVALTHREAD            (java/lang/Thread getId:0x%X, isDaemon:true)
3XMTHREADINFO1            (native thread ID:0x618F, native priority:0x5, native policy:UNKNOWN, vmstate:CW, vm thread flags:0x00000081)
%s
3XMTHREADINFO3           Native callstack:
4XENATIVESTACK               (0xB6C535B3 [libj9prt29.so+0x3b5b3])
NULL
`, name, id, state, id, strings.TrimSpace(body))
}

var (
	entersLeft = `
3XMTHREADBLOCK     Blocked on: shop/Left@0x00000000FFE00010 Owned by: "b "1"" (J9VMThread:0x0000000000000A0B, java/lang/Thread:0x00000000FFF42120)
4XESTACKTRACE                at shop/A.b(A.java:6(Compiled Code))
5XESTACKTRACE                   (entered lock: shop/Right@0x00000000FFE00020, entry count: 1)`
	parksForRight = `
3XMTHREADBLOCK     Parked on: java/util/concurrent/locks/ReentrantLock$NonfairSync@0x00000000FFE00030 Owned by: "a" (J9VMThread:0x0000000000000A0A, java/lang/Thread:0x00000000FFF42120)
4XESTACKTRACE                at jdk/internal/misc/Unsafe.park(Native Method)
4XESTACKTRACE                at shop/A.b(Bytecode PC:12)
5XESTACKTRACE                   (entered lock: shop/Left@0x00000000FFE00010, entry count: 2)`
)

func TestJavacore(t *testing.T) {
	d := decode(t, []byte(core(0, "", coreThread(10, "a", "B", entersLeft)+coreThread(11, `b "1"`, "P", parksForRight)+
		coreThread(12, "waits", "CW", `
3XMCPUTIME               CPU usage total: 0.052410771 secs, user: 0.05 secs, system: 0.0 secs, current category="Application"
3XMTHREADBLOCK     Waiting on: shop/Cart@0x00000000FFE00040 Owned by: <unowned>
4XESTACKTRACE                at java/lang/Object.waitImpl(Native Method)
4XESTACKTRACE                at shop/Cart.take(Cart.java:2)
5XESTACKTRACE                   (entered lock: shop/Cart@0x00000000FFE00040, entry count: 1)`)+
		coreThread(13, "runs", "CW", "4XESTACKTRACE                at shop/A$$Lambda$1/0x00000000.run(Unknown Source)")+
		coreThread(14, "reads", "R", "4XESTACKTRACE                at java/net/SocketInputStream.socketRead0(Native Method)")+
		coreThread(15, "JIT", "R", "3XMTHREADINFO3           No Java callstack associated with this thread")+
		coreThread(16, "enters the JVM", "B", "4XESTACKTRACE                at shop/A.b(A.java:7)\n5XESTACKTRACE                   (entered lock: shop/B@0x50, entry count: 1)")+
		coreThread(17, "initializes", "CW", "4XESTACKTRACE                at java/lang/Thread.sleepImpl(Native Method)\n4XESTACKTRACE                at shop/Rates.<clinit>(Rates.java:3)")+
		coreThread(18, "needs\nRates", "CW", `
3XMTHREADBLOCK     Waiting on: java/lang/J9VMInternals$ClassInitializationLock@0x00000000FFE00060 Owned by: <unowned> Initializing thread: "initializes"
4XESTACKTRACE                at shop/A.b(A.java:9)`)+
		"3XMTHREADINFO      Anonymous native thread\n4XESTACKTRACE                at not.of.Java(Native Method)\n")))
	assert.Equal(t, []string{
		`session pid=7 [{"process.runtime.name" "J9"} {"process.runtime.version" "17.0.9+9"}] dumps=[1784905200500000000] end=1784905200500000001`,
		`1784905200500000000 a contendedEnter shop.Left#2 of b "1" at shop.A.b(A.java:6) (1 frames)`,
		`1784905200500000000 b "1" park java.util.concurrent.locks.ReentrantLock$NonfairSync#3 of a at jdk.internal.misc.Unsafe.park(Native Method) (2 frames)`,
		`1784905200500000000 waits wait shop.Cart#4 at java.lang.Object.waitImpl(Native Method) (2 frames)`,
		`1784905200500000000 waits cpu 52410771`,
		`1784905200500000000 runs threadStart`,
		`1784905200500000000 runs running at shop.A$$Lambda$1/0x00000000.run(Unknown Source) (1 frames)`,
		`1784905200500000000 reads park at java.net.SocketInputStream.socketRead0(Native Method) (1 frames)`,
		`1784905200500000000 initializes sleepStart at java.lang.Thread.sleepImpl(Native Method) (2 frames)`,
		"1784905200500000000 needs\nRates contendedEnter shop.Rates.<clinit>#1 of initializes at shop.A.b(A.java:9) (1 frames)",
	}, d.lines())
	assert.Len(t, d.Threads, 9)
}

// Several javacores are dumps of one session, in any order, and also in one file. The last one may be cut off.
func TestJavacores(t *testing.T) {
	threads := coreThread(10, "a", "B", entersLeft) + coreThread(11, `b "1"`, "P", parksForRight)
	last := core(9, "", threads)
	last = last[:strings.LastIndex(last, "5XESTACKTRACE")]
	d := decode(t, []byte(core(5, "", threads)+last), []byte(core(0, "", threads)))
	require.Len(t, d.Sessions, 1)
	assert.Equal(t, []int64{500, 5500, 9500}, []int64{
		int64(d.Sessions[0].Dumps[0]-first) / 1e6, int64(d.Sessions[0].Dumps[1]-first) / 1e6, int64(d.Sessions[0].Dumps[2]-first) / 1e6,
	})
	assert.Len(t, d.of("a"), 1, "it is blocked in all")
	other := strings.ReplaceAll(core(5, "", threads), ":0x0000000000000A", ":0x0000000000000B")
	assert.Len(t, decode(t, []byte(core(0, "", threads)), []byte(other)).Sessions, 2, "in containers, process IDs are often the same")
}

// Before Java 6, only the list of monitors says who waits for whom. Threads have no IDs, and dots may be in names of classes.
func TestOldJavacore(t *testing.T) {
	const thread = `3XMTHREADINFO      "%s" TID:0x%08X, j9thread_t:0x00A82B04, state:%s, prio=5
4XESTACKTRACE          at %s
`
	d := decode(t, []byte(core(0, `2LKMONINUSE      sys_mon_t:0x0028E7F8 infl_mon_t: 0x0028E2D0:
3LKMONOBJECT       shop/Cart@0x01A85320/01A8532C: owner "holds" (0x0000000B), entry count 1
3LKWAITERQ            Waiting to enter:
3LKWAITER                "enters" (0x0000000A)
2LKMONINUSE      sys_mon_t:0x0028E7F9 infl_mon_t: 0x0028E2D1:
3LKMONOBJECT       shop/Queue@0x01A85330: <unowned>
3LKNOTIFYQ            Waiting to be notified:
3LKWAITNOTIFY            "waits" (0x0000000C)
1LKREGMONDUMP  JVM System Monitor Dump (registered monitors):
2LKREGMON          Thread global lock (0x00007FF4F0004FE8): owner "holds" (0x0000000B), entry count 1
3LKWAITER                "works" (0x0000000D)`,
		fmt.Sprintf(thread, "enters", 10, "MW", "shop/Cart.add(Cart.java:2)")+fmt.Sprintf(thread, "holds", 11, "CW", "java.lang.Thread.sleep(Native Method)")+
			fmt.Sprintf(thread, "waits", 12, "CW", "java/lang/Object.wait(Native Method)")+fmt.Sprintf(thread, "works", 13, "CW", "shop/A.b(A.java:3)"))))
	assert.Equal(t, []string{
		"1784905200500000000 enters contendedEnter shop.Cart#1 of holds at shop.Cart.add(Cart.java:2) (1 frames)",
		"1784905200500000000 holds sleepStart at java.lang.Thread.sleep(Native Method) (1 frames)",
		"1784905200500000000 waits wait shop.Queue#2 at java.lang.Object.wait(Native Method) (1 frames)",
		"1784905200500000000 works threadStart",
		"1784905200500000000 works running at shop.A.b(A.java:3) (1 frames)",
	}, d.lines()[1:])
}

// A thread that is left out, because it has ended, waits for no class.
func TestEndedThreadOfJavacore(t *testing.T) {
	d := decode(t, []byte(core(0, "", coreThread(9, "initializes", "R", "4XESTACKTRACE                at shop/Rates.<clinit>(Rates.java:3)")+coreThread(10, "ended", "Z", `
3XMTHREADBLOCK     Waiting on: shop/Lock@0x00000000FFE00060 Owned by: <unowned> Initializing thread: "initializes"
3XMTHREADBLOCK     Parked on: shop/Queue@0x00000000FFE00070 Owned by: <unowned>`))))
	assert.Equal(t, []string{
		"1784905200500000000 initializes threadStart",
		"1784905200500000000 initializes running at shop.Rates.<clinit>(Rates.java:3) (1 frames)",
	}, d.lines()[1:])
}

func TestMatchJavacore(t *testing.T) {
	text, _, _ := strings.Cut(core(0, "", ""), "0SECTION       Javadump")
	for _, head := range []string{text, "    " + strings.ReplaceAll(text, "\n", "\r\n    "), coreThread(10, "a", "B", entersLeft)} {
		assert.True(t, dump.Match([]byte(head)))
	}
}
