package dev.pgapply.it.bench;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * {@code mvn -q -Pbench}: each workload's backlog is made once; contestants take turns on copies of its slot and of the target's tables.
 * What counts is the ratio to PostgreSQL's own subscription within the run.
 *
 * <p>{@code -Dbench.only=tpcb,pgapply,native_off} names workloads and contestants to run, {@code -Dbench.scale=0.1} makes backlogs
 * smaller, {@code -Dbench.rounds=5} takes more rounds.
 */
public final class Bench {

    private static final long LIMIT_SECONDS = 600;

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final double scale;
    private final int rounds;
    private final Set<String> only;

    private Bench(double scale, int rounds, Set<String> only) {
        this.scale = scale;
        this.rounds = rounds;
        this.only = only;
        this.publisherServer = PostgresServer.publisher(18)
                .unhurried()
                .setting("shared_buffers", "256MB")
                .setting("logical_decoding_work_mem", "64MB")
                .start();
        this.targetServer = PostgresServer.target(18)
                .unhurried()
                .setting("shared_buffers", "512MB")
                .setting("max_wal_size", "8GB")
                .setting("max_logical_replication_workers", "12")
                .setting("max_worker_processes", "20")
                .start();
    }

    /** Runs all that is asked for; status 1 if a contestant's tables differ. */
    public static void main(String[] arguments) throws Exception {
        Locale.setDefault(Locale.ROOT);
        String names = System.getProperty("bench.only", "");
        Bench bench = new Bench(
                Double.parseDouble(System.getProperty("bench.scale", "1")),
                Integer.getInteger("bench.rounds", 3),
                names.isBlank() ? Set.of() : Set.of(names.split(",", -1)));
        try (PostgresServer publisher = bench.publisherServer;
                PostgresServer target = bench.targetServer) {
            BenchReport report = new BenchReport(bench.scale, bench.rounds, publisher, target);
            for (BenchWorkload workload : bench.workloads()) {
                report.add(workload, bench.run(workload));
            }
            for (BenchWorkload workload : bench.copyWorkloads()) {
                report.add(
                        workload,
                        new CopyBench(publisher, target, bench.scale)
                                .run(workload, bench.appliers(workload.name()), bench.rounds));
            }
            for (LatencyBench.Load load : LatencyBench.Load.values()) {
                if (bench.only.contains(load.workload()) || bench.isEveryWorkload()) {
                    new LatencyBench(publisher, target, load, bench.scale)
                            .run(bench.appliers(load.workload()))
                            .forEach(report::add);
                }
            }
            if (bench.only.contains(StreamedCommitBench.NAME) || bench.isEveryWorkload()) {
                StreamedCommitBench streamed = new StreamedCommitBench(publisher, target, bench.scale, bench.rounds);
                report.add(streamed, streamed.run(StreamedCommitBench.contestants(bench.only)));
            }
            if (bench.only.contains(IdleBench.NAME) || bench.isEveryWorkload()) {
                new IdleBench(publisher, target, bench.scale)
                        .run(bench.appliers(IdleBench.NAME))
                        .forEach(report::add);
            }
            report.write();
        }
    }

    /** Whether none is named. */
    private boolean isEveryWorkload() {
        return Arrays.stream(LatencyBench.Load.values()).noneMatch(load -> only.contains(load.workload()))
                && !only.contains(StreamedCommitBench.NAME)
                && !only.contains(IdleBench.NAME)
                && Stream.concat(BenchWorkload.all().stream(), CopyBench.workloads().stream())
                        .noneMatch(workload -> only.contains(workload.name()));
    }

    private List<BenchWorkload> workloads() {
        return BenchWorkload.all().stream()
                .filter(workload -> isEveryWorkload() || only.contains(workload.name()))
                .toList();
    }

    private List<BenchWorkload> copyWorkloads() {
        return CopyBench.workloads().stream()
                .filter(workload -> isEveryWorkload() || only.contains(workload.name()))
                .toList();
    }

    /** Those that take part in the workload: the named ones, or all. */
    private List<Contestant> entering(String workload) {
        boolean all = contestants().stream().noneMatch(contestant -> only.contains(contestant.name()));
        return contestants().stream()
                .filter(contestant -> all || only.contains(contestant.name()))
                .filter(contestant -> contestant.enters(workload))
                .toList();
    }

    /** Those of them after which the target has the rows. */
    private List<Contestant> appliers(String workload) {
        return entering(workload).stream().filter(Contestant::applies).toList();
    }

    static List<Contestant> contestants() {
        return List.of(
                new BareReader(),
                NativeContestant.streaming("off"),
                NativeContestant.streaming("parallel"),
                NativeContestant.tuned(),
                PgapplyContestant.usual(),
                PgapplyContestant.fewCores(),
                PgapplyContestant.text(),
                PgapplyContestant.far());
    }

    private Map<Contestant, List<Measurement>> run(BenchWorkload workload) throws Exception {
        String source = "bench_" + workload.name();
        Database publisher = publisherServer.createDatabase(source);
        Database template = targetServer.createDatabase(source + "_template");
        for (Database side : List.of(publisher, template)) {
            side.execute(workload.tables().toArray(String[]::new));
            side.execute("CREATE TABLE bench_end(id int PRIMARY KEY)");
            side.execute(workload.fill().toArray(String[]::new));
            side.execute("VACUUM ANALYZE");
        }
        publisher.execute(
                "CREATE PUBLICATION bench FOR ALL TABLES",
                "SELECT pg_create_logical_replication_slot('" + source + "', 'pgoutput')");
        System.err.println("making the backlog of " + workload.name());
        workload.load().run(new BenchDatabase(publisher), scale);
        // Behind the backlog comes one more transaction: whoever has confirmed this position has confirmed that one,
        // too.
        Lsn end = publisher.insertLsn();
        publisher.execute("INSERT INTO bench_end VALUES (1)", "CHECKPOINT");

        Map<Contestant, List<Measurement>> results = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (Contestant contestant : entering(workload.name())) {
                Measurement measurement = measure(workload, contestant, publisher, template, end, round);
                results.computeIfAbsent(contestant, key -> new ArrayList<>()).add(measurement);
                System.err.printf(
                        "%-16s %-16s round %d: %.2f s%n",
                        workload.name(), contestant.name(), round, measurement.seconds());
            }
        }
        publisher.drop();
        template.drop();
        return results;
    }

    private Measurement measure(
            BenchWorkload workload, Contestant contestant, Database publisher, Database template, Lsn end, int round)
            throws InterruptedException {
        String name = contestant.name() + "_" + round;
        publisher.execute("SELECT pg_copy_logical_replication_slot('bench_" + workload.name() + "', '" + name + "')");
        targetServer
                .maintenance()
                .execute(
                        "CREATE DATABASE " + name + " TEMPLATE " + template.name() + " STRATEGY file_copy",
                        "CHECKPOINT");
        Database target = targetServer.database(name);
        ServerCpu publisherCpu = new ServerCpu(publisherServer);
        ServerCpu targetCpu = new ServerCpu(targetServer);
        double publisherBefore = publisherCpu.seconds();
        double targetBefore = targetCpu.seconds();
        try (Contestant.Run run = contestant.start(publisher, target, name)) {
            double seconds = SlotProgress.secondsUntil(publisher, name, end, LIMIT_SECONDS, run::check);
            Measurement measurement = new Measurement(
                    seconds,
                    publisherCpu.seconds() - publisherBefore,
                    targetCpu.seconds() - targetBefore,
                    run.cpuSeconds());
            if (contestant.applies()) {
                TableComparison.of(publisher, target)
                        .assertSame(workload.compared().toArray(String[]::new));
            }
            return measurement;
        } finally {
            publisher.execute("SELECT pg_drop_replication_slot('" + name + "')");
            target.drop();
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }
}
