package dev.pgapply.core.batch;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A remote transaction, or the part of one that fits a batch.
 *
 * @param finalLsn the commit's LSN as Begin announced it: the finish LSN that an operator would skip; null while a streamed
 *     transaction is in progress
 * @param first whether the transaction begins with this slice
 * @param end how it ended, or null if later slices follow
 */
public record TransactionSlice(
        Xid xid,
        @Nullable Lsn finalLsn,
        boolean first,
        List<Step> steps,
        @Nullable End end) {

    public TransactionSlice {
        steps = List.copyOf(steps);
    }

    /** @param endLsn the position after the commit record: what progress is measured by */
    public record End(Lsn commitLsn, Lsn endLsn, Instant commitTime) {}

    public boolean isWhole() {
        return first && end != null;
    }
}
