// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Compares the agent with no agent and with the JVM's flight recorder. Arguments: agent, receiver, folder of the compiled programs,
 * rounds, homes of the JDKs. In each round each variant runs each workload once, so other load affects all alike. Ratios are computed within a round.
 */
public final class BenchAgent {
    static final Map<String, String> VARIANTS = new LinkedHashMap<>();
    static final Map<String, Integer> WORKLOADS = new LinkedHashMap<>();

    static {
        VARIANTS.put("none", null);
        VARIANTS.put("details, no stacks", "depth=0,wait-depth=0,notify-depth=0,park-depth=0,unpark-depth=0");
        VARIANTS.put("details, as is", "");
        VARIANTS.put("details, 16 frames", "depth=16,wait-depth=16,notify-depth=16,park-depth=16,unpark-depth=16");
        VARIANTS.put("aggregated, no stacks", "mode=aggregated,interval=1s,depth=0,wait-depth=0,park-depth=0");
        VARIANTS.put("aggregated", "mode=aggregated,interval=1s");
        VARIANTS.put("JFR", null);
        WORKLOADS.put("contended", 20_000);
        WORKLOADS.put("wait-notify", 60_000);
        WORKLOADS.put("park-unpark", 60_000);
        WORKLOADS.put("uncontended", 20_000_000);
        WORKLOADS.put("start-join", 4_000);
        WORKLOADS.put("notify-loop", 3_000_000);
        WORKLOADS.put("park-loop", 2_000_000);
    }

    static String agent, receiver, classes;
    static Path work;

    /** Values per operation; lost is a fraction of the events. */
    static final class Run {
        final double wall, cpu, events, lost;

        Run(double wall, double cpu, double events, double lost) {
            this.wall = wall;
            this.cpu = cpu;
            this.events = events;
            this.lost = lost;
        }
    }

    public static void main(String[] args) throws Exception {
        agent = args[0];
        receiver = args[1];
        classes = args[2];
        int rounds = Integer.parseInt(args[3]);
        work = Files.createTempDirectory("bench");
        writeSettings();
        for (String home : Arrays.copyOfRange(args, 4, args.length)) measure(home, rounds);
        for (File f : work.toFile().listFiles()) f.delete();
        work.toFile().delete();
    }

    static void measure(String home, int rounds) throws Exception {
        System.out.printf("%nJava %s, %d rounds: medians; x is against no agent within a round, CPU is of the whole process%n", version(home), rounds);
        for (String workload : WORKLOADS.keySet()) {
            Map<String, List<Run>> runs = new LinkedHashMap<>();
            for (int round = 0; round < rounds; round++) {
                for (String variant : VARIANTS.keySet()) {
                    runs.computeIfAbsent(variant, k -> new ArrayList<>()).add(run(home, workload, variant));
                }
            }
            print(workload, runs);
        }
    }

    static void print(String workload, Map<String, List<Run>> runs) {
        System.out.printf("%n  %-22s %10s %6s %10s %6s %10s %9s %10s %6s%n", workload, "ns/op", "x", "CPU ns/op", "x", "+CPU ns/op", "events/op", "ns/event", "lost");
        List<Run> base = runs.get("none");
        double eventsOfAll = median(runs.get("details, as is"), r -> r.events);
        for (String variant : VARIANTS.keySet()) {
            List<Run> list = runs.get(variant);
            List<Double> wallRatio = new ArrayList<>(), cpuRatio = new ArrayList<>(), more = new ArrayList<>();
            for (int i = 0; i < list.size(); i++) {
                wallRatio.add(list.get(i).wall / base.get(i).wall);
                cpuRatio.add(list.get(i).cpu / base.get(i).cpu);
                more.add(list.get(i).cpu - base.get(i).cpu);
            }
            double events = variant.startsWith("details") ? median(list, r -> r.events) : eventsOfAll;
            boolean agent = !variant.equals("none");
            System.out.printf("  %-22s %10.1f %6.2f %10.1f %6.2f %10s %9s %10s %6s%n", variant, median(list, r -> r.wall), median(wallRatio),
                median(list, r -> r.cpu), median(cpuRatio), agent ? String.format("%.0f", median(more)) : "",
                variant.startsWith("details") ? String.format("%.2f", events) : "",
                agent && events > 0.5 ? String.format("%.0f", median(more) / events) : "",
                variant.startsWith("details") ? String.format("%.0f%%", 100 * median(list, r -> r.lost)) : "");
        }
        share(runs, "aggregated, no stacks", "details, no stacks");
        share(runs, "aggregated", "details, as is");
    }

    /** The additional cost of one variant as a fraction of that of another. */
    static void share(Map<String, List<Run>> runs, String of, String than) {
        double none = median(runs.get("none"), r -> r.cpu);
        double more = median(runs.get(than), r -> r.cpu) - none;
        if (more > 50) System.out.printf("  %s: %.2f of %s%n", of, (median(runs.get(of), r -> r.cpu) - none) / more, than);
    }

    static Run run(String home, String workload, String variant) throws Exception {
        String options = VARIANTS.get(variant);
        int count = WORKLOADS.get(workload);
        List<String> command = new ArrayList<>(List.of(home + "/bin/java", "-Xmx256m", "-XX:+UseSerialGC"));
        Process listening = null;
        Path socket = work.resolve("s");
        if (options != null) {
            Files.deleteIfExists(socket);
            listening = new ProcessBuilder(receiver, socket.toString()).start();
            while (!Files.exists(socket)) Thread.sleep(5);
            command.add("-agentpath:" + agent + "=endpoint=unix://" + socket + ",pool=256m,retain=64m" + (options.isEmpty() ? "" : "," + options));
        } else if (variant.equals("JFR")) {
            command.add("-XX:StartFlightRecording:filename=" + work.resolve("r.jfr") + ",settings=" + work.resolve("all.jfc") + ",maxsize=64m");
            command.add("-Xlog:jfr*=off");
        }
        command.addAll(List.of("-cp", classes, "Workloads", workload, "" + count));
        String[] result = null;
        for (String line : output(command)) if (line.startsWith("result ")) result = line.split(" ");
        double events = 0, lost = 0;
        if (listening != null) {
            if (!listening.waitFor(5, TimeUnit.SECONDS)) listening.destroy();
            for (String line : new String(listening.getInputStream().readAllBytes()).split("\n")) {
                if (line.startsWith("events ")) events = Double.parseDouble(line.substring(7));
                if (line.startsWith("lost ")) lost = Double.parseDouble(line.substring(5));
                if (line.startsWith("problem ") && !line.equals("problem none")) throw new IllegalStateException(line);
            }
            listening.waitFor();
        }
        double n = Double.parseDouble(result[1]);
        double happened = events + lost; // in the warm-up too, which is half as long
        return new Run(Double.parseDouble(result[2]) / n, Double.parseDouble(result[3]) / n, happened / (1.5 * n), happened > 0 ? lost / happened : 0);
    }

    static List<String> output(List<String> command) throws Exception {
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines = Arrays.asList(new String(p.getInputStream().readAllBytes()).split("\n"));
        if (p.waitFor() != 0) throw new IllegalStateException(command + ": " + lines);
        return lines;
    }

    static String version(String home) throws Exception {
        return output(List.of(home + "/bin/java", "-version")).get(0).replaceAll(".*\"(.*)\".*", "$1");
    }

    static void writeSettings() throws Exception {
        StringBuilder events = new StringBuilder("<?xml version=\"1.0\"?><configuration version=\"2.0\">");
        for (String event : List.of("JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "ThreadSleep", "ThreadStart", "ThreadEnd")) {
            events.append("<event name=\"jdk.").append(event).append("\"><setting name=\"enabled\">true</setting><setting name=\"stackTrace\">true</setting>")
                .append("<setting name=\"threshold\">0 ns</setting></event>");
        }
        Files.writeString(work.resolve("all.jfc"), events.append("</configuration>"));
    }

    static double median(List<Double> values) {
        double[] v = values.stream().mapToDouble(d -> d).sorted().toArray();
        return (v[(v.length - 1) / 2] + v[v.length / 2]) / 2;
    }

    static double median(List<Run> runs, java.util.function.ToDoubleFunction<Run> of) {
        List<Double> values = new ArrayList<>();
        for (Run r : runs) values.add(of.applyAsDouble(r));
        return median(values);
    }
}
