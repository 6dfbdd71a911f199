package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How long after a commit has returned on the publisher its row is visible on the target, on a stream that is otherwise idle: the target
 * is asked without a pause, so that the figure has one short query in it, for every contestant alike.
 */
final class LatencyBench {

    /** For {@code -Dbench.only}. */
    static final String NAME = "latency";

    private static final int COMMITS = 400;

    /** The first commits warm up sessions, caches and the compilers of whoever has some. */
    private static final int WARM_UP = 100;

    private static final long PAUSE_MILLIS = 20;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final int commits;

    LatencyBench(PostgresServer publisherServer, PostgresServer targetServer, double scale) {
        this.publisherServer = publisherServer;
        this.targetServer = targetServer;
        this.commits = (int) Math.max(50, Math.round(COMMITS * scale));
    }

    /** One contestant's commits. */
    record Latency(String contestant, List<Double> sortedMillis) {
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
        String name = NAME + "_" + contestant.name();
        Database publisher = publisherServer.createDatabase(name);
        Database target = targetServer.createDatabase(name);
        for (Database side : List.of(publisher, target)) {
            side.execute("CREATE TABLE single(id bigint PRIMARY KEY, a int, b text)");
        }
        publisher.execute(
                "CREATE PUBLICATION bench FOR ALL TABLES",
                "SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')");
        try (Contestant.Run run = contestant.start(publisher, target, name)) {
            return new Latency(contestant.name(), measure(publisher, target, run));
        } finally {
            publisher.execute("SELECT pg_drop_replication_slot('" + name + "')");
            publisher.drop();
            target.drop();
        }
    }

    private List<Double> measure(Database publisher, Database target, Contestant.Run run)
            throws SQLException, InterruptedException {
        List<Double> millis = new ArrayList<>();
        try (Connection from = publisher.connect();
                Connection to = target.connect();
                PreparedStatement insert = from.prepareStatement("INSERT INTO single VALUES (?, 1, 'a row')");
                PreparedStatement visible = to.prepareStatement("SELECT FROM single WHERE id = ?")) {
            for (int i = 1; i <= WARM_UP + commits; i++) {
                insert.setLong(1, i);
                insert.executeUpdate();
                long committed = System.nanoTime();
                visible.setLong(1, i);
                while (!isVisible(visible)) {
                    if (System.nanoTime() - committed > LIMIT_NANOS) {
                        run.check();
                        throw new IllegalStateException("commit " + i + " has not arrived");
                    }
                }
                if (i > WARM_UP) {
                    millis.add((System.nanoTime() - committed) / 1e6);
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
        return millis;
    }

    private static boolean isVisible(PreparedStatement visible) throws SQLException {
        try (ResultSet row = visible.executeQuery()) {
            return row.next();
        }
    }
}
