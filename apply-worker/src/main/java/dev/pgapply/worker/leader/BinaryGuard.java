package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.relation.BinaryAgreement;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.worker.preflight.StreamFallback;
import dev.pgapply.worker.preflight.StreamStart;
import java.util.function.Consumer;

/**
 * Looks at each relation that opens while values come in binary form, whether the target's columns can take them: a new or changed table,
 * or a change made when the types were other ones. With {@code auto} the life ends, and the next one asks for text. Owned by the leader
 * apply worker's thread.
 */
final class BinaryGuard implements Consumer<RelationMapEntry> {

    private final BinaryMode mode;
    private final StreamStart start;
    private final StreamFallback fallback;

    BinaryGuard(BinaryMode mode, StreamStart start, StreamFallback fallback) {
        this.mode = mode;
        this.start = start;
        this.fallback = fallback;
    }

    @Override
    public void accept(RelationMapEntry entry) {
        if (!start.binary()) {
            return;
        }
        if (mode == BinaryMode.TRUE) {
            TargetColumn refusing = BinaryAgreement.refusing(entry);
            if (refusing != null) {
                throw ApplyException.withHint(
                        Kind.SCHEMA_MISMATCH,
                        "incorrect binary data format in logical replication column \"" + refusing.name()
                                + "\": it is of another type on the publisher than " + refusing.typeName(),
                        "give it the same type on both sides, or set binary: auto or false");
            }
            return;
        }
        TargetColumn other = BinaryAgreement.disagreeing(entry);
        if (other != null) {
            fallback.needText(start.publisherLsn());
            throw new ApplyException(
                    Kind.TRANSIENT,
                    "values came in binary form, which column \"" + other.name() + "\" of \""
                            + entry.target().name()
                            + "\" does not share with the publisher; the stream is asked for again as text");
        }
    }

    /** The same for another thread: what has to change the stream's format ends the life, which that thread cannot do by throwing. */
    Consumer<RelationMapEntry> failing(Consumer<ApplyException> failed) {
        return entry -> {
            try {
                accept(entry);
            } catch (ApplyException e) {
                if (e.kind() == Kind.TRANSIENT) {
                    failed.accept(e);
                }
                throw e;
            }
        };
    }
}
