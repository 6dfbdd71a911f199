package dev.pgapply.core.transaction;

import dev.pgapply.core.Xid;
import java.util.Arrays;

/**
 * The subtransactions of a streamed transaction in the order of their first changes, each with where that change stands: an offset of
 * the spool file, or whatever else counts the changes (worker.c, SubXactInfo; applyparallelworker.c, subxactlist). Owned by one
 * thread.
 *
 * <p>Only the end is ever taken away: a subtransaction's abort takes everything behind its first change, because until it ends its
 * parents can change nothing. Subxids do not come sorted. Takes about 20 bytes an entry; adding, finding and each entry's removal take
 * constant time, since one transaction may have a million of them.
 */
public final class SubxactList {

    private static final int INITIAL_CAPACITY = 16;
    private static final int NONE = -1;

    private int[] subxids = new int[INITIAL_CAPACITY];
    private long[] positions = new long[INITIAL_CAPACITY];
    private int size;

    /** Hash chains: the newest entry of each bucket, and for each entry the one before it in its bucket. */
    private int[] newest = emptyBuckets(INITIAL_CAPACITY);

    private int[] before = new int[INITIAL_CAPACITY];

    public int size() {
        return size;
    }

    /**
     * Adds a subtransaction at the end.
     *
     * @param position where its first change stands; not before the last entry's
     */
    public void add(Xid subxid, long position) {
        if (indexOf(subxid) >= 0) {
            throw new IllegalArgumentException("subtransaction " + subxid + " is in the list");
        }
        if (size > 0 && position < positions[size - 1]) {
            throw new IllegalArgumentException("position " + position + " lies before " + positions[size - 1]);
        }
        if (size == subxids.length) {
            grow();
        }
        subxids[size] = subxid.value();
        positions[size] = position;
        chain(size);
        size++;
    }

    /** Where in the list the subtransaction stands, or a negative number if it is not there. */
    public int indexOf(Xid subxid) {
        int index = newest[bucket(subxid.value())];
        while (index != NONE && subxids[index] != subxid.value()) {
            index = before[index];
        }
        return index;
    }

    public Xid subxid(int index) {
        return new Xid(subxids[index]);
    }

    /** Where the first change of the entry stands. */
    public long position(int index) {
        return positions[index];
    }

    /** Takes away the entry and all behind it. */
    public void truncate(int index) {
        while (size > index) {
            size--;
            // The last entry is always the newest of its bucket.
            newest[bucket(subxids[size])] = before[size];
        }
    }

    private void chain(int index) {
        int bucket = bucket(subxids[index]);
        before[index] = newest[bucket];
        newest[bucket] = index;
    }

    /** Xids mostly count up, and the low bits alone spread them well. */
    private int bucket(int subxid) {
        return subxid & (newest.length - 1);
    }

    private void grow() {
        int capacity = Math.multiplyExact(subxids.length, 2);
        subxids = Arrays.copyOf(subxids, capacity);
        positions = Arrays.copyOf(positions, capacity);
        before = new int[capacity];
        newest = emptyBuckets(capacity);
        for (int i = 0; i < size; i++) {
            chain(i);
        }
    }

    private static int[] emptyBuckets(int count) {
        int[] buckets = new int[count];
        Arrays.fill(buckets, NONE);
        return buckets;
    }
}
