// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;

/** Prints "ready", and plays {@link PingPong} once there is input on standard input. */
public final class Smoke {
  private Smoke() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    System.out.println("ready");
    System.in.read();
    PingPong.main(args);
  }
}
