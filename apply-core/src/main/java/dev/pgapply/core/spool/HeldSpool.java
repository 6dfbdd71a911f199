package dev.pgapply.core.spool;

import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.PgOutputEncoder;
import dev.pgapply.core.pgoutput.Relation;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Spools the changes of one table while it is copied, in the order of their transactions' commits; the format is in {@link SpoolFormat}.
 * Owned by the leader apply worker's thread; made by {@link SpoolDirectory#hold}. What {@link #contents} gives may be read by another
 * thread while this one goes on.
 *
 * <p>Failures are {@link dev.pgapply.core.ApplyException}s of kind SPOOL_FULL or SPOOL_FAILED. After one, the spool is good for nothing but
 * {@link #delete}.
 */
public final class HeldSpool {

    private static final int XID_BYTES = 4;

    private final SpoolDirectory directory;
    private final Path path;
    private final SpoolFile file;

    private long length;
    private int largestMessage;

    /** The transaction and the relation that the next change belongs to if nothing else is said. */
    private @Nullable Begin transaction;

    private @Nullable Relation relation;

    HeldSpool(SpoolDirectory directory, Path path) {
        this.directory = directory;
        this.path = path;
        this.file = SpoolFile.open(path, SpoolDirectory.NOBODY, 0);
    }

    /**
     * Appends a change of the table.
     *
     * @param begins the transaction, which has committed
     * @param inForce what the change's columns are
     * @param buffer has the message; it is not kept
     * @param inStreamBlock whether the message carries its xid, which is left out
     */
    public void append(
            Begin begins, Relation inForce, byte[] buffer, int offset, int messageLength, boolean inStreamBlock) {
        if (!begins.equals(transaction)) {
            append(PgOutputEncoder.begin(begins));
            transaction = begins;
        }
        if (!inForce.equals(relation)) {
            append(PgOutputEncoder.relation(inForce));
            relation = inForce;
        }
        if (!inStreamBlock) {
            append(buffer, offset, messageLength);
            return;
        }
        byte[] outside = new byte[messageLength - XID_BYTES];
        outside[0] = buffer[offset];
        System.arraycopy(buffer, offset + 1 + XID_BYTES, outside, 1, outside.length - 1);
        append(outside);
    }

    private void append(byte[] message) {
        append(message, 0, message.length);
    }

    private void append(byte[] buffer, int offset, int messageLength) {
        directory.takeHeld(SpoolFormat.LENGTH_BYTES + messageLength);
        length += SpoolFormat.LENGTH_BYTES + messageLength;
        largestMessage = Math.max(largestMessage, messageLength);
        file.appendInt(messageLength);
        file.append(buffer, offset, messageLength);
    }

    /** What has been appended up to now; called between transactions. */
    public SpooledChanges contents() {
        file.flush();
        return new SpooledChanges(path, SpoolDirectory.NOBODY, length, largestMessage);
    }

    /** What it takes, what is buffered included. */
    public long byteCount() {
        return length;
    }

    /** Deletes the file. The spool can do nothing else afterwards. */
    public void delete() {
        directory.remove(this);
        try {
            file.release();
        } finally {
            SpoolDirectory.delete(path);
        }
    }
}
