// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.clicks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends each click of a web site to a topic, which reports read: the arguments are the broker's address, and the clicks of each thread. */
public final class Clicks {
  private static final int VISITORS = 8, REPORTS = 2;
  private static final int BYTES = 4_000; // of a click
  private static final String TOPIC = "clicks";

  private final KafkaProducer<byte[], byte[]> producer;
  private final Audit audit = new Audit();

  private Clicks(String broker) {
    producer = new KafkaProducer<>(
        Map.of("bootstrap.servers", broker, "buffer.memory", "65536", "batch.size", "16384", "max.block.ms", "600000"),
        new ByteArraySerializer(), new ByteArraySerializer());
  }

  public static void main(String[] args) throws Exception {
    int clicks = Integer.parseInt(args[1]);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
      admin.createTopics(List.of(new NewTopic(TOPIC, REPORTS, (short) 1))).all().get();
    }
    AtomicInteger read = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 1; i <= REPORTS; i++) {
      String protocol = i == 1 ? "classic" : "consumer";
      threads.add(new Thread(() -> report(args[0], protocol, read, VISITORS * clicks), "report-" + i));
    }
    Clicks site = new Clicks(args[0]);
    for (int i = 1; i <= VISITORS; i++) {
      threads.add(new Thread(() -> site.visit(clicks), "visitor-" + i));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    site.producer.close();
    System.out.printf("{\"waited\": %d, \"audited\": %d, \"sent\": %d, \"read\": %d}%n", site.waited(), site.audit.time(), VISITORS * clicks, read.get());
  }

  private void visit(int clicks) {
    for (int i = 0; i < clicks; i++) {
      click();
    }
  }

  private void click() {
    producer.send(new ProducerRecord<>(TOPIC, new byte[BYTES]), audit);
  }

  /** How long threads waited for memory of the producer's buffer, as the producer counts it. */
  private long waited() {
    for (Map.Entry<MetricName, ? extends org.apache.kafka.common.Metric> m : producer.metrics().entrySet()) {
      if (m.getKey().name().equals("bufferpool-wait-time-ns-total")) {
        return ((Double) m.getValue().metricValue()).longValue();
      }
    }
    throw new IllegalStateException("no metric of the buffer");
  }

  private static void report(String broker, String protocol, AtomicInteger read, int all) {
    Map<String, Object> config = Map.of("bootstrap.servers", broker, "group.id", protocol, "group.protocol", protocol, "auto.offset.reset", "earliest");
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(TOPIC));
      for (int mine = 0; mine < all;) {
        int got = consumer.poll(Duration.ofSeconds(1)).count();
        mine += got;
        read.addAndGet(got);
      }
    }
  }
}
