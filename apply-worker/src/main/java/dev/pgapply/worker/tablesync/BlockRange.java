package dev.pgapply.worker.tablesync;

import java.util.ArrayList;
import java.util.List;

/**
 * A range of a heap's blocks, as a condition on ctid; PostgreSQL 14 and later read only those blocks then (nodeTidrangescan.c).
 *
 * @param first its first block
 * @param end the first block behind it, or {@link #UNBOUNDED}
 */
record BlockRange(long first, long end) {

    /** Whatever comes: a heap grows while it is copied. */
    static final long UNBOUNDED = -1;

    /** So many ranges of about the same size; the last one has no end. */
    static List<BlockRange> split(long blocks, long count) {
        List<BlockRange> ranges = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            ranges.add(new BlockRange(blocks * i / count, i == count - 1 ? UNBOUNDED : blocks * (i + 1) / count));
        }
        return ranges;
    }

    /** For WHERE. */
    String condition() {
        return "ctid >= '(" + first + ",0)'" + (end == UNBOUNDED ? "" : " AND ctid < '(" + end + ",0)'");
    }
}
