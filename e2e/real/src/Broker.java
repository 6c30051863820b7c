// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;

/** ActiveMQ over TCP: half of the clients send to a queue, half receive from it. */
final class Broker {
  private Broker() {}

  static long run(int operations) throws Exception {
    BrokerService broker = new BrokerService();
    broker.setPersistent(false);
    broker.setUseJmx(false);
    broker.setUseShutdownHook(false);
    String address = broker.addConnector("tcp://127.0.0.1:0").getPublishableConnectString();
    broker.start();
    broker.waitUntilStarted();
    ActiveMQConnectionFactory factory = new ActiveMQConnectionFactory(address);
    long sum = Load.clients(me -> me % 2 == 0 ? send(factory, operations) : take(factory, operations));
    broker.stop();
    broker.waitUntilStopped();
    return sum;
  }

  private static long send(ActiveMQConnectionFactory factory, int operations) throws JMSException {
    try (Connection connection = factory.createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      connection.start();
      Queue queue = session.createQueue("orders");
      MessageProducer producer = session.createProducer(queue);
      for (int i = 0; i < operations; i++) {
        producer.send(session.createTextMessage("order " + i));
      }
      return operations;
    }
  }

  /** Prefetched messages return to the queue when their consumer closes. */
  private static long take(ActiveMQConnectionFactory factory, int operations) throws JMSException {
    try (Connection connection = factory.createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE)) {
      connection.start();
      MessageConsumer consumer = session.createConsumer(session.createQueue("orders?consumer.prefetchSize=1"));
      for (int i = 0; i < operations; i++) {
        TextMessage message = (TextMessage) consumer.receive(3_600_000);
        if (message == null) {
          throw new IllegalStateException("a message is missing");
        }
      }
      return operations;
    }
  }
}
