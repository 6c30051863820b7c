// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.clicks;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Writes a line for each click that has been sent. Kafka calls it on the producer's only network thread, which sends nothing meanwhile. */
final class Audit implements Callback {
  private long time; // nanoseconds; used by the network thread until it ends

  @Override
  public void onCompletion(RecordMetadata metadata, Exception failure) {
    long begun = System.nanoTime();
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    write();
    time += System.nanoTime() - begun;
  }

  /** Waits for the disk. */
  private static void write() {
    try {
      Thread.sleep(30);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  long time() {
    return time;
  }
}
