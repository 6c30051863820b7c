// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Sleeps repeatedly until its standard input ends. */
public final class Sleeper {
  private Sleeper() {}

  public static void main(String[] args) throws Exception {
    while (System.in.available() == 0) {
      Thread.sleep(10);
    }
  }
}
