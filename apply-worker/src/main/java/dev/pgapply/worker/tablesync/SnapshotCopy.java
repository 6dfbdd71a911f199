package dev.pgapply.worker.tablesync;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.TableProgress;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the workers of one copy have in common: the snapshot, and where they say how far they are. Immutable; used by all of them at once.
 *
 * @param tables takes the tables' steps
 * @param snapshotName what each table is read under
 * @param consistentPoint where that snapshot lies in the publisher's WAL
 * @param done the state of a table whose rows are there: SYNCDONE where the stream begins at the consistent point, else FINISHEDCOPY
 * @param pace how fast, beside the stream
 */
record SnapshotCopy(
        TableStates tables,
        String snapshotName,
        Lsn consistentPoint,
        TableSyncState done,
        CopyPace pace,
        SubscriptionStats stats,
        Ticker ticker) {

    /** Commits by itself. */
    void recordBegun(Connection target, TableCopy copy) {
        tables.record(target, new SubscriptionTable(copy.name(), TableSyncState.DATASYNC, null, 0, 0, null));
    }

    /** In the transaction that holds the rows. */
    void recordDone(Connection target, TableCopy copy, long rows, long bytes) {
        tables.record(target, new SubscriptionTable(copy.name(), done, consistentPoint, rows, bytes, null));
    }

    void show(TableCopy copy, TableSyncState state, long rows, long bytes, @Nullable String error) {
        show(copy, state, rows, bytes, Duration.ZERO, error);
    }

    /** @param copying how long its copy has run, or ran */
    void show(TableCopy copy, TableSyncState state, long rows, long bytes, Duration copying, @Nullable String error) {
        stats.setTable(new TableProgress(
                copy.name(),
                state.code(),
                state == done ? consistentPoint : null,
                rows,
                copy.published().rowsEstimated(),
                bytes,
                copy.published().bytesEstimated(),
                copying,
                error));
    }
}
