package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TableComparison;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * One large transaction that takes the publisher some seconds: how long after its COMMIT has returned there it is visible on the target,
 * with {@code streaming} off, on and parallel, native's beside pgapply's. Contestants take turns, each with databases of its own and
 * started anew in every round; a small transaction goes before, so that every session and connection is there.
 */
final class StreamedCommitBench {

    /** For {@code -Dbench.only}. */
    static final String NAME = "streamed_commit";

    private static final int ROWS = 1_000_000;

    /** A client that loads data sends it in parts. */
    private static final int ROWS_OF_A_STATEMENT = 5_000;

    private static final long POLL_MILLIS = 2;
    private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final int rows;
    private final int rounds;

    StreamedCommitBench(PostgresServer publisherServer, PostgresServer targetServer, double scale, int rounds) {
        this.publisherServer = publisherServer;
        this.targetServer = targetServer;
        this.rows = (int) Math.max(ROWS_OF_A_STATEMENT, Math.round(ROWS * scale));
        this.rounds = rounds;
    }

    /**
     * One round of one contestant.
     *
     * @param loading seconds from the transaction's BEGIN to its COMMIT's return on the publisher
     * @param visible seconds from there until the target shows its rows
     */
    record Round(double loading, double visible) {}

    /** The modes of both, in the order they take turns. */
    static List<Contestant> contestants(Set<String> only) {
        List<Contestant> all = new ArrayList<>();
        for (String mode : List.of("off", "on", "parallel")) {
            all.add(NativeContestant.streaming(mode));
            all.add(PgapplyContestant.streaming(mode));
        }
        boolean everybody = all.stream().noneMatch(contestant -> only.contains(contestant.name()));
        return all.stream()
                .filter(contestant -> everybody || only.contains(contestant.name()))
                .toList();
    }

    int rows() {
        return rows;
    }

    Map<Contestant, List<Round>> run(List<Contestant> contestants) throws SQLException, InterruptedException {
        Map<Contestant, List<Round>> results = new LinkedHashMap<>();
        for (int number = 1; number <= rounds; number++) {
            for (Contestant contestant : contestants) {
                Round round = measure(contestant, number);
                results.computeIfAbsent(contestant, key -> new ArrayList<>()).add(round);
                System.err.printf(
                        "%-16s %-16s round %d: loading %.2f s, visible %.3f s after the commit%n",
                        NAME, contestant.name(), number, round.loading(), round.visible());
            }
        }
        return results;
    }

    private Round measure(Contestant contestant, int number) throws SQLException, InterruptedException {
        String name = NAME + "_" + contestant.name() + "_" + number;
        Database publisher = publisherServer.createDatabase(name);
        Database target = targetServer.createDatabase(name);
        for (Database side : List.of(publisher, target)) {
            side.execute("CREATE TABLE big(id bigint PRIMARY KEY, a int, b text)");
        }
        publisher.execute(
                "CREATE PUBLICATION bench FOR ALL TABLES",
                "SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')",
                "CHECKPOINT");
        try (Contestant.Run run = contestant.start(publisher, target, name)) {
            Round round = measure(publisher, target, run);
            TableComparison.of(publisher, target).assertSame("big");
            return round;
        } finally {
            publisher.execute("SELECT pg_drop_replication_slot('" + name + "')");
            publisher.drop();
            target.drop();
        }
    }

    private Round measure(Database publisher, Database target, Contestant.Run run)
            throws SQLException, InterruptedException {
        try (Connection from = publisher.connect();
                Connection to = target.connect();
                Statement load = from.createStatement();
                PreparedStatement visible = to.prepareStatement("SELECT FROM big WHERE id = ?")) {
            load.execute("INSERT INTO big VALUES (0, 0, 'before')");
            awaitVisible(visible, 0, run);

            long begun = System.nanoTime();
            from.setAutoCommit(false);
            for (int first = 1; first <= rows; first += ROWS_OF_A_STATEMENT) {
                load.execute("INSERT INTO big SELECT g, g % 1000, 'row number ' || g FROM generate_series(" + first
                        + ", " + Math.min(rows, first + ROWS_OF_A_STATEMENT - 1) + ") g");
            }
            from.commit();
            long committed = System.nanoTime();
            awaitVisible(visible, rows, run);
            return new Round((committed - begun) / 1e9, (System.nanoTime() - committed) / 1e9);
        }
    }

    private static void awaitVisible(PreparedStatement visible, long id, Contestant.Run run)
            throws SQLException, InterruptedException {
        long begun = System.nanoTime();
        visible.setLong(1, id);
        while (!isVisible(visible)) {
            run.check();
            if (System.nanoTime() - begun > LIMIT_NANOS) {
                throw new IllegalStateException("row " + id + " has not arrived");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    private static boolean isVisible(PreparedStatement visible) throws SQLException {
        try (ResultSet row = visible.executeQuery()) {
            return row.next();
        }
    }
}
