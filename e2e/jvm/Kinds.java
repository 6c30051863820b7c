// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Platform and virtual threads, for compilers that lack the latter. */
final class Kinds {
  /** What a thread does; it may throw. */
  interface Body {
    void run() throws Exception;
  }

  private Kinds() {}

  static Thread thread(boolean virtual, String name, Body body) {
    Runnable task =
        () -> {
          try {
            body.run();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        };
    if (!virtual) return new Thread(task, name);
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      type.getMethod("name", String.class).invoke(builder, name);
      return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, task);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  static Thread started(boolean virtual, String name, Body body) {
    Thread thread = thread(virtual, name, body);
    thread.start();
    return thread;
  }

  static void join(Iterable<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) thread.join();
  }
}
