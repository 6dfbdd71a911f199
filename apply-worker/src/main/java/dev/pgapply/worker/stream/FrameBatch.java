package dev.pgapply.worker.stream;

import dev.pgapply.core.Lsn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The frames that the receiver has read and not yet handed over, in order. Owned by the receiver's thread. */
final class FrameBatch {

    private static final int MAX_FRAMES = 512;
    private static final long MAX_BYTES = 256 * 1024;

    private final List<Frame> frames = new ArrayList<>(MAX_FRAMES);
    private int handedOver;
    private long bytes;

    void add(Frame frame) {
        frames.add(frame);
        bytes += ReceiveQueue.weight(frame);
    }

    boolean isEmpty() {
        return frames.isEmpty();
    }

    /** Whether it is time to take the queue's lock. */
    boolean isFull() {
        return frames.size() >= MAX_FRAMES || bytes >= MAX_BYTES;
    }

    /** The frame that came last; there must be one. */
    Frame newest() {
        return frames.get(frames.size() - 1);
    }

    /** The greatest position that a frame names. */
    Lsn greatestLsn() {
        Lsn greatest = Lsn.ZERO;
        for (Frame frame : frames) {
            greatest = greatest.max(frame.endLsn());
        }
        return greatest;
    }

    /**
     * Puts what fits, waiting for the room of one frame, and empties the batch when all are put.
     *
     * @return false if none could be put
     */
    boolean putInto(ReceiveQueue queue, Duration wait) throws InterruptedException {
        int count = queue.put(frames, handedOver, wait);
        handedOver += count;
        if (handedOver == frames.size()) {
            frames.clear();
            handedOver = 0;
            bytes = 0;
        }
        return count > 0;
    }
}
