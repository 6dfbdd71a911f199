package dev.pgapply.it.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.it.support.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The results: a table on the terminal, JSON in {@code target/bench.json}. */
final class BenchReport {

    private static final String REFERENCE = "native_off";

    private final double scale;
    private final ObjectMapper json = new ObjectMapper();
    private final ObjectNode root = json.createObjectNode();
    private final ArrayNode results = root.putArray("results");
    private final StringBuilder table = new StringBuilder();

    BenchReport(double scale, int rounds, PostgresServer publisher, PostgresServer target) {
        this.scale = scale;
        root.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.version"));
        root.put("cores", Runtime.getRuntime().availableProcessors());
        root.put("publisher", publisher.version());
        root.put("target", target.version());
        root.put("scale", scale);
        root.put("rounds", rounds);
        table.append(String.format(
                "| %-15s | %-16s | %8s | %7s | %10s | %9s | %9s | %9s | %9s |%n",
                "workload",
                "contestant",
                "seconds",
                "spread",
                "per second",
                "publisher",
                "target",
                "own CPU",
                "x native"));
        table.append("|---|---|---|---|---|---|---|---|---|\n");
    }

    void add(BenchWorkload workload, Map<Contestant, List<Measurement>> measured) {
        double reference = measured.entrySet().stream()
                .filter(entry -> entry.getKey().name().equals(REFERENCE))
                .mapToDouble(entry -> median(entry.getValue()))
                .findFirst()
                .orElse(Double.NaN);
        measured.forEach((contestant, rounds) -> {
            double seconds = median(rounds);
            double rate = workload.scaledAmount(scale) / seconds;
            double spread =
                    Measurement.spread(rounds.stream().map(Measurement::seconds).toList());
            double publisher = Measurement.median(
                    rounds.stream().map(Measurement::publisherCpu).toList());
            double target = Measurement.median(
                    rounds.stream().map(Measurement::targetCpu).toList());
            double own =
                    Measurement.median(rounds.stream().map(Measurement::ownCpu).toList());
            table.append(String.format(
                    "| %-15s | %-16s | %8.2f | %6.0f%% | %10.0f | %7.1f s | %7.1f s | %7.1f s | %9.2f |%n",
                    workload.name(),
                    contestant.name(),
                    seconds,
                    spread * 100,
                    rate,
                    publisher,
                    target,
                    own,
                    reference / seconds));
            ObjectNode result = results.addObject();
            result.put("workload", workload.name()).put("unit", workload.unit()).put("contestant", contestant.name());
            result.put("seconds", seconds)
                    .put("spread", spread)
                    .put("rate", rate)
                    .put("ratio", reference / seconds);
            result.put("publisher_cpu", publisher).put("target_cpu", target).put("own_cpu", own);
            ArrayNode all = result.putArray("rounds");
            rounds.forEach(round -> all.add(round.seconds()));
        });
        System.out.println(table);
    }

    /** Latencies of single commits on an idle stream, in milliseconds. */
    void add(LatencyBench.Latency latency) {
        String line = String.format(
                "| %-15s | %-16s | p50 %.2f ms, p99 %.2f ms, greatest %.2f ms of %d commits%n",
                latency.workload(),
                latency.contestant(),
                latency.percentile(50),
                latency.percentile(99),
                latency.percentile(100),
                latency.sortedMillis().size());
        table.append(line);
        System.out.print(line);
        results.addObject()
                .put("workload", latency.workload())
                .put("contestant", latency.contestant())
                .put("p50_ms", latency.percentile(50))
                .put("p99_ms", latency.percentile(99))
                .put("max_ms", latency.percentile(100));
    }

    /** CPU of an idle applier. */
    void add(IdleBench.Idle idle) {
        Measurement measured = idle.measurement();
        double own = idle.percentOfACore(measured.ownCpu());
        double publisher = idle.percentOfACore(measured.publisherCpu());
        double target = idle.percentOfACore(measured.targetCpu());
        String line = String.format(
                "| %-15s | %-16s | own %.2f %%, publisher %.2f %%, target %.2f %% of a core in %.0f s%n",
                IdleBench.NAME, idle.contestant(), own, publisher, target, measured.seconds());
        table.append(line);
        System.out.print(line);
        results.addObject()
                .put("workload", IdleBench.NAME)
                .put("contestant", idle.contestant())
                .put("own_percent", own)
                .put("publisher_percent", publisher)
                .put("target_percent", target);
    }

    /** From a large transaction's commit to its visibility, in seconds; the ratio is to native's with the same setting. */
    void add(StreamedCommitBench bench, Map<Contestant, List<StreamedCommitBench.Round>> measured) {
        measured.forEach((contestant, rounds) -> {
            List<Double> visible =
                    rounds.stream().map(StreamedCommitBench.Round::visible).toList();
            double seconds = Measurement.median(visible);
            double loading = Measurement.median(
                    rounds.stream().map(StreamedCommitBench.Round::loading).toList());
            String mode = contestant.name().substring(contestant.name().indexOf('_') + 1);
            double reference = measured.entrySet().stream()
                    .filter(entry -> entry.getKey().name().equals("native_" + mode))
                    .mapToDouble(entry -> Measurement.median(entry.getValue().stream()
                            .map(StreamedCommitBench.Round::visible)
                            .toList()))
                    .findFirst()
                    .orElse(Double.NaN);
            String line = String.format(
                    "| %-15s | %-16s | visible %.3f s after the commit (spread %.0f%%), loading took %.2f s, x native_%s %.2f%n",
                    StreamedCommitBench.NAME,
                    contestant.name(),
                    seconds,
                    Measurement.spread(visible) * 100,
                    loading,
                    mode,
                    reference / seconds);
            table.append(line);
            System.out.print(line);
            ObjectNode result = results.addObject()
                    .put("workload", StreamedCommitBench.NAME)
                    .put("contestant", contestant.name())
                    .put("rows", bench.rows())
                    .put("visible_seconds", seconds)
                    .put("loading_seconds", loading)
                    .put("ratio", reference / seconds);
            ArrayNode all = result.putArray("rounds");
            visible.forEach(all::add);
        });
    }

    private static double median(List<Measurement> rounds) {
        return Measurement.median(rounds.stream().map(Measurement::seconds).toList());
    }

    void write() throws IOException {
        Path file = Path.of("target", "bench.json").toAbsolutePath();
        Files.writeString(file, json.writerWithDefaultPrettyPrinter().writeValueAsString(root));
        System.out.println(table + "\nresults: " + file);
    }
}
