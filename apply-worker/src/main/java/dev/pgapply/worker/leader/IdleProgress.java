package dev.pgapply.worker.leader;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.ApplySession;
import dev.pgapply.worker.stream.Ticker;
import java.time.Duration;

/**
 * Lets a slot advance although nothing is applied: with nothing pending, the last keepalive's position is recorded durably on the
 * target, and only then reported as flushed (worker.c, get_flush_position, but never ahead of what the target can prove after a
 * restore). Owned by the leader apply worker's thread.
 *
 * <p>At most one record a status interval, since it costs a commit; at once when the publisher asks for a reply, as it does at its
 * shutdown, or waits for this standby in its own commits.
 */
final class IdleProgress {

    private final AppliedPositions positions;
    private final ApplySession session;
    private final Ticker ticker;
    private final long intervalNanos;
    private final boolean alwaysAtOnce;

    private Lsn recordedLsn;
    private long recordedAt;
    private boolean askedFor;

    /** @param alwaysAtOnce whether the publisher has synchronous_standby_names set */
    IdleProgress(
            AppliedPositions positions,
            ApplySession session,
            Ticker ticker,
            Duration statusInterval,
            boolean alwaysAtOnce) {
        this.positions = positions;
        this.session = session;
        this.ticker = ticker;
        this.intervalNanos = statusInterval.toNanos();
        this.alwaysAtOnce = alwaysAtOnce;
        this.recordedLsn = positions.flushedLsn();
        this.recordedAt = ticker.nanos() - intervalNanos;
    }

    /** The publisher wants an answer that says how far the target is. */
    void askedFor() {
        askedFor = true;
    }

    /** Called whenever nothing is open or handed over. */
    void recordIfDue() {
        Lsn consumed = positions.consumedLsn();
        if (!consumed.isAfter(recordedLsn.max(positions.flushedLsn()))) {
            askedFor = false;
            return;
        }
        if (!askedFor && !alwaysAtOnce && ticker.nanos() - recordedAt < intervalNanos) {
            return;
        }
        session.recordIdle(consumed);
        recordedLsn = consumed;
        recordedAt = ticker.nanos();
        askedFor = false;
    }
}
