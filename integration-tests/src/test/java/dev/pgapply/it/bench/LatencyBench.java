package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How long after a commit has returned on the publisher its row is visible on the target: the target is asked without a pause, so that
 * the figure has one short query in it, for every contestant alike. The stream is otherwise idle, or a large transaction streams in, or
 * a large table is being copied.
 */
final class LatencyBench {

    /** What else is in the stream. Names for {@code -Dbench.only} are {@code latency}, {@code latency_streamed} and {@code latency_copy}. */
    enum Load {
        IDLE("latency"),
        /** One transaction that goes on for as long as the measurement, and is rolled back. */
        LARGE_TRANSACTION("latency_streamed"),
        /** A table is added to the publication and copied, removed and added again, for as long as the measurement. */
        TABLE_COPY("latency_copy");

        private final String workload;

        Load(String workload) {
            this.workload = workload;
        }

        String workload() {
            return workload;
        }
    }

    /** Rows that the large transaction inserts at a time: some megabytes. */
    private static final int ROWS_AT_A_TIME = 20_000;

    /** What such a row takes at least while it is decoded. */
    private static final int ROW_BYTES = 100;

    /**
     * The publisher's logical_decoding_work_mem: whenever that much has gathered of a transaction, the walsender streams all of it in one
     * go, and whatever is committed waits behind it. With the default of 64 MB that would be once or never in a measurement.
     */
    private static final int STREAMED_FROM_BYTES = 4 << 20;

    /** Of the table that is copied: about 100 MB. */
    private static final int COPIED_ROWS = 1_000_000;

    private static final int COMMITS = 400;

    /** The first commits warm up sessions, caches and the compilers of whoever has some. */
    private static final int WARM_UP = 500;

    private static final long PAUSE_MILLIS = 20;

    /** Slower commits are named one by one. */
    private static final double SLOW_MILLIS = 100;

    private static final long LARGE_PAUSE_MILLIS = 1000;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final Load load;
    private final int commits;
    private final int copiedRows;

    LatencyBench(PostgresServer publisherServer, PostgresServer targetServer, Load load, double scale) {
        this.publisherServer = publisherServer;
        this.targetServer = targetServer;
        this.load = load;
        this.commits = (int) Math.max(50, Math.round(COMMITS * scale));
        this.copiedRows = (int) Math.max(1, Math.round(COPIED_ROWS * scale));
    }

    /** One contestant's commits. */
    record Latency(String workload, String contestant, List<Double> sortedMillis) {
        Latency {
            sortedMillis = sortedMillis.stream().sorted().toList();
        }

        double percentile(int percent) {
            int index = (int) Math.ceil(percent / 100.0 * sortedMillis.size()) - 1;
            return sortedMillis.get(Math.max(0, index));
        }
    }

    List<Latency> run(List<Contestant> contestants) throws SQLException, InterruptedException {
        List<Latency> latencies = new ArrayList<>();
        for (Contestant contestant : contestants) {
            latencies.add(measure(contestant));
        }
        return latencies;
    }

    private Latency measure(Contestant contestant) throws SQLException, InterruptedException {
        String name = load.workload() + "_" + contestant.name();
        Database publisher = publisherServer.createDatabase(name);
        Database target = targetServer.createDatabase(name);
        for (Database side : List.of(publisher, target)) {
            side.execute(
                    "CREATE TABLE single(id bigint PRIMARY KEY, a int, b text)",
                    "CREATE TABLE large(id bigint, b text)",
                    "CREATE TABLE copied(id bigint PRIMARY KEY, b text)");
        }
        publisher.execute(
                "CREATE PUBLICATION bench FOR TABLE single, large",
                "ALTER DATABASE " + name + " SET logical_decoding_work_mem = '" + (STREAMED_FROM_BYTES >> 10) + "kB'");
        try (Contestant.Run run = contestant.copy(publisher, target, name)) {
            TableCopies copies = new TableCopies(contestant.tableStates(), publisher, target, run);
            copies.awaitFirst();
            return new Latency(load.workload(), contestant.name(), underLoad(publisher, target, run, copies));
        } finally {
            // With its slot, whose walsender may still be decoding.
            publisher.drop();
            target.drop();
        }
    }

    private List<Double> underLoad(Database publisher, Database target, Contestant.Run run, TableCopies copies)
            throws SQLException, InterruptedException {
        try (Commits probe = new Commits(publisher, target, run)) {
            List<Double> unused = probe.make(WARM_UP);
            return load == Load.IDLE ? probe.make(commits) : beside(publisher, copies, probe);
        }
    }

    private List<Double> beside(Database publisher, TableCopies copies, Commits probe)
            throws SQLException, InterruptedException {
        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        FutureTask<String> beside;
        if (load == Load.TABLE_COPY) {
            copies.fill(copiedRows);
            beside = new FutureTask<>(() -> copies.copyUntil(ended, begun) + " copies ended");
        } else {
            beside = new FutureTask<>(() -> insertUntil(ended, begun, publisher) + " rows streamed in");
        }
        new Thread(beside, load.workload()).start();
        try {
            begun.await();
            return probe.make(commits);
        } finally {
            ended.set(true);
            System.err.println(load.workload() + ": " + ended(beside) + " meanwhile");
        }
    }

    private static long insertUntil(AtomicBoolean ended, CountDownLatch begun, Database publisher)
            throws SQLException, InterruptedException {
        long rows = 0;
        try (Connection connection = publisher.connect()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                while (!ended.get()) {
                    statement.execute("INSERT INTO large SELECT g, md5(g::text) FROM generate_series(1, "
                            + ROWS_AT_A_TIME + ") g");
                    rows += ROWS_AT_A_TIME;
                    if (rows * ROW_BYTES > STREAMED_FROM_BYTES) {
                        begun.countDown();
                        // Slower than a walsender decodes: what is measured is not how far it has fallen behind.
                        TimeUnit.MILLISECONDS.sleep(LARGE_PAUSE_MILLIS);
                    }
                }
            }
            connection.rollback();
            return rows;
        } finally {
            begun.countDown();
        }
    }

    private String ended(FutureTask<String> work) throws InterruptedException {
        try {
            return work.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("what was to go on beside " + load.workload() + " failed", e.getCause());
        }
    }

    /** One commit after another on the publisher, each waited for on the target. */
    private final class Commits implements AutoCloseable {

        private final Contestant.Run run;
        private final Connection from;
        private final Connection to;
        private final PreparedStatement insert;
        private final PreparedStatement visible;
        private long made;

        Commits(Database publisher, Database target, Contestant.Run run) throws SQLException {
            this.run = run;
            this.from = publisher.connect();
            this.to = target.connect();
            this.insert = from.prepareStatement("INSERT INTO single VALUES (?, 1, 'a row')");
            this.visible = to.prepareStatement("SELECT FROM single WHERE id = ?");
            // The server commits asynchronously, and a walsender sends only what is flushed: up to 600 ms later then.
            try (Statement flushed = from.createStatement()) {
                flushed.execute("SET synchronous_commit = on");
            }
        }

        /** @return how many milliseconds each took */
        List<Double> make(int count) throws SQLException, InterruptedException {
            List<Double> millis = new ArrayList<>();
            for (int i = 1; i <= count; i++) {
                double took = make() / 1e6;
                millis.add(took);
                if (took > SLOW_MILLIS) {
                    System.err.printf("%s: commit %d took %.0f ms%n", load.workload(), i, took);
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
            return millis;
        }

        private long make() throws SQLException {
            insert.setLong(1, ++made);
            insert.executeUpdate();
            long committed = System.nanoTime();
            visible.setLong(1, made);
            while (!isVisible()) {
                if (System.nanoTime() - committed > LIMIT_NANOS) {
                    run.check();
                    throw new IllegalStateException("commit " + made + " has not arrived");
                }
            }
            return System.nanoTime() - committed;
        }

        private boolean isVisible() throws SQLException {
            try (ResultSet row = visible.executeQuery()) {
                return row.next();
            }
        }

        @Override
        public void close() throws SQLException {
            from.close();
            to.close();
        }
    }
}
