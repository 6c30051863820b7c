// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
)

// names are what the recordings of this test have in common: methods of the JDK through which threads wait, and those of an application.
const names = `
preamble version=1
hello session=0a0b0c0d0e0f0102030405060708090a wall=1764000000000000000 monotonic=0 "service.name"="shop"
class id=1 name="java.util.concurrent.FutureTask"
class id=2 name="java.util.concurrent.locks.LockSupport"
class id=3 name="com.acme.Mailer"
class id=4 name="java.util.concurrent.ThreadPoolExecutor"
class id=5 name="java.util.concurrent.ArrayBlockingQueue"
class id=6 name="java.util.concurrent.CyclicBarrier"
class id=7 name="java.lang.Thread"
class id=8 name="java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
class id=9 name="com.acme.Truck"
method id=1 class=2 name="park" file="LockSupport.java" lines=0:1
method id=2 class=1 name="get" file="FutureTask.java" lines=0:2
method id=3 class=3 name="send" file="Mailer.java" lines=0:3
method id=4 class=4 name="runWorker" file="ThreadPoolExecutor.java" lines=0:4
method id=5 class=5 name="put" file="ArrayBlockingQueue.java" lines=0:5
method id=6 class=5 name="take" file="ArrayBlockingQueue.java" lines=0:6
method id=7 class=6 name="await" file="CyclicBarrier.java" lines=0:7
method id=8 class=7 name="sleep" file="Thread.java" lines=0:8
method id=9 class=9 name="load" file="Truck.java" lines=0:9
method id=10 class=8 name="await" file="AbstractQueuedSynchronizer.java" lines=0:10
stack id=1 frames=1:0,2:0,3:0
stack id=2 frames=1:0,2:0,3:0,4:0
stack id=3 frames=1:0,10:0,5:0,9:0
stack id=4 frames=1:0,10:0,6:0,9:0
stack id=5 frames=1:0,10:0,7:0,9:0
stack id=6 frames=8:0,9:0
thread id=1 name="main" group="main"
thread id=2 name="request-1" group="main"
thread id=3 name="request-2" group="main"
thread id=4 name="mailer-1" group="main"
thread id=5 name="mailer-2" group="main"
`

// TestCauses shows the first sentence about waits for what other threads bring about.
func TestCauses(t *testing.T) {
	for _, test := range []struct{ name, events, want string }{
		{"completed", `
batch sequence=1 watermark=5000000 before=0
 section thread=2
  event threadStart time=1000000
  event park time=2000000 lock=1/1a stack=1
  event unparked time=802000000
 section thread=4
  event threadStart time=1000000
  event sleepStart time=3000000 stack=6
  event sleepEnd time=801000000
  event unpark time=801500000 peer=2
end time=900000000 reason=2
`, "request-1 waited 800 ms for a future in Mailer.send; mailer-1 completed it, asleep in Truck.load."},
		{"starved", `
batch sequence=1 watermark=5000000 before=0
 section thread=2
  event threadStart time=1000000
  event park time=2000000 lock=1/1a stack=1
 section thread=4
  event threadStart time=1000000
  event park time=3000000 lock=1/1b stack=2
 section thread=5
  event threadStart time=1000000
  event park time=3000000 lock=1/1c stack=2
end time=3002000000 reason=2
`, "2 mailers and request-1 waited 9 s for a future in Mailer.send; both mailers wait for others, too: no task in their queue can run."},
		{"consumer has ended", `
batch sequence=1 watermark=5000000 before=0
 section thread=4
  event threadStart time=1000000
  event park time=2000000 lock=8/2a stack=4
  event unparked time=3000000
  event threadEnd time=4000000
 section thread=2
  event threadStart time=1000000
  event park time=5000000 lock=8/2b stack=3
 section thread=3
  event threadStart time=1000000
  event park time=5000000 lock=8/2b stack=3
end time=1005000000 reason=2
`, "2 requests waited 2 s to put into a queue in Truck.load; 2 waits of 2 s did not end."},
		{"barrier", `
batch sequence=1 watermark=5000000 before=0
 section thread=2
  event threadStart time=1000000
  event park time=2000000 lock=8/3a stack=5
  event unparked time=502000000
  event unpark time=502100000 peer=3
 section thread=3
  event threadStart time=1000000
  event park time=2000000 lock=8/3a stack=5
  event unparked time=502200000
 section thread=4
  event threadStart time=1000000
  event sleepStart time=2000000 stack=6
  event sleepEnd time=501000000
  event unpark time=501900000 peer=2
end time=600000000 reason=2
`, "2 requests waited 1 s at a barrier in Truck.load; mailer-1 came last, asleep in Truck.load."},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := summed(t, summary.Options{Top: 10}, wiretext.File(t, names+test.events[1:]))
			require.Len(t, s.Sessions, 1)
			assert.Equal(t, test.want, s.Sessions[0].Headline)
		})
	}
}
