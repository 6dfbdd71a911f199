package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.tablesync.BlockingTransaction;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.core.tablesync.SnapshotBuildPhase;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A slot's creation that has to wait for the publisher's transactions. */
class SlotWaitIT {

    /** A transaction with an id that stays open until it is closed. */
    private static final class OpenTransaction implements AutoCloseable {
        final Connection connection;
        final int pid;

        OpenTransaction(DatabasePair pair, int value) throws SQLException {
            connection = pair.publisher().connect();
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO t VALUES (" + value + ")");
                try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
                    row.next();
                    pid = row.getInt(1);
                }
            }
        }

        void commit() throws SQLException {
            connection.commit();
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    private static DatabasePair oneTable(int publisherVersion) {
        DatabasePair pair = DatabasePair.shared(publisherVersion, 18);
        pair.onBoth("CREATE TABLE t (id int)").publish("t");
        return pair;
    }

    private static SlotWaitState awaitPhase(FirstStart start, SnapshotBuildPhase phase, int pid) {
        Wait.until("phase " + phase + ", waiting for pid " + pid, () -> {
            SlotWaitState state = start.stats().slotWait();
            return state != null
                    && state.phase() == phase
                    && state.waitedFor() == 1
                    && Objects.equals(state.oldest().get(0).pid(), pid);
        });
        return Objects.requireNonNull(start.stats().slotWait());
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void both_rounds_are_named_with_the_transaction_that_each_waits_for(int version) throws Exception {
        RunOptions.takenByLongRunOnly(version < 18);
        try (DatabasePair pair = oneTable(version);
                OpenTransaction first = new OpenTransaction(pair, 1);
                FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            CompletableFuture<SubscriptionRow> running = start.runAside();
            BlockingTransaction named = awaitPhase(start, SnapshotBuildPhase.BUILDING_SNAPSHOT, first.pid)
                    .oldest()
                    .get(0);
            assertThat(named.user()).isEqualTo("postgres");
            assertThat(named.database()).isEqualTo(pair.name());
            assertThat(named.age()).isPositive();
            assertThat(named.query()).contains("pg_backend_pid");
            assertThat(start.stats().status()).isEqualTo(SubscriptionStatus.WAITING_FOR_SLOT);
            assertThat(start.stats().statusReason())
                    .contains("of pid " + first.pid + " before the slot can be created")
                    .contains("1 transaction to end, BUILDING_SNAPSHOT");

            try (OpenTransaction second = new OpenTransaction(pair, 2)) {
                first.commit();
                awaitPhase(start, SnapshotBuildPhase.FULL_SNAPSHOT, second.pid);
                second.commit();
            }

            assertThat(running.get(60, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);
            assertThat(start.stats().slotWait()).isNull();
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(2);
        }
    }

    @Test
    void the_wait_is_named_within_two_seconds() throws Exception {
        try (DatabasePair pair = oneTable(18);
                OpenTransaction old = new OpenTransaction(pair, 1);
                FirstStart start = FirstStart.of(FirstStart.options(pair))) {
            CompletableFuture<SubscriptionRow> running = start.runAside();
            String creating = "FROM pg_stat_activity WHERE backend_type = 'walsender' AND query LIKE"
                    + " 'CREATE_REPLICATION_SLOT \"" + pair.name() + "\"%'";
            Wait.until(
                    "the wait to be named",
                    Duration.ofSeconds(30),
                    () -> start.stats().status() == SubscriptionStatus.WAITING_FOR_SLOT);
            double seconds = Double.parseDouble(String.valueOf(
                    pair.publisher().value("SELECT extract(epoch FROM clock_timestamp() - query_start) " + creating)));
            old.commit();

            assertThat(seconds).isLessThan(2.0);
            running.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void a_prepared_transaction_is_named_by_its_gid() throws Exception {
        try (DatabasePair pair = oneTable(18)) {
            String gid = pair.name();
            pair.publisher().execute("BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION '" + gid + "'");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                CompletableFuture<SubscriptionRow> running = start.runAside();
                Wait.until(
                        "the prepared transaction to be named",
                        () -> String.valueOf(start.stats().statusReason())
                                .startsWith("waiting for prepared transaction \"" + gid + "\""));

                pair.publisher().execute("COMMIT PREPARED '" + gid + "'");

                assertThat(running.get(60, TimeUnit.SECONDS).slotState()).isEqualTo(SlotState.READY);
                assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void slot_create_timeout_leaves_neither_slot_nor_intent_and_the_next_start_works(int version) throws Exception {
        try (DatabasePair pair = oneTable(version);
                OpenTransaction old = new OpenTransaction(pair, 1)) {
            try (FirstStart start = FirstStart.of(FirstStart.options(pair, Duration.ofSeconds(1)))) {
                assertThatThrownBy(start::run)
                        .isInstanceOfSatisfying(ApplyException.class, e -> {
                            assertThat(e.kind()).isEqualTo(Kind.PRECONDITION);
                            assertThat(e.hint()).contains("slot_create_timeout");
                        })
                        .hasMessageStartingWith(
                                "the replication slot was not created within slot_create_timeout (1 s): ")
                        .hasMessageContaining("of pid " + old.pid);
            }
            assertThat(pair.publisher()
                            .column("SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"))
                    .isEmpty();
            assertThat(pair.target().column("SELECT slot_state FROM pgapply.subscription"))
                    .containsExactly("none");
            assertThat(pair.target().number("SELECT count(*) FROM pgapply.subscription_rel"))
                    .isZero();
            Wait.until(
                    "no walsender to be left",
                    () -> pair.publisher()
                                    .number("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%"
                                            + pair.name() + "%'")
                            == 0);
            old.commit();

            try (FirstStart again = FirstStart.of(FirstStart.options(pair))) {
                assertThat(again.run().slotState()).isEqualTo(SlotState.READY);
            }
            assertThat(pair.target().number("SELECT count(*) FROM t")).isEqualTo(1);
        }
    }

    /** The stream goes on meanwhile, and the time that was set ends the wait; it is tried again. */
    @Test
    void an_added_tables_slot_that_has_to_wait_is_named_within_two_seconds_and_given_up_in_time() throws Exception {
        DatabasePair pair = oneTable(18);
        pair.onBoth("CREATE TABLE added (id int)");
        pair.publisher().execute("INSERT INTO added VALUES (1)");
        try (SyncedEngine engine = SyncedEngine.start(pair, "slot_create_timeout", "4s");
                OpenTransaction old = new OpenTransaction(pair, 1)) {
            pair.publisher().execute("ALTER PUBLICATION pb ADD TABLE added");
            engine.requireRefresh();
            Wait.until(
                    "the wait to be named",
                    () -> engine.process()
                                    .status()
                                    .path("slot_wait")
                                    .path("transactions")
                                    .path(0)
                                    .path("pid")
                                    .asInt()
                            == old.pid);
            double seconds = Double.parseDouble(String.valueOf(pair.publisher()
                    .value(
                            "SELECT coalesce(min(extract(epoch FROM clock_timestamp() - query_start)), 0) FROM pg_stat_activity"
                                    + " WHERE backend_type = 'walsender' AND query LIKE 'CREATE_REPLICATION_SLOT \"pgapply%'"
                                    + " AND application_name = '" + pair.name() + "'")));
            assertThat(seconds).isLessThan(2.0);
            assertThat(engine.process().status().path("slot_wait").path("table").asText())
                    .isEqualTo("public.added");
            assertThat(engine.process().log())
                    .contains("table \"public.added\": waiting for transaction")
                    .contains("of pid " + old.pid + " before the slot can be created (user \"postgres\"");
            assertThat(engine.process().status().path("status").asText()).isEqualTo("streaming");

            engine.awaitError("added", "was not created within slot_create_timeout (4 s): waiting for transaction");
            pair.publisher().execute("INSERT INTO t VALUES (2)");
            engine.process().awaitApplied(pair.name(), pair.publisher().insertLsn(), Wait.SOON);
            assertThat(pair.target().column("SELECT id FROM t")).containsExactly("2");
            old.commit();

            engine.awaitState("r", "added");
            engine.awaitSame("t", "added");
            assertThat(engine.process().status().path("slot_wait").isNull()).isTrue();
        }
    }
}
