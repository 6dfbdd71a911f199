package dev.pgapply.worker.stream;

import dev.pgapply.core.ApplyException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The frames between the receiver and the leader, bounded in bytes. One thread puts, one thread takes; both hand over in batches, so
 * that the lock is taken once for many frames. Order is kept. An empty queue takes one frame of any size.
 *
 * <p>A taker gets at most an eighth of the bound at a time (or one larger frame), so that what it holds in hand adds little to what
 * waits here.
 */
public final class ReceiveQueue {

    /** What a frame costs beside its payload: the record, two positions, the array's header and its place here. */
    static final int FRAME_OVERHEAD = 128;

    private static final int HANDFULS = 8;

    private final long maxBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition room = lock.newCondition();
    private final ArrayDeque<Frame> frames = new ArrayDeque<>();
    private long bytes;
    private boolean closed;
    private @Nullable ApplyException failure;
    private volatile boolean empty = true;

    public ReceiveQueue(long maxBytes) {
        if (maxBytes <= 0) {
            throw new IllegalArgumentException("maxBytes must be positive, was " + maxBytes);
        }
        this.maxBytes = maxBytes;
    }

    /** What a frame takes of the bound. */
    static long weight(Frame frame) {
        return (long) frame.wireBytes() + FRAME_OVERHEAD;
    }

    /** Whether nothing waits now. Any thread, no lock. */
    public boolean isEmpty() {
        return empty;
    }

    /**
     * Puts the batch's first frames, as many as there is room for, and waits for the room of at least one. Called by the receiver.
     *
     * @param from the index of the first frame to put
     * @return how many were put; 0 after the wait, and at once when the queue is closed
     */
    public int put(List<Frame> batch, int from, Duration wait) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = wait.toNanos();
            while (!closed && !fits(batch.get(from))) {
                if (nanos <= 0) {
                    return 0;
                }
                nanos = room.awaitNanos(nanos);
            }
            int next = from;
            while (!closed && next < batch.size() && fits(batch.get(next))) {
                Frame frame = batch.get(next++);
                frames.add(frame);
                bytes += weight(frame);
            }
            if (next > from) {
                empty = false;
                notEmpty.signal();
            }
            return next - from;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(Frame frame) {
        return frames.isEmpty() || bytes + weight(frame) <= maxBytes;
    }

    /**
     * Moves what waits to {@code into}, waiting for the first frame. Called by the leader.
     *
     * @return how many frames were moved; 0 after the wait, and at once when the queue is closed
     * @throws ApplyException the receiver's failure, after all frames before it have been taken
     */
    public int drainTo(Collection<? super Frame> into, Duration wait) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = wait.toNanos();
            while (frames.isEmpty()) {
                if (failure != null) {
                    throw failure;
                }
                if (closed || nanos <= 0) {
                    return 0;
                }
                nanos = notEmpty.awaitNanos(nanos);
            }
            int count = 0;
            long taken = 0;
            for (Frame frame = frames.peek(); frame != null; frame = frames.peek()) {
                long weight = weight(frame);
                if (count > 0 && taken + weight > maxBytes / HANDFULS) {
                    break;
                }
                into.add(frames.remove());
                taken += weight;
                count++;
            }
            bytes -= taken;
            empty = frames.isEmpty();
            room.signal();
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** How many bytes wait, overhead included. Any thread. */
    public long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the stream with an error that the taker gets after the frames before it. The first failure stays. */
    public void fail(ApplyException error) {
        lock.lock();
        try {
            if (failure == null) {
                failure = error;
            }
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /** Drops what waits and takes nothing more. Any thread. */
    public void close() {
        lock.lock();
        try {
            closed = true;
            frames.clear();
            bytes = 0;
            empty = true;
            notEmpty.signal();
            room.signal();
        } finally {
            lock.unlock();
        }
    }
}
