package dev.pgapply.worker.parallel;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the leader has sent to a parallel apply worker and the worker has not taken, bounded in bytes (applyparallelworker.c,
 * DSM_QUEUE_SIZE). The leader puts, the worker takes; order is kept. An empty queue takes one item of any size.
 *
 * <p>The worker gets at most an eighth of the bound at a time (or one larger item), so that what it holds in hand adds little to what
 * waits here.
 */
final class ParallelApplyQueue {

    private static final int HANDFULS = 8;

    private final long maxBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition room = lock.newCondition();
    private final ArrayDeque<ParallelApplyItem> items = new ArrayDeque<>();
    private long bytes;

    ParallelApplyQueue(long maxBytes) {
        if (maxBytes <= 0) {
            throw new IllegalArgumentException("maxBytes must be positive, was " + maxBytes);
        }
        this.maxBytes = maxBytes;
    }

    /** Puts an item, waiting for room; false after the wait. */
    boolean put(ParallelApplyItem item, Duration wait) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = wait.toNanos();
            while (!fits(item)) {
                if (nanos <= 0) {
                    return false;
                }
                nanos = room.awaitNanos(nanos);
            }
            add(item);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(ParallelApplyItem item) {
        return items.isEmpty() || bytes + item.weight() <= maxBytes;
    }

    /** Puts an item whether or not there is room: there is one end to a transaction. */
    void putAtOnce(ParallelApplyItem item) {
        lock.lock();
        try {
            add(item);
        } finally {
            lock.unlock();
        }
    }

    /** Drops what waits, and puts an item that makes it pointless. */
    void putInstead(ParallelApplyItem item) {
        lock.lock();
        try {
            items.clear();
            bytes = 0;
            add(item);
        } finally {
            lock.unlock();
        }
    }

    private void add(ParallelApplyItem item) {
        items.add(item);
        bytes += item.weight();
        notEmpty.signal();
    }

    /**
     * Moves what waits to {@code into}, waiting for the first item.
     *
     * @return how many items were moved; 0 after the wait
     */
    int drainTo(Collection<? super ParallelApplyItem> into, Duration wait) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = wait.toNanos();
            while (items.isEmpty()) {
                if (nanos <= 0) {
                    return 0;
                }
                nanos = notEmpty.awaitNanos(nanos);
            }
            int count = 0;
            long taken = 0;
            for (ParallelApplyItem item = items.peek(); item != null; item = items.peek()) {
                if (count > 0 && taken + item.weight() > maxBytes / HANDFULS) {
                    break;
                }
                into.add(items.remove());
                taken += item.weight();
                count++;
            }
            bytes -= taken;
            room.signal();
            return count;
        } finally {
            lock.unlock();
        }
    }
}
