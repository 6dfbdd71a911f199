package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;

/**
 * One CopyData payload of the walsender's stream (protocol-replication.html; SEMANTICS 2.1). Frames keep their order through the
 * queue, keepalives among them: a keepalive counts as received only when the leader has consumed it. Immutable; whoever takes a frame
 * from the queue owns its bytes.
 */
public sealed interface Frame permits XLogData, Keepalive {

    /** For {@code w} the message's own position, which is not monotonic; for {@code k} the end of WAL that the walsender has read. */
    Lsn endLsn();

    /** The walsender's clock when it sent this: microseconds since 2000-01-01 UTC. */
    long sendTimeMicros();

    /** How many bytes came over the wire for it. */
    int wireBytes();
}
