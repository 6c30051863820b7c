// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestLuceneNamesTheCommitLock indexes with 8 threads, each of which commits after a batch, while another one searches. Commits exclude each
// other for as long as the disk takes to sync.
func TestLuceneNamesTheCommitLock(t *testing.T) {
	classpath := withJars(t, "lucene")
	onEachJDK(t, func(t *testing.T, j jdk) {
		var truth struct{ Waited, Commits int64 }
		c := startCollector(t, wholeRun)
		jvm := java(t, j, c.endpoint, "lucene", "-cp", classpath, "com.acme.search.Indexer", "6")
		assert.Equal(t, 0, jvm.wait(t), "exit code")
		jvm.truth(t, &truth)
		o := c.finish(t, "lucene")
		spantest.CheckNothingLost(t, o)
		locked := spantest.WaitsWhere(o, "lucene", func(s *span) bool { return s.Text("weft.lock.name") == "IndexWriter.commitLock" })
		assert.InEpsilon(t, truth.Waited, locked.Time, 0.1, "waits for the lock")
		assert.Equal(t, []string{"com.acme.search.Indexer.index"}, locked.Values("code.function.name"))
		assert.Equal(t, []string{"org.apache.lucene.index.IndexWriter.commit"}, locked.Values("weft.wait.entry"))
		assert.Contains(t, locked.Values("weft.lock.holder.function"), "com.acme.search.Indexer$SlowDisk.sync")
		all := spantest.WaitsWhere(o, "lucene", (*span).Contended)
		assert.Greater(t, locked.Time, all.Time/2, "most of all contention")

		first, text := summaryOf(t, c)
		assert.Regexp(t, `^8 indexers waited \S+ s for IndexWriter\.commitLock in Indexer\.index; they held it in turn`, first)
		t.Logf("%v waited in %d commits, %v seen, %v in total\n%s", time.Duration(truth.Waited), truth.Commits, time.Duration(locked.Time), time.Duration(all.Time), text)
	})
}
