package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.catalog.TableCatalog;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one owner of the tables' states of a subscription: every step to another state is taken here, and only legal ones are
 * ({@link TableSyncState}). Thread-safe; a step is written over the caller's connection, in the caller's transaction where there is one.
 *
 * <p>The target's record counts; what is remembered here is what was written last, also if the transaction was rolled back. That does no
 * harm: whoever fails goes on with a step that is legal from both.
 */
final class TableStates {

    private static final Logger log = LoggerFactory.getLogger(TableStates.class);

    private final String subscription;
    private final int subid;
    private final TableCatalog catalog = new TableCatalog();
    private final Map<QualifiedName, SubscriptionTable> tables = new HashMap<>();

    TableStates(String subscription, int subid) {
        this.subscription = subscription;
        this.subid = subid;
    }

    int subid() {
        return subid;
    }

    /** Reads what the target has recorded. */
    synchronized void load(Connection connection) {
        tables.clear();
        for (SubscriptionTable table : catalog.tables(connection, subid)) {
            tables.put(table.table(), table);
        }
    }

    /** All tables as they stand now. */
    synchronized List<SubscriptionTable> all() {
        return List.copyOf(tables.values());
    }

    synchronized @Nullable SubscriptionTable find(QualifiedName table) {
        return tables.get(table);
    }

    /**
     * Takes a step.
     *
     * @param next the table as it stands then; one that is not known yet becomes part of the subscription
     */
    synchronized void record(Connection connection, SubscriptionTable next) {
        SubscriptionTable known = tables.get(next.table());
        TableSyncState from = known == null ? TableSyncState.INIT : known.state();
        if (!from.mayBecome(next.state())) {
            throw new ApplyException(
                    Kind.INTERNAL,
                    "table " + next.table() + " cannot go from state " + from.code() + " to "
                            + next.state().code());
        }
        catalog.setTable(connection, subid, next);
        tables.put(next.table(), next);
        if (known == null || from != next.state()) {
            log.debug(
                    "subscription \"{}\": table \"{}\": {} -> {}{}",
                    subscription,
                    next.table(),
                    known == null ? "-" : from.code(),
                    next.state().code(),
                    next.error() == null ? "" : " (" + next.error() + ")");
        }
    }

    /** The table could not be copied: it is to be redone. @return as it stands then */
    synchronized SubscriptionTable recordFailed(Connection connection, QualifiedName table, ApplyException reason) {
        SubscriptionTable known = tables.get(table);
        TableSyncState state =
                known == null || known.state() == TableSyncState.INIT ? TableSyncState.INIT : TableSyncState.DATASYNC;
        SubscriptionTable failed = new SubscriptionTable(table, state, null, 0, 0, sentence(reason));
        record(connection, failed);
        return failed;
    }

    /** What is recorded and shown of a failure. */
    static String sentence(ApplyException failure) {
        return failure.getMessage() + (failure.hint() == null ? "" : "; hint: " + failure.hint());
    }

    /** The table is no longer part of the subscription. */
    synchronized void remove(Connection connection, QualifiedName table) {
        catalog.removeTable(connection, subid, table);
        tables.remove(table);
    }
}
