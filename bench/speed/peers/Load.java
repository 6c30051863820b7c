// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** Loads a flight recording as JDK Mission Control does, and prints the number of its events. Argument: FILE. */
public final class Load {
  private Load() {}

  public static void main(String[] args) throws Exception {
    long events = 0;
    for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(args[0]))) {
      events += items.getItemCount();
    }
    System.out.println(events);
  }
}
