package dev.pgapply.core.transaction;

import dev.pgapply.core.Lsn;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Which remote positions are durable on the target: the pairs of a commit's remote end_lsn and its local LSN that the target has not
 * flushed yet (worker.c: lsn_mapping, store_flush_position, get_flush_position). Owned by the apply session's thread.
 *
 * <p>Transactions are stored in the publisher's commit order. A position that was given out never goes back. At most
 * {@value #MAX_PENDING} pairs are kept: while the target's flush is further behind than that, the newest commits share a pair and
 * become durable together.
 */
public final class FlushPositions {

    /** About half a megabyte; a target that flushes every 200 ms leaves a few hundred. */
    static final int MAX_PENDING = 4096;

    private final Deque<Pending> pending = new ArrayDeque<>();
    private Lsn flushed;
    private Lsn applied;

    /** @param start the progress that the target durably showed when the session began */
    public FlushPositions(Lsn start) {
        this.flushed = start;
        this.applied = start;
    }

    /**
     * Stores a commit whose rows are visible on the target but perhaps not durable.
     *
     * @param remoteEnd the end_lsn of the (last) remote transaction committed
     * @param localLsn a position of the target's WAL at or behind its commit record
     */
    public void store(Lsn remoteEnd, Lsn localLsn, Instant commitTime) {
        applied = applied.max(remoteEnd);
        Pending last = pending.peekLast();
        if (last != null && (!localLsn.isAfter(last.localLsn) || pending.size() >= MAX_PENDING)) {
            pending.removeLast();
            pending.addLast(new Pending(applied, last.localLsn.max(localLsn), last.commitTime));
            return;
        }
        pending.addLast(new Pending(applied, localLsn, commitTime));
    }

    /**
     * Forgets what has become durable.
     *
     * @param localFlushed up to where the target's WAL is durable, on its synchronous standbys too where it has some
     */
    public void advance(Lsn localFlushed) {
        Pending first = pending.peekFirst();
        while (first != null && !first.localLsn.isAfter(localFlushed)) {
            flushed = first.remoteEnd;
            pending.removeFirst();
            first = pending.peekFirst();
        }
    }

    /**
     * Notes that the target has durably recorded a position up to which there was nothing to apply. By then every earlier commit is
     * durable too.
     */
    public void recordIdle(Lsn idleLsn) {
        applied = applied.max(idleLsn);
        flushed = applied;
        pending.clear();
    }

    /** The newest remote end_lsn whose commit, and every one before it, is durable on the target. */
    public Lsn flushed() {
        return flushed;
    }

    /** The newest remote end_lsn that is committed on the target. */
    public Lsn applied() {
        return applied;
    }

    /** Whether every commit is durable. */
    public boolean isEmpty() {
        return pending.isEmpty();
    }

    /** When the oldest commit that is not durable was made on the publisher, or null if all are. */
    public @Nullable Instant oldestCommitTime() {
        Pending first = pending.peekFirst();
        return first == null ? null : first.commitTime;
    }

    /** How many pairs are kept. */
    int size() {
        return pending.size();
    }

    private record Pending(Lsn remoteEnd, Lsn localLsn, Instant commitTime) {}
}
