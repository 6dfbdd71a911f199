package dev.pgapply.it.state;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.worker.catalog.EpochFence;
import dev.pgapply.worker.catalog.LockHolder;
import dev.pgapply.worker.catalog.Ownership;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.publisher.PublisherIdentity;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A database of its own on a target, with one subscription in its catalog and a table {@code t(id int primary key)}; and engines that own it. Owned
 * by the test's thread.
 */
final class TargetState implements AutoCloseable {

    private final Database database;
    private final SubscriptionRow row;
    private final List<AutoCloseable> open = new ArrayList<>();

    private TargetState(Database database, SubscriptionRow row) {
        this.database = database;
        this.row = row;
    }

    static TargetState on(PostgresServer server) {
        Database database = server.createDatabase(RunOptions.uniqueName("state"));
        database.execute("CREATE TABLE t(id int PRIMARY KEY, x int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        SubscriptionCatalog catalog = new SubscriptionCatalog(new Random());
        try (Connection connection =
                connections(database, PostgresServer.SUPERUSER, server.port()).openTarget("it")) {
            return new TargetState(database, catalog.create(connection, "orders", "orders", publisher()));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static PublisherIdentity publisher() {
        return new PublisherIdentity("7000000000000000001", 1, Lsn.parse("0/100"), "shop");
    }

    static PostgresConnections connections(Database database, String user, int port) {
        return new PostgresConnections(
                ConnectionUrl.parse(database.libpqUrl(user, port), PostgresServer.PASSWORD, user));
    }

    /** A role that owns the tables but may not use replication origins, nor end other roles' sessions. */
    String plainRole() {
        String role = RunOptions.uniqueName("plain");
        database.execute(
                "CREATE ROLE " + role + " LOGIN PASSWORD '" + PostgresServer.PASSWORD + "'",
                "GRANT USAGE ON SCHEMA pgapply TO " + role,
                "GRANT ALL ON ALL TABLES IN SCHEMA pgapply, public TO " + role);
        open.add(() -> database.execute("DROP OWNED BY " + role, "DROP ROLE " + role));
        return role;
    }

    Database database() {
        return database;
    }

    SubscriptionRow row() {
        return row;
    }

    int subid() {
        return row.subid();
    }

    String origin() {
        return "pgapply_" + row.subid();
    }

    PostgresConnections connections() {
        return connections(database, PostgresServer.SUPERUSER, database.server().port());
    }

    /** An engine's lock session, not yet the owner. */
    Ownership candidate(PostgresConnections as, String applicationName, Runnable whenLost) {
        Ownership ownership = Ownership.open(as, applicationName, row.subid(), whenLost);
        open.add(ownership);
        return ownership;
    }

    /** What each start and restart of an engine does: a takeover, also from itself. Ends the lock session of the one before. */
    EpochFence takeOver() {
        database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pgapply orders owner'"
                        + " AND datname = current_database()");
        Ownership ownership = candidate(connections(), "pgapply orders owner", () -> {});
        LockHolder holder = ownership.tryAcquire();
        while (holder != null) {
            holder = ownership.tryAcquire();
        }
        return ownership.takeOver(waitingFor -> {});
    }

    /** A new apply session of the owner with this fence. */
    ApplySession session(EpochFence fence) {
        return session(fence, connections());
    }

    ApplySession session(EpochFence fence, PostgresConnections as) {
        ApplySession session = ApplySession.open(as, fence);
        open.add(session);
        return session;
    }

    /** What the record says. */
    Lsn recorded() {
        return Lsn.parse(String.valueOf(
                database.value("SELECT remote_lsn FROM pgapply.origin_status WHERE subid = " + row.subid())));
    }

    /** What PostgreSQL's own origin says; ZERO where there is none. */
    Lsn nativeOrigin() {
        List<String> lsn = database.column(
                "SELECT coalesce(pg_replication_origin_progress(roname, false), '0/0') FROM pg_replication_origin WHERE roname = '"
                        + origin() + "'");
        return lsn.isEmpty() ? Lsn.ZERO : Lsn.parse(lsn.get(0));
    }

    @Override
    public void close() {
        for (AutoCloseable closeable : open) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        database.server().maintenance().execute("DROP DATABASE " + Database.quote(database.name()) + " WITH (FORCE)");
        database.server()
                .maintenance()
                .execute("SELECT pg_replication_origin_drop(roname) FROM pg_replication_origin WHERE roname = '"
                        + origin() + "'");
    }
}
