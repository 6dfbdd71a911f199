package dev.pgapply.worker.stats;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The newest error of a subscription.
 *
 * @param message what failed
 * @param context where, in PostgreSQL's own sentence
 * @param finishLsn what {@code pgapply skip} would take
 * @param count how often the same message and context came in a row
 */
public record LastError(
        String message,
        @Nullable String context,
        @Nullable String relation,
        @Nullable Xid xid,
        @Nullable Lsn finishLsn,
        Instant at,
        long count,
        @Nullable String hint) {}
