package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RestClient;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** Tables that join the publications while the subscription streams, or leave them; and tables that are redone. */
class AddedTableIT {

    /** Tables base and added with their logs, of which only base is published. */
    private static DatabasePair baseAndAdded(int rows) {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth(HammeringWriters.definitions("base"))
                .onBoth(HammeringWriters.definitions("added"))
                .publish("base", "baselog");
        pair.publisher().execute(HammeringWriters.fill("base", rows), HammeringWriters.fill("added", rows));
        return pair;
    }

    @Test
    void a_table_added_under_load_is_skipped_until_refresh_and_then_copied_while_others_go_on() {
        long seed = RunOptions.seed();
        System.out.println("AddedTableIT: seed " + seed);
        int rows = RunOptions.number(30_000, 300_000);
        try (SyncedEngine engine = SyncedEngine.start(baseAndAdded(rows))) {
            try (HammeringWriters writers =
                    HammeringWriters.start(engine.pair().publisher(), 4, seed, "base", "added")) {
                writers.awaitTransactions(50);
                engine.pair().publisher().execute("ALTER PUBLICATION pb ADD TABLE added, addedlog");
                Wait.until(
                        "a warning that added is not part of the subscription",
                        () -> engine.process().log().contains("table \"public.added\" is published but not part"));
                assertThat(engine.state("added")).isEmpty();
                assertThat(engine.pair().target().number("SELECT count(*) FROM added"))
                        .isZero();

                engine.requireRefresh();

                engine.awaitState("sr", "added", "addedlog");
                writers.awaitTransactions(50);
            }
            engine.awaitState("r", "added", "addedlog");
            engine.awaitSame("base", "baselog", "added", "addedlog");
            assertThat(engine.table("added").path("sync_lsn").asText()).isNotEmpty();
        }
    }

    @Test
    void a_resync_under_load_mends_a_table_that_has_drifted() {
        long seed = RunOptions.seed();
        System.out.println("AddedTableIT: seed " + seed);
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth(HammeringWriters.definitions("base")).publish("base", "baselog");
        pair.publisher().execute(HammeringWriters.fill("base", RunOptions.number(30_000, 300_000)));
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            try (HammeringWriters writers = HammeringWriters.start(pair.publisher(), 4, seed, "base")) {
                pair.target().execute("DELETE FROM base WHERE id % 3 = 0", "INSERT INTO base VALUES (-1, 0, 'drift')");
                writers.awaitTransactions(50);

                engine.requireResync("public.base");
                engine.requireResync("public.baselog");

                engine.awaitState("sr", "base", "baselog");
                writers.awaitTransactions(50);
            }
            engine.awaitState("r", "base", "baselog");
            engine.awaitSame("base", "baselog");
        }
    }

    @Test
    void a_table_that_leaves_the_publication_leaves_the_subscription_at_refresh() {
        DatabasePair pair = baseAndAdded(10);
        pair.publisher().execute("ALTER PUBLICATION pb ADD TABLE added");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            engine.awaitSame("added");
            pair.publisher().execute("ALTER PUBLICATION pb DROP TABLE added");

            engine.requireRefresh();

            assertThat(engine.state("added")).isEmpty();
            assertThat(pair.target()
                            .column("SELECT table_name FROM pgapply.subscription_rel WHERE table_name = 'added'"))
                    .isEmpty();
            assertThat(pair.target().number("SELECT count(*) FROM added")).isEqualTo(10);
            RestClient.Answer answer = engine.resync("public.added");
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.body()).contains("is not part of subscription");
        }
    }

    /** Case N04 c and d. */
    @Test
    void a_table_that_left_and_came_back_or_was_made_anew_takes_no_changes_until_it_is_redone() {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth(
                        "CREATE SCHEMA z",
                        "CREATE TABLE n04b(id int PRIMARY KEY)",
                        "CREATE TABLE z.n04b(id int PRIMARY KEY)",
                        "CREATE TABLE z.anew(id int PRIMARY KEY)")
                .publish("n04b", "z.n04b", "z.anew");
        pair.publisher()
                .execute(
                        "INSERT INTO n04b SELECT generate_series(1, 100)",
                        "INSERT INTO z.n04b SELECT generate_series(1, 100)",
                        "INSERT INTO z.anew SELECT generate_series(1, 100)");
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            pair.publisher()
                    .execute(
                            "ALTER PUBLICATION pb DROP TABLE z.n04b",
                            "INSERT INTO z.n04b VALUES (-1)",
                            "DELETE FROM z.n04b WHERE id = 5",
                            "ALTER PUBLICATION pb ADD TABLE z.n04b",
                            "DROP TABLE z.anew",
                            "CREATE TABLE z.anew(id int PRIMARY KEY)",
                            "ALTER PUBLICATION pb ADD TABLE z.anew");

            engine.awaitError("z.n04b", "taken out of the publications and put back");
            engine.awaitError("z.anew", "made anew");
            pair.publisher().execute("INSERT INTO z.n04b VALUES (-2)", "INSERT INTO z.anew VALUES (1)");
            pair.publisher().execute("INSERT INTO n04b VALUES (101)");
            engine.awaitSame("n04b");
            assertThat(engine.state("z.n04b")).isEqualTo("i");
            assertThat(engine.state("z.anew")).isEqualTo("i");
            engine.requireResync("z.n04b");
            engine.requireResync("z.anew");
            engine.awaitState("r", "z.n04b", "z.anew", "n04b");
            engine.awaitSame("n04b", "z.n04b", "z.anew");
        }
    }

    @Test
    void a_transaction_whose_commit_lsn_is_the_consistent_point_is_applied_once() throws SQLException {
        DatabasePair pair = DatabasePair.shared();
        pair.onBoth("CREATE TABLE t(id int, v text)", "CREATE TABLE other(id int)")
                .publish("t");
        boolean exact = false;
        try (SyncedEngine engine = SyncedEngine.start(pair)) {
            for (int attempt = 1; attempt <= 10 && !exact; attempt++) {
                exact = commitAtConsistentPoint(engine, attempt);
                engine.awaitState("r", "t");
                engine.awaitSame("t");
            }
        }
        assertThat(exact).as("no transaction has hit the point").isTrue();
    }

    /**
     * The slot waits for one transaction; another, which began too late to be waited for, commits first thing after the slot's point. Whether
     * nobody else on the server wrote in between.
     */
    private static boolean commitAtConsistentPoint(SyncedEngine engine, int attempt) throws SQLException {
        DatabasePair pair = engine.pair();
        try (Connection waited = pair.publisher().connect();
                Statement first = waited.createStatement();
                Connection late = pair.publisher().connect();
                Statement second = late.createStatement();
                Connection latest = pair.publisher().connect();
                Statement third = latest.createStatement()) {
            waited.setAutoCommit(false);
            first.execute("INSERT INTO other VALUES (1)");
            engine.requireResync("public.t");
            awaitSlotWaits(pair, 1);
            // The builder waits for the first. What begins now it waits for in its second round.
            late.setAutoCommit(false);
            second.execute("INSERT INTO other VALUES (2)");
            waited.commit();
            awaitSlotWaits(pair, 2);
            // What begins now it does not wait for.
            latest.setAutoCommit(false);
            third.execute("INSERT INTO t VALUES (" + attempt + ", 'late')");
            late.commit();
            Wait.until("the copy to be done", () -> {
                JsonNode table = engine.table("t");
                return table.path("sync_lsn").isTextual()
                        && "fsr".contains(table.path("state").asText());
            });
            String before = String.valueOf(pair.publisher().value("SELECT pg_current_wal_insert_lsn()"));
            latest.commit();
            return before.equals(
                    pair.target().value("SELECT sync_lsn::text FROM pgapply.subscription_rel WHERE table_name = 't'"));
        }
    }

    /** The slot's walsender waits for the end of a transaction, in that round. */
    private static void awaitSlotWaits(DatabasePair pair, int round) {
        Wait.until(
                "the slot to wait, round " + round,
                () -> pair.publisher()
                                .number("SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
                                        + " WHERE l.locktype = 'transactionid' AND NOT l.granted"
                                        + " AND a.backend_type = 'walsender' AND a.application_name = '" + pair.name()
                                        + "' AND l.transactionid::text::bigint ="
                                        + " (SELECT max(backend_xid::text::bigint) FROM pg_stat_activity"
                                        + " WHERE datname = current_database() AND backend_xid IS NOT NULL)")
                        == 1);
    }

    @Test
    void two_phase_refuses_refresh_and_resync() {
        DatabasePair pair = baseAndAdded(10);
        try (SyncedEngine engine = SyncedEngine.start(pair, "two_phase", "true")) {
            // Enabled once every table is ready, which a start finds.
            engine.awaitState("r", "base", "baselog");
            engine.process().stop();
            engine.process().start();
            engine.process().awaitStreaming();
            assertThat(pair.target().value("SELECT two_phase_state FROM pgapply.subscription"))
                    .isEqualTo("e");

            RestClient.Answer refresh = engine.refresh();
            RestClient.Answer resync = engine.resync("public.base");

            assertThat(refresh.status()).isEqualTo(409);
            assertThat(refresh.body()).contains("not allowed when two_phase is enabled");
            assertThat(resync.status()).isEqualTo(409);
            assertThat(engine.state("base")).isEqualTo("r");
        }
    }
}
