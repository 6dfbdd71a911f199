package dev.pgapply.worker.tablesync;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** A table that is being copied, maybe by several workers: what its parts have in common. Thread-safe. */
final class CopyingTable {

    private final TableCopy copy;
    private final List<Long> relations;
    private final int parts;
    private final AtomicInteger partsLeft;
    private final LongAdder rows = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder pausedNanos = new LongAdder();
    private boolean begun;
    private volatile long begunNanos;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * @param relations the oids of what is read, for the comparison under the lock
     * @param parts how many there are
     */
    CopyingTable(TableCopy copy, List<Long> relations, int parts) {
        this.copy = copy;
        this.relations = List.copyOf(relations);
        this.parts = parts;
        this.partsLeft = new AtomicInteger(parts);
    }

    TableCopy copy() {
        return copy;
    }

    List<Long> relations() {
        return relations;
    }

    /** Whether one transaction holds all its rows. */
    boolean isOnePart() {
        return parts == 1;
    }

    /** Records that the copy has begun, once; when this returns it is recorded, whoever did it. */
    synchronized void begin(long nowNanos, Runnable record) {
        if (!begun) {
            record.run();
            begunNanos = nowNanos;
            begun = true;
        }
    }

    /** How long the copy has run. */
    long nanosSinceBegin(long nowNanos) {
        return nowNanos - begunNanos;
    }

    void add(long moreRows, long moreBytes) {
        rows.add(moreRows);
        bytes.add(moreBytes);
    }

    void addPause(long nanos) {
        pausedNanos.add(nanos);
    }

    /** How long its workers have paused, each by itself. */
    long pausedMillis() {
        return pausedNanos.sum() / 1_000_000;
    }

    long rows() {
        return rows.sum();
    }

    long bytes() {
        return bytes.sum();
    }

    /** Says that a part is committed. @return whether it was the last: then all are. */
    boolean partCommitted() {
        return partsLeft.decrementAndGet() == 0;
    }

    /** Its copy cannot be completed: no more parts are begun. @return whether this is news */
    boolean fail() {
        return failed.compareAndSet(false, true);
    }

    boolean hasFailed() {
        return failed.get();
    }
}
