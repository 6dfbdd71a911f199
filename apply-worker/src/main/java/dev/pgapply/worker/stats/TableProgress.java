package dev.pgapply.worker.stats;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import org.jspecify.annotations.Nullable;

/**
 * Where the copy of one table stands.
 *
 * @param state PostgreSQL's srsubstate letter: i, d, f, s, r
 * @param syncLsn the position at which the copy is consistent, once it is known
 * @param rowsEstimated the publisher's estimate, -1 if it has none
 * @param bytesEstimated the publisher's estimate, -1 if it has none
 */
public record TableProgress(
        QualifiedName table,
        char state,
        @Nullable Lsn syncLsn,
        long rowsCopied,
        long rowsEstimated,
        long bytesCopied,
        long bytesEstimated,
        @Nullable String error) {}
