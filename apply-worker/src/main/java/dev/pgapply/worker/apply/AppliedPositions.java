package dev.pgapply.worker.apply;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.FeedbackPositions;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far a subscription has come, shared by the three threads that know a part of it: the leader apply worker says what it has
 * consumed, the apply session what is applied and flushed, the receiver reads both and tells the publisher. Each field has one
 * writing thread; none goes back.
 */
public final class AppliedPositions {

    private final SubscriptionStats stats;

    private volatile Lsn consumedLsn;
    private volatile Lsn appliedLsn;
    private volatile Lsn flushedLsn;
    private volatile @Nullable Instant oldestUnsealed;
    private volatile @Nullable Instant oldestUnflushed;

    /** @param startLsn where the target stands, durably, when streaming starts */
    public AppliedPositions(Lsn startLsn, SubscriptionStats stats) {
        this.stats = stats;
        this.consumedLsn = startLsn;
        this.appliedLsn = startLsn;
        this.flushedLsn = startLsn;
    }

    /** What the publisher may be told. Any thread. */
    public FeedbackPositions feedback() {
        Lsn flushed = flushedLsn;
        Lsn applied = appliedLsn.max(flushed);
        return new FeedbackPositions(consumedLsn.max(applied), flushed, applied);
    }

    public Lsn consumedLsn() {
        return consumedLsn;
    }

    /** Called by the leader apply worker: it has dispatched everything before this position. */
    public void consumed(Lsn lsn) {
        consumedLsn = consumedLsn.max(lsn);
    }

    public Lsn appliedLsn() {
        return appliedLsn;
    }

    public Lsn flushedLsn() {
        return flushedLsn;
    }

    /** Called by the apply session. */
    void applied(Lsn applied, Lsn flushed) {
        appliedLsn = appliedLsn.max(applied);
        flushedLsn = flushedLsn.max(flushed);
    }

    /** Called by the leader: the commit time of the oldest transaction that it has not handed over, or null. */
    public void oldestUnsealed(@Nullable Instant commitTime) {
        oldestUnsealed = commitTime;
        publishOldest();
    }

    /** Called by the apply session: the commit time of the oldest transaction handed over and not flushed, or null. */
    void oldestUnflushed(@Nullable Instant commitTime) {
        oldestUnflushed = commitTime;
        publishOldest();
    }

    private void publishOldest() {
        Instant unflushed = oldestUnflushed;
        stats.setOldestPendingCommitTime(unflushed != null ? unflushed : oldestUnsealed);
    }
}
