// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.Arrays;

/** Has weft-otel.jar start the agent, as an application that builds its SDK by hand does, and runs a program with the rest of the arguments. */
public final class ByJar {
    private ByJar() {}

    public static void main(String[] args) throws Exception {
        Class.forName("io.github.weftotel.context.WeftContext").getMethod("install").invoke(null);
        Class.forName(args[0]).getMethod("main", String[].class).invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    }
}
