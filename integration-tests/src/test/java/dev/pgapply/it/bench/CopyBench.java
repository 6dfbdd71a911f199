package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The first copy: from CREATE SUBSCRIPTION, or the start of a cold engine, until the target has recorded every table as copied. The publisher
 * is filled once; contestants take turns, each with a target of its own.
 */
final class CopyBench {

    private static final int LARGE_ROWS = 2_000_000;
    private static final int SMALL_TABLES = 50;
    private static final int MANY_TABLES = 500;
    private static final int SMALL_ROWS = 1_000;
    private static final int WIDE_ROWS = 20;
    private static final int WIDE_ROW_BYTES = 20 << 20;
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private static final Duration POLL = Duration.ofMillis(20);

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final double scale;

    CopyBench(PostgresServer publisherServer, PostgresServer targetServer, double scale) {
        this.publisherServer = publisherServer;
        this.targetServer = targetServer;
        this.scale = scale;
    }

    /** For {@code -Dbench.only}: their {@code load} makes what is there to copy. */
    static List<BenchWorkload> workloads() {
        return List.of(initialCopy(), manyTables(), wideRows(), emptyDatabase());
    }

    private static BenchWorkload initialCopy() {
        return new BenchWorkload(
                "initial_copy",
                "rows",
                LARGE_ROWS + SMALL_TABLES * SMALL_ROWS,
                Stream.concat(
                                Stream.of("CREATE TABLE big(id bigint PRIMARY KEY, a int, b text, c timestamptz)"),
                                smallTables(SMALL_TABLES))
                        .toList(),
                List.of(),
                (publisher, scale) -> {
                    publisher.execute(
                            "INSERT INTO big SELECT g, g % 1000, 'row number ' || g, '2026-01-01'::timestamptz"
                                    + " + g * interval '1 s' FROM generate_series(1, " + Math.round(LARGE_ROWS * scale)
                                    + ") g");
                    fillSmall(publisher, SMALL_TABLES);
                },
                Stream.concat(Stream.of("big"), names(SMALL_TABLES)).toList());
    }

    private static BenchWorkload manyTables() {
        return new BenchWorkload(
                "copy_500_tables",
                "rows",
                MANY_TABLES * SMALL_ROWS,
                smallTables(MANY_TABLES).toList(),
                List.of(),
                (publisher, scale) -> fillSmall(publisher, MANY_TABLES),
                names(MANY_TABLES).toList());
    }

    private static BenchWorkload wideRows() {
        return new BenchWorkload(
                "copy_wide_rows",
                "rows",
                WIDE_ROWS,
                List.of(
                        "CREATE TABLE wide(id int PRIMARY KEY, v text)",
                        "ALTER TABLE wide ALTER v SET STORAGE EXTERNAL"),
                List.of(),
                (publisher, scale) -> publisher.execute("INSERT INTO wide SELECT g, repeat(md5(g::text), "
                        + WIDE_ROW_BYTES / 32 + ") FROM generate_series(1, " + WIDE_ROWS + ") g"),
                List.of("wide"));
    }

    private static BenchWorkload emptyDatabase() {
        return new BenchWorkload(
                "copy_empty", "databases", 1, List.of(), List.of(), (publisher, scale) -> {}, List.of());
    }

    private static Stream<String> names(int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> "small" + i);
    }

    private static Stream<String> smallTables(int count) {
        return names(count).map(name -> "CREATE TABLE " + name + "(id int PRIMARY KEY, v text)");
    }

    private static void fillSmall(BenchDatabase publisher, int count) {
        publisher.execute(names(count)
                .map(name ->
                        "INSERT INTO " + name + " SELECT g, md5(g::text) FROM generate_series(1, " + SMALL_ROWS + ") g")
                .toArray(String[]::new));
    }

    /** @return each contestant's rounds */
    Map<Contestant, List<Measurement>> run(BenchWorkload workload, List<Contestant> contestants, int rounds)
            throws Exception {
        Database publisher = publisherServer.createDatabase("bench_" + workload.name());
        publisher.execute(workload.tables().toArray(String[]::new));
        publisher.execute("CREATE PUBLICATION bench FOR ALL TABLES");
        System.err.println("filling the tables of " + workload.name());
        workload.load().run(new BenchDatabase(publisher), scale);
        publisher.execute("VACUUM ANALYZE", "CHECKPOINT");
        Map<Contestant, List<Measurement>> results = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (Contestant contestant : contestants) {
                Measurement measurement = measure(workload, contestant, publisher, contestant.name() + "_" + round);
                results.computeIfAbsent(contestant, key -> new ArrayList<>()).add(measurement);
                System.err.printf(
                        "%-16s %-16s round %d: %.2f s%n",
                        workload.name(), contestant.name(), round, measurement.seconds());
            }
        }
        publisher.drop();
        return results;
    }

    private Measurement measure(BenchWorkload workload, Contestant contestant, Database publisher, String name)
            throws InterruptedException {
        Database target = targetServer.createDatabase(name);
        target.execute(workload.tables().toArray(String[]::new));
        target.execute("CHECKPOINT");
        ServerCpu publisherCpu = new ServerCpu(publisherServer);
        ServerCpu targetCpu = new ServerCpu(targetServer);
        double publisherBefore = publisherCpu.seconds();
        double targetBefore = targetCpu.seconds();
        long begun = System.nanoTime();
        try (Contestant.Run run = contestant.copy(publisher, target, name)) {
            int tables = workload.compared().size();
            if (tables == 0) {
                awaitStream(publisher, name, run);
            } else {
                contestant.tableStates().awaitCopied(target, tables, run, POLL, LIMIT);
            }
            Measurement measurement = new Measurement(
                    (System.nanoTime() - begun) / 1e9,
                    publisherCpu.seconds() - publisherBefore,
                    targetCpu.seconds() - targetBefore,
                    run.cpuSeconds());
            TableComparison.of(publisher, target).assertSame(workload.compared().toArray(String[]::new));
            return measurement;
        } finally {
            publisher.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '"
                    + name + "'");
            target.drop();
        }
    }

    /** Where there is nothing to copy, the copy ends where the stream begins. */
    private static void awaitStream(Database publisher, String slot, Contestant.Run run) throws InterruptedException {
        long asked = System.nanoTime();
        while (publisher.number("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + slot + "' AND active")
                == 0) {
            run.check();
            if (System.nanoTime() - asked > LIMIT.toNanos()) {
                throw new IllegalStateException("the stream of " + slot + " has not begun");
            }
            TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
        }
    }
}
