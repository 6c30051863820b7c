// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// threads are what a dump of shop.Main shows: a name, a state, and what follows it.
type threads [][3]string

var (
	reads  = [3]string{"refresher", "RUNNABLE", "\tat sun.nio.ch.SocketDispatcher.read0(java.base@17/Native Method)\n\tat shop.Rates.fetch(Rates.java:3)\n\t- locked <0x01> (a shop.Rates)\n"}
	sleeps = [3]string{"refresher", "TIMED_WAITING (sleeping)", "\tat java.lang.Thread.sleep(java.base@17/Native Method)\n\tat shop.Rates.fetch(Rates.java:4)\n\t- locked <0x01> (a shop.Rates)\n"}
	rests  = [3]string{"refresher", "TIMED_WAITING (sleeping)", "\tat java.lang.Thread.sleep(java.base@17/Native Method)\n\tat shop.Rates.run(Rates.java:9)\n"}
	asks   = [3]string{"request-1", "BLOCKED (on object monitor)", "\tat shop.Rates.get(Rates.java:6)\n\t- waiting to lock <0x01> (a shop.Rates)\n"}
	asks2  = [3]string{"request-2", "BLOCKED (on object monitor)", "\tat shop.Rates.get(Rates.java:6)\n\t- waiting to lock <0x01> (a shop.Rates)\n\tat shop.Cart.add(Cart.java:2)\n\t- locked <0x02> (a shop.Cart)\n"}
	adds   = [3]string{"request-3", "BLOCKED (on object monitor)", "\tat shop.Cart.add(Cart.java:2)\n\t- waiting to lock <0x02> (a shop.Cart)\n"}
	locks  = [3]string{"request-4", "WAITING (parking)", "\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)\n\t- parking to wait for  <0x03> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)\n\tat shop.Till.pay(Till.java:8)\n"}
	left   = [3]string{"alice", "BLOCKED (on object monitor)", "\tat shop.A.b(A.java:6)\n\t- waiting to lock <0x04> (a shop.Right)\n\t- locked <0x05> (a shop.Left)\n"}
	right  = [3]string{"bob", "BLOCKED (on object monitor)", "\tat shop.A.b(A.java:6)\n\t- waiting to lock <0x05> (a shop.Left)\n\t- locked <0x04> (a shop.Right)\n"}
)

// What waits for others. Each pool has two threads.
var (
	get    = [3]string{"request-1", "WAITING (parking)", "\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)\n\t- parking to wait for  <0x06> (a java.util.concurrent.FutureTask)\n\tat java.util.concurrent.FutureTask.get(java.base@17/FutureTask.java:190)\n\tat shop.Cart.total(Cart.java:7)\n"}
	loads  = [3]string{"request-2", "TIMED_WAITING (sleeping)", "\tat java.lang.Thread.sleep(java.base@17/Native Method)\n\tat shop.Prices.load(Prices.java:4)\n"}
	mails1 = [3]string{"dispatcher-1", "RUNNABLE", "\tat sun.nio.ch.SocketDispatcher.read0(java.base@17/Native Method)\n\tat shop.Mail.send(Mail.java:3)\n\tat java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17/ThreadPoolExecutor.java:1136)\n"}
	mails2 = [3]string{"dispatcher-2", mails1[1], mails1[2]}
	idles  = [3]string{"dispatcher-2", "WAITING (parking)", "\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)\n\t- parking to wait for  <0x07> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)\n\tat java.util.concurrent.LinkedBlockingQueue.take(java.base@17/LinkedBlockingQueue.java:435)\n\tat java.util.concurrent.ThreadPoolExecutor.getTask(java.base@17/ThreadPoolExecutor.java:1062)\n\tat java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17/ThreadPoolExecutor.java:1122)\n"}
	latch  = [3]string{"starter", "WAITING (parking)", "\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)\n\t- parking to wait for  <0x08> (a java.util.concurrent.CountDownLatch$Sync)\n\tat java.util.concurrent.CountDownLatch.await(java.base@17/CountDownLatch.java:230)\n\tat shop.Main.start(Main.java:7)\n"}
	scans  = [3]string{"scanner-1", "RUNNABLE", "\tat shop.Scan.run(Scan.java:3)\n"}
	scans2 = [3]string{"scanner-2", "RUNNABLE", "\tat shop.Scan.run(Scan.java:3)\n"}
	sums   = [3]string{"scanner-2", "RUNNABLE", "\tat shop.Sum.run(Sum.java:3)\n"}
)

// at is the text of the dump at a second.
func (list threads) at(second int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "2026-07-24 15:00:%02d\nFull thread dump OpenJDK 64-Bit Server VM (17.0.1+12 mixed mode):\n\n", second)
	for _, th := range list {
		fmt.Fprintf(&b, "%q #%d prio=5 os_prio=0 tid=0x%x nid=0x1 waiting  [0x0]\n   java.lang.Thread.State: %s\n%s\n", th[0], len(th[0])+int(th[0][len(th[0])-1]), 0x7f000+len(th[0]), th[1], th[2])
	}
	return b.String() + "JNI global refs: 3, weak refs: 0\n\n"
}

// sentence is the first one of a summary of dumps, 10 s apart, in a file each.
func sentence(t *testing.T, dumps ...threads) string {
	t.Helper()
	args := []string{"summary"}
	for i, list := range dumps {
		name := filepath.Join(t.TempDir(), fmt.Sprintf("%d.txt", i))
		require.NoError(t, os.WriteFile(name, []byte(list.at(10*i)), 0o600))
		args = append(args, name)
	}
	code, stdout, stderr := run(t, "", args...)
	require.Equal(t, exitOK, code, stderr)
	assert.NotContains(t, stdout, " ns", "moments have no length")
	first, _, _ := strings.Cut(stdout, "\n\n")
	return strings.ReplaceAll(first, "\n", " ")
}

func TestSentencesOfDumps(t *testing.T) {
	hangs := threads{reads, asks, asks2}
	for _, test := range []struct {
		dumps []threads
		want  string
	}{
		{[]threads{hangs}, "In this dump, refresher holds Rates, waiting for I/O in Rates.fetch; 2 requests wait for it."},
		{[]threads{hangs, hangs, hangs}, "In 3 of 3 dumps over 20 s, refresher held Rates, waiting for I/O in Rates.fetch; 2 requests waited for it."},
		{[]threads{hangs, {sleeps, asks, asks2}}, "In 2 of 2 dumps over 10 s, refresher held Rates, waiting for I/O in Rates.fetch; 2 requests waited for it."},
		{[]threads{{rests}, hangs, hangs, {rests}}, "In 2 of 4 dumps over 30 s, refresher held Rates, waiting for I/O in Rates.fetch; 2 requests waited for it."},
		{[]threads{{reads, asks2, adds}}, "In this dump, refresher holds Rates, waiting for I/O in Rates.fetch; request-2 waits for it and holds Cart; request-3 waits for it."},
		{[]threads{{locks}}, "In this dump, request-4 waits for the ReentrantLock of Till.pay; the dump does not say who holds it."},
		{[]threads{{locks}, {locks}}, "In 2 of 2 dumps over 10 s, request-4 waited for the ReentrantLock of Till.pay; the dumps do not say who held it."},
		{[]threads{{get, mails1, mails2, loads}}, "In this dump, request-1 waits for a future in Cart.total; meanwhile 2 dispatchers are waiting for I/O in Mail.send."},
		{[]threads{{get, mails1, idles}, {get, mails1, idles}}, "In 2 of 2 dumps over 10 s, request-1 waited for a future in Cart.total; meanwhile dispatcher-1 was waiting for I/O in Mail.send."},
		{[]threads{{get, loads, rests}}, "In this dump, request-1 waits for a future in Cart.total; meanwhile request-2 is asleep in Prices.load."},
		{[]threads{{latch, scans, scans2, rests}}, "In this dump, starter waits at a latch in Main.start; meanwhile 2 scanners are runnable in Scan.run."},
		{[]threads{{latch, scans, sums, rests}}, "In this dump, starter waits at a latch in Main.start."},
		{[]threads{{latch, rests}}, "In this dump, starter waits at a latch in Main.start."},
		{[]threads{{left, right}}, "2 threads deadlocked at 15:00:00: bob waits for Left held by alice, alice for Right held by bob."},
		{[]threads{{rests}}, "Nothing to report: no thread waits for a lock, a permit, a pool or a task in this dump. Most: 1 thread in Rates.run, sleeping."},
	} {
		assert.Equal(t, test.want, sentence(t, test.dumps...))
	}
}

// Files are one recording, in any order, and so is the standard input.
func TestDumpsInOneStream(t *testing.T) {
	list := threads{reads, asks}
	code, stdout, stderr := run(t, "started\n"+list.at(30)+list.at(0)+list.at(10), "summary", "-")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "In 3 of 3 dumps over 30 s, ")
}

// Spring's actuator does not state when it made a dump.
func TestDumpsWithoutTimes(t *testing.T) {
	const dump = `{"threads":[{"threadName":"a","threadId":11,"lockName":"shop.%[1]s@1","lockOwnerId":12,"threadState":"BLOCKED","lockedMonitors":[{"className":"shop.%[2]s","identityHashCode":2,"lockedStackDepth":0}],
	 "stackTrace":[{"className":"shop.A","methodName":"b","fileName":"A.java","lineNumber":3}]},
	{"threadName":"b","threadId":12,"lockName":"shop.%[3]s@2","lockOwnerId":11,"threadState":"%[4]s","stackTrace":[{"className":"shop.A","methodName":"c","fileName":"A.java","lineNumber":5}]}]}`
	dead := fmt.Sprintf(dump, "Left", "Right", "Right", "BLOCKED")
	code, stdout, stderr := run(t, dead+dead, "summary", "-")
	assert.Equal(t, exitOK, code, stderr)
	assert.Contains(t, stdout, "2 threads deadlocked: a waits for Left held by b, b for Right held by a.\n\nunknown_service:java: 2 thread dumps, 2 threads\n\nDEADLOCK\n")
	blocked := fmt.Sprintf(dump, "Left", "Right", "Other", "RUNNABLE")
	_, stdout, _ = run(t, blocked+blocked, "summary", "-")
	assert.Contains(t, stdout, "In 2 of 2 dumps, b held Left, runnable in A.c; a waited for it.\n\nunknown_service:java: 2 thread dumps, 2 threads\n")
}

func TestLogWithoutDump(t *testing.T) {
	log := strings.Repeat("2026-07-24 15:00:00 INFO order taken\n", 1000)
	code, stdout, stderr := run(t, log, "summary", "-")
	assert.Equal(t, exitFailed, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "no thread dump in this text; want the output of jstack, ")
	code, _, stderr = run(t, "2026-07-24 15:00:00 INFO order taken\n", "summary", "-")
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr, "no thread dump in this text; want the output of jstack, ")
}
