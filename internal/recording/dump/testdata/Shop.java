// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/** Hangs in each way that a thread dump shows. The dumps in this directory are of it. */
public class Shop {
    static final Object stock = new Object();
    static final Object paper = new Object();
    static final ReentrantLock till = new ReentrantLock();
    static final CountDownLatch opening = new CountDownLatch(1);
    static final Semaphore carts = new Semaphore(0);

    interface Task {
        void run() throws Exception;
    }

    static Thread start(String name, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    static class Prices {
        static final int VAT;

        static {
            nap();
            VAT = Rates.START + 1;
        }

        static int first() {
            return VAT;
        }
    }

    static class Rates {
        static final int START;

        static {
            nap();
            START = Prices.first() + 1;
        }
    }

    static void nap() {
        try {
            Thread.sleep(300);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void count(InputStream in) throws Exception {
        synchronized (stock) {
            in.read();
        }
    }

    static void order() {
        synchronized (stock) {
            System.out.println("ordered");
        }
    }

    static void print() throws Exception {
        synchronized (paper) {
            paper.wait();
        }
    }

    static void transfer(Object from, Object to) {
        synchronized (from) {
            nap();
            synchronized (to) {
                System.out.println("transferred");
            }
        }
    }

    static void pay() throws Exception {
        till.lock();
        Thread.sleep(600_000);
    }

    static void spin() {
        while (opening.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
        Object left = new Object(), right = new Object();
        start("counter", () -> count(socket.getInputStream()));
        start("cashier", Shop::pay);
        Thread.sleep(200);
        start("order-1", Shop::order);
        start("order-2", Shop::order);
        start("printer", Shop::print);
        start("customer", till::lock);
        start("courier", opening::await);
        start("cart \"7\"", carts::acquire);
        start("alice", () -> transfer(left, right));
        start("bob", () -> transfer(right, left));
        start("taxes", () -> Prices.first());
        start("exchange", () -> System.out.println(Rates.START));
        start("spinner", Shop::spin).setPriority(Thread.MIN_PRIORITY);
        start("boss", Thread.currentThread()::join);
        if (args.length > 0) {
            Virtual.start();
        }
        Thread.sleep(600_000);
    }
}
