// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;

/** Changes options of the agent in this JVM, as a user does while a program runs. */
final class Attach {
  private Attach() {}

  /** Runs weft attach, and returns when the agent has the options. */
  static void options(String weft, String options) throws IOException, InterruptedException {
    String pid = Long.toString(ProcessHandle.current().pid());
    Process attach = new ProcessBuilder(weft, "attach", pid, options).redirectErrorStream(true).redirectOutput(Redirect.DISCARD).start();
    if (attach.waitFor() != 0) throw new IOException("weft attach " + options + ": exit code " + attach.exitValue());
  }
}
