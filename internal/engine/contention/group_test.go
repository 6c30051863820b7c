// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/waits"
)

func TestVirtualGroup(t *testing.T) {
	const start = "at java.lang.VirtualThread.start(VirtualThread.java:686)\nat java.util.concurrent.ThreadPerTaskExecutor.start(ThreadPerTaskExecutor.java:244)\n"
	const tomcat = "at org.apache.tomcat.util.threads.VirtualThreadExecutor.execute(VirtualThreadExecutor.java:55)\n"
	const own = "at com.acme.Orders.submit(Orders.java:12)\n"
	for _, c := range []struct{ stack, name, want string }{
		{start + own, "", "com.acme.Orders.submit"},
		{start + own, "order-17", "com.acme.Orders.submit"},
		{start + tomcat + own, "tomcat-handler-3", "com.acme.Orders.submit"},
		{start + tomcat, "tomcat-handler-3", "tomcat-handler-*"},
		{start + tomcat, "", "org.apache.tomcat.util.threads.VirtualThreadExecutor.execute"},
		{"", "order-17-of-0badcafe1", "order-*-of-*"},
		{"", "", "virtual threads"},
		{"", strings.Repeat("x", 255) + "ä", strings.Repeat("x", 255)},
	} {
		site := waits.NewRules(waits.Config{}).Site(c.stack)
		assert.Equal(t, c.want, contention.VirtualGroup(&site, c.name), "%q %q", c.stack, c.name)
	}
	assert.Equal(t, "order-*", contention.VirtualGroup(nil, "order-1"))
	assert.Equal(t, contention.VirtualThreads, contention.VirtualGroup(nil, ""))
}
