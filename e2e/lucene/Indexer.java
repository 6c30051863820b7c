// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.search;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;

/** Indexes articles with many threads, each of which commits after a batch, as people do who want to lose nothing. */
public final class Indexer {
  private static final int THREADS = 8;
  private static final int BATCH = 5;
  private static final int WORDS = 50;
  private static final int SYNC_MILLIS = 50;
  private static final int REFRESH_MILLIS = 100;

  public static void main(String[] args) throws Exception {
    int batches = Integer.parseInt(args[0]);
    CommitWaits waits = new CommitWaits();
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMaxFullFlushMergeWaitMillis(0).setInfoStream(waits);
    try (Directory disk = new SlowDisk(); IndexWriter writer = new IndexWriter(disk, config);
        SearcherManager searchers = new SearcherManager(writer, null)) {
      index(writer, new Random(0), 1); // loads classes
      Thread searching = new Thread(() -> search(searchers), "searcher");
      searching.start();
      List<Thread> indexing = new ArrayList<>();
      for (int i = 1; i <= THREADS; i++) {
        int seed = i;
        Thread thread = new Thread(() -> index(writer, new Random(seed), batches), "indexer-" + i);
        indexing.add(thread);
        thread.start();
      }
      for (Thread thread : indexing) {
        thread.join();
      }
      searching.interrupt();
      searching.join();
    }
    System.out.println("{\"waited\": " + waits.total() + ", \"commits\": " + waits.commits() + "}");
  }

  private static void index(IndexWriter writer, Random random, int batches) {
    try {
      for (int batch = 0; batch < batches; batch++) {
        for (int i = 0; i < BATCH; i++) {
          writer.addDocument(article(random));
        }
        writer.commit();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Document article(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < WORDS; i++) {
      text.append(' ').append(Integer.toString(random.nextInt(20_000), 36));
    }
    Document document = new Document();
    document.add(new StringField("id", Long.toString(random.nextLong()), Field.Store.YES));
    document.add(new TextField("text", text.toString(), Field.Store.NO));
    return document;
  }

  private static void search(SearcherManager searchers) {
    try {
      while (!Thread.currentThread().isInterrupted()) {
        searchers.maybeRefreshBlocking();
        IndexSearcher searcher = searchers.acquire();
        try {
          searcher.count(new TermQuery(new Term("text", "abc")));
        } finally {
          searchers.release(searcher);
        }
        Thread.sleep(REFRESH_MILLIS);
      }
    } catch (InterruptedException e) {
      // the index is complete
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Keeps files in memory, but takes as long as a disk to make them durable. */
  private static final class SlowDisk extends FilterDirectory {
    SlowDisk() {
      super(new ByteBuffersDirectory());
    }

    @Override
    public void sync(Collection<String> names) throws IOException {
      try {
        Thread.sleep(SYNC_MILLIS);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      super.sync(names);
    }
  }
}
