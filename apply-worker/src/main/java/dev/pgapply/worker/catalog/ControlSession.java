package dev.pgapply.worker.catalog;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.origin.PreparedTransactionRecord;
import dev.pgapply.worker.publisher.PublisherIdentity;
import java.sql.Connection;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A life's own session on the target, with which it reads and writes what the target knows of the one subscription. Before the takeover
 * it only reads, or creates the row that there is none of; then it enters the fence like every other session. Owned by the leader's
 * thread.
 */
public final class ControlSession implements AutoCloseable {

    private final SubscriptionCatalog catalog;
    private final String subscription;
    private final Connection connection;

    private ControlSession(SubscriptionCatalog catalog, String subscription, Connection connection) {
        this.catalog = catalog;
        this.subscription = subscription;
        this.connection = connection;
    }

    public static ControlSession open(SubscriptionCatalog catalog, PostgresConnections target, String subscription) {
        return new ControlSession(catalog, subscription, target.open("pgapply " + subscription + " control"));
    }

    /** Goes on under the epoch of the takeover: once another engine owns the subscription, this session is ended, too. */
    public void enter(EpochFence fence) {
        fence.enter(connection);
    }

    /** The subscription's row as it is now, or null if there is none. */
    public @Nullable SubscriptionRow find() {
        return catalog.find(connection, subscription);
    }

    /** Brings the schema to this version. */
    public void migrate() {
        catalog.migrate(connection);
    }

    /** Creates the subscription's rows; see {@link SubscriptionCatalog#create}. */
    public SubscriptionRow create(String slotName, PublisherIdentity publisher) {
        return catalog.create(connection, subscription, slotName, publisher);
    }

    /** Makes sure that this target is the one the subscription was made in, and not a copy of it. */
    public void requireSameTarget(SubscriptionRow row) {
        SubscriptionIdentity.checkTarget(row, TargetIdentity.read(connection));
    }

    /** The recorded progress; the truth only after the takeover. */
    public OriginStatus originStatus(SubscriptionRow row) {
        return OriginStatus.read(connection, row.subid());
    }

    /** The publisher's transactions that are prepared here, or were about to be. */
    public Set<Xid> preparedTransactions(SubscriptionRow row) {
        return PreparedTransactionRecord.recorded(connection, row.subid());
    }

    public List<SubscriptionTable> tables(SubscriptionRow row) {
        return new TableCatalog().tables(connection, row.subid());
    }

    /** Which changes the subscription's tables take. */
    public static SubscribedTables subscribed(List<SubscriptionTable> tables) {
        Map<QualifiedName, SubscribedTables.Entry> entries = new HashMap<>();
        for (SubscriptionTable table : tables) {
            entries.put(table.table(), new SubscribedTables.Entry(table.state(), table.syncLsn()));
        }
        return new SubscribedTables(entries);
    }

    /** The types of the columns of those of the tables that exist. */
    public Map<QualifiedName, Map<String, TargetColumnType>> columnTypes(Collection<QualifiedName> tables) {
        return TargetColumnType.read(connection, tables);
    }

    /** Tables whose copy stands at or before where the stream begins are ready: nothing before it will be sent. */
    public void setReady(SubscriptionRow row, Lsn startLsn) {
        new TableCatalog().setReady(connection, row.subid(), startLsn);
    }

    public void setTwoPhaseState(SubscriptionRow row, TwoPhaseState state) {
        catalog.setTwoPhaseState(connection, row.subid(), state);
    }

    /** How many transactions the target can have prepared at a time; 0: none. */
    public int maxPreparedTransactions() {
        return CatalogStatements.run(
                "could not ask the target for max_prepared_transactions",
                () -> PreparedTransactionRecord.maxPreparedTransactions(connection));
    }

    public void setTimeline(SubscriptionRow row, int timeline) {
        catalog.setTimeline(connection, row.subid(), timeline);
    }

    @Override
    public void close() {
        PostgresConnections.cut(connection);
    }
}
