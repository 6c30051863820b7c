// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkLucene checks 8 threads that index, each of which commits after a batch, while another one searches. Commits exclude each other for as long
// as the disk takes to sync.
func checkLucene(t spantest.T, r *run) {
	t.Helper()
	var truth struct{ Waited, Commits int64 }
	r.know(t, &truth)
	locked := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Text("weft.lock.name") == "IndexWriter.commitLock" })
	accountedFor(t, truth.Waited, locked.Time, "waits for the lock")
	assert.Equal(t, []string{"com.acme.search.Indexer.index"}, locked.Values("code.function.name"))
	assert.Equal(t, []string{"org.apache.lucene.index.IndexWriter.commit"}, locked.Values("weft.wait.entry"))
	assert.Contains(t, locked.Values("weft.lock.holder.function"), "com.acme.search.Indexer$SlowDisk.sync")
	all := spantest.WaitsWhere(r.Output, r.service, (*spantest.Span).Contended)
	assert.Greater(t, locked.Time, all.Time/2, "most of all contention")
	assert.Regexp(t, `^8 indexers waited \S+ \S*s for IndexWriter\.commitLock in Indexer\.index; they held it in turn`, headline(t, r))
}

// checkNetty checks a server whose handler waits for a lock on Netty's event loops. Its clients wait for promises. Event loops without work do not
// contend.
func checkNetty(t spantest.T, r *run) {
	t.Helper()
	var truth struct{ Waited, Asked int64 }
	r.know(t, &truth)
	locked := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool {
		return s.Text("weft.lock.name") == "Prices.lock" && s.Text("thread.name") != "price-feed"
	})
	accountedFor(t, truth.Waited, locked.Time, "waits for the lock")
	assert.Equal(t, []string{"com.acme.quotes.Prices.of"}, locked.Values("code.function.name"))
	assert.Equal(t, []string{"java.util.concurrent.locks.ReentrantLock.lock"}, locked.Values("weft.wait.entry"))
	assert.Equal(t, "price-feed", locked.Most("weft.lock.holder.thread.name"))
	assert.Equal(t, "com.acme.quotes.Prices.fetch", locked.Most("weft.lock.holder.function"))
	others := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Contended() && s.Text("weft.lock.name") != "Prices.lock" })
	assert.Less(t, others.Time, truth.Waited/5, "event loops and clients do not contend: %v", others.Values("weft.lock.class"))

	promises := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool {
		return strings.HasPrefix(s.Text("thread.name"), "customer-") && s.Text("weft.wait.kind") == "future"
	})
	accountedFor(t, truth.Asked, promises.Time, "waits for answers")
	assert.Equal(t, []string{"com.acme.quotes.Client.ask"}, promises.Values("code.function.name"))
	assert.Equal(t, []string{"io.netty.util.concurrent.DefaultPromise.sync"}, promises.Values("weft.wait.entry"))
	assert.Regexp(t, `(^|\. )price-feed slept \S+ \S+ in Prices\.fetch holding Prices\.lock; 4 nioEventLoopGroup-\d+ threads waited \S+ \S*s for it`, headline(t, r))
}
