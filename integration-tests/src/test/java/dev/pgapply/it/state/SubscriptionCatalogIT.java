package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionIdentity;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import dev.pgapply.worker.catalog.TargetIdentity;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.origin.OriginStatus;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Schema pgapply: what a subscription is. */
class SubscriptionCatalogIT {

    private final SubscriptionCatalog catalog = new SubscriptionCatalog(new Random());
    private final TableCatalog tableCatalog = new TableCatalog();
    private final PostgresServer server = SharedServers.target(RunOptions.targetVersion());
    private final Database database = server.createDatabase(RunOptions.uniqueName("catalog"));
    private final Connection connection = TargetState.connections(database, PostgresServer.SUPERUSER, server.port())
            .openTarget("it");

    private SubscriptionRow row;

    SubscriptionCatalogIT() {
        row = catalog.create(connection, "orders", "orders", TargetState.publisher());
    }

    @BeforeEach
    void the_subscription_is_new() {
        assertThat(row.slotState()).isEqualTo(SlotState.NONE);
    }

    @AfterEach
    void drop() throws Exception {
        connection.close();
        server.maintenance().execute("DROP DATABASE " + Database.quote(database.name()) + " WITH (FORCE)");
    }

    @Test
    void a_subscription_is_found_as_it_was_created() {
        assertThat(catalog.find(connection, "orders")).isEqualTo(row);
        assertThat(catalog.find(connection, "Orders")).isNull();
        assertThat(row.enabled()).isTrue();
        assertThat(row.publisher()).isEqualTo(new SubscriptionRow.Publisher("7000000000000000001", 1, "shop"));
        assertThat(row.target()).isEqualTo(TargetIdentity.read(connection));
        assertThat(OriginStatus.read(connection, row.subid())).isEqualTo(new OriginStatus(Lsn.ZERO, null, Lsn.ZERO));
    }

    @Test
    void looking_for_a_subscription_writes_nothing() throws Exception {
        Database empty = server.createDatabase(RunOptions.uniqueName("empty"));
        try (Connection other = TargetState.connections(empty, PostgresServer.SUPERUSER, server.port())
                .openTarget("it")) {
            assertThat(catalog.find(other, "orders")).isNull();
            assertThat(empty.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'pgapply'"))
                    .isZero();
        }
        empty.drop();
    }

    @Test
    void several_engines_create_the_schema_and_the_same_subscription_at_once() throws Exception {
        Database empty = server.createDatabase(RunOptions.uniqueName("empty"));
        ExecutorService engines = Executors.newFixedThreadPool(6);
        List<Future<Integer>> subids = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String name = "sub" + i % 3;
            subids.add(engines.submit(() -> {
                try (Connection other = TargetState.connections(empty, PostgresServer.SUPERUSER, server.port())
                        .openTarget("it")) {
                    return catalog.create(other, name, name, TargetState.publisher())
                            .subid();
                }
            }));
        }

        for (int i = 0; i < 3; i++) {
            assertThat(subids.get(i).get()).isEqualTo(subids.get(i + 3).get());
        }
        assertThat(empty.number("SELECT count(*) FROM pgapply.subscription")).isEqualTo(3);
        engines.shutdown();
        empty.drop();
    }

    @Test
    void a_subid_that_names_an_origin_of_the_server_is_drawn_again() {
        database.execute("SELECT pg_replication_origin_create('pgapply_1234')");
        int[] drawn = {1234, row.subid(), 5678};
        RandomGenerator scripted = new RandomGenerator() {
            private int next;

            @Override
            public long nextLong() {
                throw new UnsupportedOperationException();
            }

            @Override
            public int nextInt(int origin, int bound) {
                return drawn[next++];
            }
        };

        SubscriptionRow second =
                new SubscriptionCatalog(scripted).create(connection, "second", "second", TargetState.publisher());

        assertThat(second.subid()).isEqualTo(5678);
        database.execute("SELECT pg_replication_origin_drop('pgapply_1234')");
    }

    @Test
    void a_second_subscription_with_the_same_publisher_and_slot_is_refused_naming_the_first() {
        assertThatThrownBy(() -> catalog.create(connection, "second", "orders", TargetState.publisher()))
                .isInstanceOfSatisfying(
                        ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.STATE_MISMATCH))
                .hasMessageContaining("\"second\"")
                .hasMessageContaining("\"orders\"");
        assertThat(catalog.find(connection, "second")).isNull();
    }

    @Test
    void the_first_start_leaves_its_steps_in_the_row() {
        QualifiedName customer = new QualifiedName("public", "Customer \"x\"");
        QualifiedName orders = new QualifiedName("public", "orders");
        SubscriptionRow creating = catalog.transition(connection, row, SlotState.CREATING);

        SubscriptionRow copying = catalog.slotCreated(
                connection,
                creating,
                SlotState.COPYING,
                Lsn.parse("0/1500"),
                List.of(SubscriptionTable.init(customer), SubscriptionTable.init(orders)),
                Map.of());
        SubscriptionTable copied =
                new SubscriptionTable(customer, TableSyncState.SYNCDONE, Lsn.parse("0/1500"), 10, 1000, null);
        tableCatalog.setTable(connection, row.subid(), copied);
        tableCatalog.setReady(connection, row.subid(), Lsn.parse("0/14FF"));

        assertThat(creating.slotState()).isEqualTo(SlotState.CREATING);
        assertThat(copying.slotState()).isEqualTo(SlotState.COPYING);
        assertThat(copying.consistentPoint()).isEqualTo(Lsn.parse("0/1500"));
        assertThat(OriginStatus.read(connection, row.subid()).startLsn()).isEqualTo(Lsn.parse("0/1500"));
        assertThat(tableCatalog.tables(connection, row.subid()))
                .containsExactly(copied, SubscriptionTable.init(orders));
        tableCatalog.setReady(connection, row.subid(), Lsn.parse("0/1500"));
        assertThat(tableCatalog.tables(connection, row.subid()))
                .extracting(SubscriptionTable::state)
                .containsExactly(TableSyncState.READY, TableSyncState.INIT);
    }

    @Test
    void a_first_copy_that_begins_again_forgets_the_first_try() {
        SubscriptionRow copying = catalog.slotCreated(
                connection,
                catalog.transition(connection, row, SlotState.CREATING),
                SlotState.COPYING,
                Lsn.parse("0/1500"),
                List.of(SubscriptionTable.init(new QualifiedName("public", "t"))),
                Map.of());

        SubscriptionRow again = catalog.transition(connection, copying, SlotState.CREATING);

        assertThat(again.consistentPoint()).isNull();
        assertThat(tableCatalog.tables(connection, row.subid())).isEmpty();
        assertThat(OriginStatus.read(connection, row.subid()).startLsn()).isEqualTo(Lsn.ZERO);
    }

    @Test
    void a_slot_that_is_ready_is_not_created_again() {
        SubscriptionRow ready =
                catalog.slotCreated(connection, row, SlotState.READY, Lsn.parse("0/1500"), List.of(), Map.of());

        assertThatThrownBy(() -> catalog.transition(connection, ready, SlotState.CREATING))
                .hasMessageContaining("from slot state ready to creating");
    }

    @Test
    void disabled_holds_with_its_reason_until_enabled() {
        catalog.disable(connection, row.subid(), "duplicate key");

        SubscriptionRow disabled = catalog.find(connection, "orders");

        assertThat(disabled).isNotNull();
        assertThat(disabled.enabled()).isFalse();
        assertThat(disabled.disabledReason()).isEqualTo("duplicate key");
        catalog.enable(connection, row.subid());
        assertThat(catalog.find(connection, "orders")).isEqualTo(row);
    }

    @Test
    void dropping_removes_rows_and_origin() {
        database.execute("SELECT pg_replication_origin_create('pgapply_" + row.subid() + "')");
        tableCatalog.setTable(connection, row.subid(), SubscriptionTable.ready(new QualifiedName("public", "t")));

        catalog.drop(connection, row.subid());

        assertThat(catalog.find(connection, "orders")).isNull();
        assertThat(database.number("SELECT (SELECT count(*) FROM pgapply.subscription_rel)"
                        + " + (SELECT count(*) FROM pgapply.origin_status) + (SELECT count(*) FROM pgapply.epoch)"
                        + " + (SELECT count(*) FROM pg_replication_origin WHERE roname = 'pgapply_" + row.subid()
                        + "')"))
                .isZero();
        catalog.drop(connection, row.subid());
    }

    @Test
    void dropping_waits_for_the_session_that_was_just_ended_to_give_up_the_origin() throws Exception {
        database.execute("SELECT pg_replication_origin_create('pgapply_" + row.subid() + "')");
        Connection user = database.connect();
        try (Statement statement = user.createStatement()) {
            statement.execute("SELECT pg_replication_origin_session_setup('pgapply_" + row.subid() + "')");
        }
        FutureTask<Boolean> drop = new FutureTask<>(() -> {
            catalog.drop(connection, row.subid());
            return true;
        });
        Thread dropping = new Thread(drop);
        dropping.start();
        Wait.until(
                "the drop to wait",
                () -> database.isTrue("SELECT EXISTS (SELECT FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND wait_event = 'PgSleep')"));

        user.close();

        assertThat(drop.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(database.number(
                        "SELECT count(*) FROM pg_replication_origin WHERE roname = 'pgapply_" + row.subid() + "'"))
                .isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void a_role_that_is_no_superuser_needs_no_more_than_to_create_a_schema(int version) throws Exception {
        PostgresServer other = SharedServers.target(version);
        Database owned = other.createDatabase(RunOptions.uniqueName("owned"));
        String role = RunOptions.uniqueName("plain");
        owned.execute("CREATE ROLE " + role + " LOGIN PASSWORD '" + PostgresServer.PASSWORD + "'");
        PostgresConnections connections = TargetState.connections(owned, role, other.port());
        try (Connection plain = connections.openTarget("it")) {
            assertThatThrownBy(() -> catalog.migrate(plain))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.PERMISSION));
            owned.execute("GRANT CREATE ON DATABASE " + Database.quote(owned.name()) + " TO " + role);

            SubscriptionRow mine = catalog.create(plain, "orders", "orders", TargetState.publisher());
            try (Ownership ownership = Ownership.open(connections, "it owner", mine.subid(), () -> {})) {
                assertThat(ownership.tryAcquire()).isNull();
                EpochFence fence = ownership.takeOver(waitingFor -> {});
                fence.enter(plain);
                ownership.check();
            }
            catalog.drop(plain, mine.subid());

            assertThat(catalog.find(plain, "orders")).isNull();
        }
        owned.execute("DROP OWNED BY " + role, "DROP ROLE " + role);
        owned.drop();
    }

    @Test
    void a_copy_of_the_target_database_is_refused() throws Exception {
        connection.close();
        String copy = RunOptions.uniqueName("copy");
        server.maintenance().execute("CREATE DATABASE " + copy + " TEMPLATE " + Database.quote(database.name()));

        try (Connection other = TargetState.connections(server.database(copy), PostgresServer.SUPERUSER, server.port())
                .openTarget("it")) {
            SubscriptionRow found = catalog.find(other, "orders");
            assertThat(found).isNotNull();

            assertThatThrownBy(() -> SubscriptionIdentity.checkTarget(found, TargetIdentity.read(other)))
                    .hasMessageContaining("database oid " + row.target().databaseOid());
        }
        server.database(copy).drop();
    }

    @Test
    void a_schema_of_a_newer_version_is_left_alone() {
        database.execute("UPDATE pgapply.schema_version SET version = 99");

        assertThatThrownBy(() -> catalog.migrate(connection))
                .isInstanceOfSatisfying(
                        ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.PRECONDITION))
                .hasMessageContaining("99");
    }
}
