package dev.pgapply.core.pgoutput;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Aborts a streamed transaction or one of its subtransactions.
 *
 * @param subxid equal to xid when the toplevel transaction aborts
 * @param abortLsn sent only if streaming = parallel was asked for, as is abortTime
 */
public record StreamAbort(
        Xid xid,
        Xid subxid,
        @Nullable Lsn abortLsn,
        @Nullable Instant abortTime) implements PgOutputMessage {

    @Override
    public MessageType type() {
        return MessageType.STREAM_ABORT;
    }
}
