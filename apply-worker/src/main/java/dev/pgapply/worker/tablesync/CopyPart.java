package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import org.jspecify.annotations.Nullable;

/**
 * What one worker copies in one transaction: a table, one of its partitions, or a range of blocks of either. Immutable but for the table
 * that it belongs to.
 *
 * @param relation what is read: the table itself or a leaf partition
 * @param blocks null: all of it
 * @param bytesEstimated the relation's size, or its part of it
 */
record CopyPart(
        CopyingTable table,
        QualifiedName relation,
        @Nullable BlockRange blocks,
        long bytesEstimated) {

    TableCopy copy() {
        return table.copy();
    }

    /** For the publisher. */
    String copyOut() {
        boolean whole = blocks == null && relation.equals(copy().name());
        return whole ? copy().copyOut() : copy().copyOut(relation, blocks == null ? null : blocks.condition());
    }

    /** Whether rows are wide on the average, as far as the estimates go; without any, whether there is room for one. */
    boolean mayBeWide() {
        long rows = Math.max(1, copy().published().rowsEstimated());
        return copy().published().bytesEstimated() / rows >= WideRows.WIDE_BYTES / 4;
    }
}
