// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import java.nio.file.Path;

/** Prints for which platform the jar looks for a library. Arguments: os.name, os.arch, the file of memory maps, the folder of loaders. */
public final class Platforms {
  private Platforms() {}

  public static void main(String[] args) {
    System.out.println(Platform.name(args[0], args[1], Path.of(args[2]), Path.of(args[3])));
  }
}
