// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;

/** Makes a native thread (args[0] is the library) attach, work and detach, and others come and go, on commands from standard input. */
public final class Native {
    static native void command(int what);

    static void work() throws InterruptedException {
        Thread.sleep(1);
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            command(Arrays.asList("attach", "work", "leave", "come and go", "calm").indexOf(line));
            System.out.println(line);
        }
    }
}
