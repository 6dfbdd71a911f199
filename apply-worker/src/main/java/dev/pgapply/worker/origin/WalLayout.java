package dev.pgapply.worker.origin;

import dev.pgapply.core.Lsn;

/**
 * The sizes of a server's WAL, needed to compare two positions that PostgreSQL computes differently at the end of a page.
 *
 * @param blockBytes wal_block_size
 * @param segmentBytes wal_segment_size
 */
record WalLayout(int blockBytes, long segmentBytes) {

    /** xlog_internal.h, SizeOfXLogShortPHD: the header of a page. */
    private static final int SHORT_PAGE_HEADER = 24;

    /** xlog_internal.h, SizeOfXLogLongPHD: the header of a segment's first page. */
    private static final int LONG_PAGE_HEADER = 40;

    /**
     * Up to where the WAL is durable, in the terms of an insert position. The insert position stands behind the header of the next page
     * when a record ends exactly with its page (xlog.c, XLogBytePosToRecPtr), the flush position before it (XLogBytePosToEndRecPtr). Taken
     * as they are, that record would not count as flushed until the server writes another one.
     */
    Lsn durable(Lsn flushed) {
        long value = flushed.value();
        if (value == 0 || Long.remainderUnsigned(value, blockBytes) != 0) {
            return flushed;
        }
        boolean startsSegment = Long.remainderUnsigned(value, segmentBytes) == 0;
        return new Lsn(value + (startsSegment ? LONG_PAGE_HEADER : SHORT_PAGE_HEADER));
    }
}
