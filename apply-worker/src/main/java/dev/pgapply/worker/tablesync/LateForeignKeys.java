package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.tablesync.RetryWait;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.apply.StandStill;
import dev.pgapply.worker.catalog.CreatedTables;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code create_tables: missing}: the foreign keys of tables that were created and copied beside the stream, made once every table is in
 * step. The leader stands still meanwhile: only then do two tables show one moment of the publisher, and only then can the locks that a foreign
 * key takes on both not stand against the leader's. Owned by the thread of {@link TableSync}.
 *
 * <p>Two cases are left to the next start: with two_phase a prepared transaction may have a lock that only the leader ends; and where
 * triggers of foreign keys fire, the leader is to know of them before it applies a change.
 */
final class LateForeignKeys {

    private static final Logger log = LoggerFactory.getLogger(LateForeignKeys.class);

    /** So long the leader may be made to wait for somebody's lock; then it is tried again later. */
    private static final String LOCK_TIMEOUT = "2s";

    private final TableSyncContext context;
    private final BooleanSupplier closing;
    private final boolean wanted;

    /** Whether there may be something to do. */
    private boolean open;

    private RetryWait wait;

    LateForeignKeys(TableSyncContext context, BooleanSupplier closing) {
        this.context = context;
        this.closing = closing;
        this.wanted = context.options().createTables() == CreateTables.MISSING && !context.twoPhase();
        this.open = wanted;
        this.wait = RetryWait.none(context.ticker().nanos());
    }

    /** A table has been copied. */
    void expect() {
        open = wanted;
    }

    /** @param tables all of the subscription, as they stand now */
    void attend(List<SubscriptionTable> tables) {
        long now = context.ticker().nanos();
        if (!open || !wait.isDue(now) || tables.stream().anyMatch(table -> table.state() != TableSyncState.READY)) {
            return;
        }
        CopyConnections connections = context.connections();
        try {
            complete(connections, tables);
            connections.finish();
            open = false;
            wait = RetryWait.none(now);
        } catch (ApplyException e) {
            if (e.kind() == Kind.OWNERSHIP_LOST) {
                throw e;
            }
            wait = wait.failed(now);
            log.debug("foreign keys are tried again later: {}", e.getMessage());
        } finally {
            connections.close();
        }
    }

    private void complete(CopyConnections connections, List<SubscriptionTable> tables) {
        Connection target = connections.openTarget();
        if (CreatedTables.read(target, context.subid()).isEmpty() || !isReplica(target)) {
            return;
        }
        Connection publisher = connections.openPublisher();
        PublisherCatalog catalog = new PublisherCatalog(publisher);
        int major = catalog.facts().major();
        List<PublishedTable> published = catalog.tables(context.options().publications(), major);
        List<QualifiedName> copied =
                tables.stream().map(SubscriptionTable::table).toList();
        MissingTables missing = new MissingTables(context.options(), publisher, major, target);
        SchemaSteps steps = SchemaSteps.beside(context.stats(), context.ticker());
        StandStill.run(context.holds(), closing, () -> missing.complete(context.subid(), published, copied, steps));
    }

    /** Sets the session up, too. */
    private static boolean isReplica(Connection target) {
        try (Statement statement = target.createStatement()) {
            statement.execute("SET lock_timeout = '" + LOCK_TIMEOUT + "'");
            try (ResultSet row =
                    statement.executeQuery("SELECT current_setting('session_replication_role') = 'replica'")) {
                row.next();
                return row.getBoolean(1);
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not set up a session on the target", e);
        }
    }
}
