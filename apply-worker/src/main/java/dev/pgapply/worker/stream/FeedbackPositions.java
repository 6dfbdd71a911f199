package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;

/**
 * What the apply side lets the publisher know (SEMANTICS S-23). Immutable; the leader publishes a new one through a volatile field
 * and the receiver sends it.
 *
 * @param write the newest position that the leader has consumed
 * @param flush everything before it is durable on the target: the publisher may forget it
 * @param apply everything before it is visible on the target
 */
public record FeedbackPositions(Lsn write, Lsn flush, Lsn apply) {

    /** Nothing yet; a publisher ignores zeros. */
    public static final FeedbackPositions NONE = new FeedbackPositions(Lsn.ZERO, Lsn.ZERO, Lsn.ZERO);

    /** The later of each: what was sent once is never taken back. */
    FeedbackPositions max(FeedbackPositions other) {
        return new FeedbackPositions(write.max(other.write), flush.max(other.flush), apply.max(other.apply));
    }
}
