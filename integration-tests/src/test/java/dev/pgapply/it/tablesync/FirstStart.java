package dev.pgapply.it.tablesync;

import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.subscription.SubscriptionOptions.Origin;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresTarget;
import dev.pgapply.worker.origin.ProgressCommit;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.tablesync.CopyConnections;
import dev.pgapply.worker.tablesync.InitialCopy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.replication.PGReplicationStream;

/**
 * A first start without an engine's process around it: it owns the subscription, as an engine would, and runs the initial copy. {@link #close}
 * gives the ownership up; one that is not closed first is taken over by the next.
 */
final class FirstStart implements AutoCloseable {

    private final SubscriptionOptions options;
    private final SubscriptionStats stats;
    private final PostgresConnections target;
    private final Connection control;
    private final Ownership ownership;
    private final PostgresTarget described;
    private final SubscriptionRow row;
    private final InitialCopy copy;

    private FirstStart(SubscriptionOptions options) {
        this.options = options;
        this.stats = new SubscriptionStats(options.name(), Clock.systemUTC());
        this.target = new PostgresConnections(options.target());
        PostgresConnections publisher = new PostgresConnections(options.publisher());
        SubscriptionCatalog catalog = new SubscriptionCatalog(new Random());
        this.control = target.open("control");
        int subid = create(catalog, publisher).subid();
        this.ownership = Ownership.open(target, "lock", subid, () -> {});
        if (ownership.tryAcquire() != null) {
            throw new IllegalStateException("somebody else owns the subscription");
        }
        EpochFence fence = ownership.takeOver(sessions -> {});
        this.row = create(catalog, publisher);
        this.described = new PostgresTarget(
                target,
                options.name(),
                "off",
                fence,
                (connection, pipeline, number) ->
                        ProgressCommit.open(connection, pipeline, subid, number, System::nanoTime));
        this.copy = new InitialCopy(
                options,
                new CopyConnections(options.name(), publisher, target, fence),
                described,
                catalog,
                stats,
                System::nanoTime);
    }

    private SubscriptionRow create(SubscriptionCatalog catalog, PostgresConnections publisher) {
        try (Connection replication = publisher.openReplication(options.name())) {
            return catalog.create(control, options.name(), options.slotName(), PublisherIdentity.of(replication));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Takes the subscription over. */
    static FirstStart of(SubscriptionOptions options) {
        return new FirstStart(options);
    }

    /** What {@link DatabasePair#config} says, as the worker gets it. */
    static SubscriptionOptions options(DatabasePair pair) {
        return options(pair, true, true, List.of(DatabasePair.PUBLICATION));
    }

    /** With {@code create_tables: missing}. */
    static SubscriptionOptions creatingTables(DatabasePair pair) {
        return creatingTables(pair, null);
    }

    /** @param user who connects to the target, null: the superuser */
    static SubscriptionOptions creatingTables(DatabasePair pair, @Nullable String user) {
        return copying(pair, user, CreateTables.MISSING, false, Duration.ZERO);
    }

    static SubscriptionOptions options(
            DatabasePair pair, boolean createSlot, boolean copyData, List<String> publications) {
        return options(
                url(pair.publisher(), null), url(pair.target(), null), pair.name(), createSlot, copyData, publications);
    }

    static SubscriptionOptions options(
            ConnectionUrl publisher,
            ConnectionUrl target,
            String name,
            boolean createSlot,
            boolean copyData,
            List<String> publications) {
        return options(
                publisher, target, name, createSlot, copyData, CreateTables.NONE, publications, false, Duration.ZERO);
    }

    /** With {@code disable_on_error: true}. */
    static SubscriptionOptions disablingOnError(DatabasePair pair) {
        return copying(pair, null, CreateTables.NONE, true, Duration.ZERO);
    }

    /** @param slotCreateTimeout how long the publisher may take to create the slot */
    static SubscriptionOptions options(DatabasePair pair, Duration slotCreateTimeout) {
        return copying(pair, null, CreateTables.NONE, false, slotCreateTimeout);
    }

    /** With a slot of its own and a copy of the pair's publication. */
    private static SubscriptionOptions copying(
            DatabasePair pair,
            @Nullable String user,
            CreateTables createTables,
            boolean disableOnError,
            Duration slotCreateTimeout) {
        return options(
                url(pair.publisher(), null),
                url(pair.target(), user),
                pair.name(),
                true,
                true,
                createTables,
                List.of(DatabasePair.PUBLICATION),
                disableOnError,
                slotCreateTimeout);
    }

    private static SubscriptionOptions options(
            ConnectionUrl publisher,
            ConnectionUrl target,
            String name,
            boolean createSlot,
            boolean copyData,
            CreateTables createTables,
            List<String> publications,
            boolean disableOnError,
            Duration slotCreateTimeout) {
        return new SubscriptionOptions(
                name,
                publisher,
                target,
                publications,
                name,
                true,
                createSlot,
                copyData,
                createTables,
                StreamingMode.OFF,
                false,
                BinaryMode.AUTO,
                Origin.ANY,
                "off",
                disableOnError,
                2,
                2,
                Duration.ofSeconds(10),
                slotCreateTimeout,
                Duration.ofSeconds(10),
                Duration.ofSeconds(60),
                16 << 20,
                new BatchLimits(20_000, 16 << 20),
                0);
    }

    /** @param user null: the superuser */
    static ConnectionUrl url(Database database, @Nullable String user) {
        String role = user == null ? PostgresServer.SUPERUSER : user;
        return ConnectionUrl.parse(
                database.libpqUrl(role, database.server().port()), PostgresServer.PASSWORD, PostgresServer.SUPERUSER);
    }

    /** A walsender that streams from the pair's slot under that application_name, until it is closed. */
    static Connection stream(DatabasePair pair, String applicationName) throws SQLException {
        Connection replication = new PostgresConnections(url(pair.publisher(), null)).openReplication(applicationName);
        PGReplicationStream unused = replication
                .unwrap(PGConnection.class)
                .getReplicationAPI()
                .replicationStream()
                .logical()
                .withSlotName(pair.name())
                .withSlotOption("proto_version", 1)
                .withSlotOption("publication_names", DatabasePair.PUBLICATION)
                .start();
        return replication;
    }

    SubscriptionRow run() {
        return copy.run(row);
    }

    /** Runs on a thread of its own. */
    CompletableFuture<SubscriptionRow> runAside() {
        return CompletableFuture.supplyAsync(this::run, task -> new Thread(task, "first-start").start());
    }

    void stop() {
        copy.stop();
    }

    SubscriptionStats stats() {
        return stats;
    }

    @Override
    public void close() {
        described.close();
        ownership.close();
        try {
            control.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
