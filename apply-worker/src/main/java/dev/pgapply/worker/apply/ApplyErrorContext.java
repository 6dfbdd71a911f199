package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.MessageType;
import org.jspecify.annotations.Nullable;

/**
 * What is being processed, for the one sentence that an error gets (worker.c, apply_error_callback). Owned by one thread: the leader
 * apply worker's while it decodes, the apply session's while it executes.
 */
final class ApplyErrorContext {

    private final String originName;
    private @Nullable MessageType messageType;
    private @Nullable QualifiedName relation;
    private @Nullable Xid xid;
    private @Nullable Lsn finishLsn;

    ApplyErrorContext(String originName) {
        this.originName = originName;
    }

    /** @param finishLsn null where it is not known yet, as of a transaction in progress */
    void transaction(Xid xid, @Nullable Lsn finishLsn) {
        this.xid = xid;
        this.finishLsn = finishLsn;
    }

    /** @param type null where the message is none */
    void message(@Nullable MessageType type, @Nullable QualifiedName relation) {
        this.messageType = type;
        this.relation = relation;
    }

    void relation(QualifiedName relation) {
        this.relation = relation;
    }

    void clear() {
        messageType = null;
        relation = null;
        xid = null;
        finishLsn = null;
    }

    /** The failure with the place where it happened; unchanged where no message was being processed. */
    ApplyException addTo(ApplyException failure) {
        MessageType type = messageType;
        if (type == null) {
            return failure;
        }
        StringBuilder sentence = new StringBuilder("processing remote data for replication origin \"")
                .append(originName)
                .append("\" during message type \"")
                .append(type.label())
                .append('"');
        if (relation != null) {
            sentence.append(" for replication target relation \"")
                    .append(relation)
                    .append('"');
            if (failure.column() != null) {
                sentence.append(" column \"").append(failure.column()).append('"');
            }
        }
        if (xid != null) {
            sentence.append(" in transaction ").append(xid);
        }
        if (finishLsn != null) {
            sentence.append(", finished at ").append(finishLsn);
        }
        return failure.in(new ApplyException.Context(
                sentence.toString(), relation == null ? null : relation.toString(), xid, finishLsn));
    }
}
