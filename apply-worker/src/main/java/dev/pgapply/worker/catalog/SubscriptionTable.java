package dev.pgapply.worker.catalog;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.stats.TableProgress;
import org.jspecify.annotations.Nullable;

/**
 * A table of a subscription, as {@code pgapply.subscription_rel} has it.
 *
 * @param syncLsn the position at which its copy is consistent; null before the copy, and for a table that was never copied
 * @param error why it could not be copied, or null
 */
public record SubscriptionTable(
        QualifiedName table,
        TableSyncState state,
        @Nullable Lsn syncLsn,
        long rowsCopied,
        long bytesCopied,
        @Nullable String error) {

    /** A table that is not copied yet. */
    public static SubscriptionTable init(QualifiedName table) {
        return new SubscriptionTable(table, TableSyncState.INIT, null, 0, 0, null);
    }

    /** The same, not copied because of that. */
    public SubscriptionTable withError(String reason) {
        return new SubscriptionTable(table, state, syncLsn, rowsCopied, bytesCopied, reason);
    }

    /** Whether its rows are there, or none were to be copied. */
    public boolean isCopied() {
        return switch (state) {
            case INIT, DATASYNC, FINISHEDCOPY -> false;
            case SYNCDONE, READY -> true;
        };
    }

    /** As people see it while no copy of it runs; nothing is estimated. */
    public TableProgress progress() {
        return new TableProgress(table, state.code(), syncLsn, rowsCopied, -1, bytesCopied, -1, error);
    }

    /** A table that takes changes without having been copied. */
    public static SubscriptionTable ready(QualifiedName table) {
        return new SubscriptionTable(table, TableSyncState.READY, null, 0, 0, null);
    }
}
