// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/engine/waits"
)

func frames(functions ...string) string {
	lines := make([]string, len(functions))
	for i, f := range functions {
		lines[i] = "at " + f + "(X.java:1)"
		if strings.HasPrefix(f, "- ") || f == "..." {
			lines[i] = f
		}
	}
	return strings.Join(lines, "\n")
}

func TestBriefStack(t *testing.T) {
	park := []string{
		"jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park",
		"java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire", "java.util.concurrent.locks.ReentrantLock.lock",
	}
	server := make([]string, 20)
	for i := range server {
		server[i] = fmt.Sprintf("org.apache.catalina.core.Valve%d.invoke", i)
	}
	var deep []string
	for i := range 40 {
		deep = append(deep, fmt.Sprintf("com.acme.Tree.walk%d", i))
	}
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for _, test := range []struct {
		name string
		have []string
		want string
	}{
		{"short", join(park, []string{"com.acme.A.b"}), frames(join(park, []string{"com.acme.A.b"})...)},
		{
			"server", join(park, []string{"com.acme.A.b", "- lock A.lock", "com.acme.A.c"}, server),
			"... 3 frames\n" + frames("java.util.concurrent.locks.ReentrantLock.lock", "com.acme.A.b", "- lock A.lock", "com.acme.A.c", server[0]) +
				"\n... 19 frames",
		},
		{
			"between", join(park[2:], []string{"com.acme.A.b"}, server[:3], []string{"com.acme.Main.main"}, server[3:5]),
			frames(park[2], park[3], "com.acme.A.b", server[0], server[1], server[2], "com.acme.Main.main", server[3], server[4]),
		},
		{
			"truncated", join(park, []string{"com.acme.A.b"}, server, []string{"..."}),
			"... 3 frames\n" + frames(park[3], "com.acme.A.b", server[0]) + "\n... 19 frames\n...",
		},
		{"application only", deep, frames(deep[:12]...) + "\n... 28 frames"},
		{
			"idle", join(park[:3], []string{
				"java.util.concurrent.LinkedBlockingQueue.take", "org.apache.tomcat.util.threads.TaskQueue.take",
				"org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker",
				"org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.run", "org.apache.tomcat.util.threads.TaskThread.run", "java.lang.Thread.run",
			}),
			"... 4 frames\n" + frames("org.apache.tomcat.util.threads.TaskQueue.take",
				"org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker") + "\n... 3 frames",
		},
		{"unknown text", []string{"..."}, "..."},
	} {
		if have := waits.NewRules(waits.Config{}).Brief(frames(test.have...)); have != test.want {
			t.Errorf("%s: have\n%s\nwant\n%s", test.name, have, test.want)
		}
	}
}
