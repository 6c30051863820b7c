// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * Runs OneRequest twice, each time in a class loader of its own, with an SDK and an extension of its own. The arguments are the
 * jars and folders of a class loader. It waits for a line of input before.
 */
public final class TwoLoaders {
  private TwoLoaders() {}

  public static void main(String[] args) throws Exception {
    URL[] urls = new URL[args.length];
    for (int i = 0; i < args.length; i++) {
      urls[i] = Path.of(args[i]).toUri().toURL();
    }
    System.out.println("begin");
    System.in.read();
    for (int i = 0; i < 2; i++) {
      URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
      Thread.currentThread().setContextClassLoader(loader);
      loader.loadClass("OneRequest").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
  }
}
