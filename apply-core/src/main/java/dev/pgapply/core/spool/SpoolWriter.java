package dev.pgapply.core.spool;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Xid;
import dev.pgapply.core.transaction.SubxactList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Spools one streamed transaction (worker.c, stream_write_change, subxact_info_add, stream_abort_internal). Owned by the leader apply
 * worker's thread; made by {@link SpoolDirectory#create}.
 *
 * <p>{@link #openBlock} at STREAM START, an append a message, {@link #closeBlock} at STREAM STOP: between blocks no file is open, and
 * both files hold everything. The list of subtransactions lives in the .subxacts file; the copy in memory is kept only for the writer
 * that used it last.
 *
 * <p>Failures are {@link ApplyException}s of kind SPOOL_FULL or SPOOL_FAILED. After one, the transaction's files are
 * good for nothing but {@link #delete}; those of others are untouched.
 */
public final class SpoolWriter {

    private final SpoolDirectory directory;
    private final Xid xid;
    private final Path changesPath;
    private final Path subxactsPath;

    /** Open between STREAM START and STREAM STOP. */
    private @Nullable SpoolFile changes;

    private long changesLength;
    private int largestMessage;

    /** The list, where it is in memory. Its first {@link #storedSubxacts} entries are in the file. */
    private @Nullable SubxactList subxacts;

    private int storedSubxacts;

    /** The last subtransaction found in the list or added to it. */
    private @Nullable Xid lastSubxid;

    SpoolWriter(SpoolDirectory directory, Xid xid, Path changesPath, Path subxactsPath) {
        this.directory = directory;
        this.xid = xid;
        this.changesPath = changesPath;
        this.subxactsPath = subxactsPath;
    }

    /** The toplevel transaction. */
    public Xid xid() {
        return xid;
    }

    /** Opens the file for the messages of one stream block. */
    public void openBlock() {
        if (changes != null) {
            throw new IllegalStateException("the spool of transaction " + xid + " is open");
        }
        changes = SpoolFile.open(changesPath, xid, changesLength);
    }

    /**
     * Appends a message that belongs to a (sub)transaction, and notes where the subtransaction's first one stands.
     *
     * @param subxid the toplevel xid or a subtransaction's
     * @param buffer has the message as received; it is not kept
     */
    public void append(Xid subxid, byte[] buffer, int offset, int length) {
        note(subxid);
        append(buffer, offset, length);
    }

    /** Appends a message that counts for no subtransaction: a logical origin, or one that is to be replayed instead of followed. */
    public void append(byte[] buffer, int offset, int length) {
        if (length < 1 || !SpoolFormat.isAction(buffer[offset])) {
            throw new IllegalArgumentException("no message of a stream block");
        }
        SpoolFile file = requireOpen();
        directory.take(xid, SpoolFormat.LENGTH_BYTES + length);
        changesLength += SpoolFormat.LENGTH_BYTES + length;
        largestMessage = Math.max(largestMessage, length);
        file.appendInt(length);
        file.append(buffer, offset, length);
    }

    private SpoolFile requireOpen() {
        SpoolFile file = changes;
        if (file == null) {
            throw new IllegalStateException("the spool of transaction " + xid + " is not open");
        }
        return file;
    }

    /** worker.c, subxact_info_add. */
    private void note(Xid subxid) {
        if (subxid.equals(xid) || subxid.equals(lastSubxid)) {
            return;
        }
        requireOpen();
        SubxactList list = subxacts();
        if (list.indexOf(subxid) < 0) {
            directory.take(xid, SpoolFormat.SUBXACT_BYTES);
            list.add(subxid, changesLength);
        }
        lastSubxid = subxid;
    }

    /** Writes what is buffered and closes the file. */
    public void closeBlock() {
        requireOpen().close();
        changes = null;
        storeSubxacts();
    }

    private void storeSubxacts() {
        SubxactList list = subxacts;
        if (list == null || list.size() == storedSubxacts) {
            return;
        }
        try (SpoolFile file = SpoolFile.open(subxactsPath, xid, subxactsLength())) {
            for (int i = storedSubxacts; i < list.size(); i++) {
                file.appendInt(list.subxid(i).value());
                file.appendLong(list.position(i));
            }
        }
        storedSubxacts = list.size();
    }

    private long subxactsLength() {
        return (long) storedSubxacts * SpoolFormat.SUBXACT_BYTES;
    }

    /**
     * Takes back everything that came since a subtransaction's first change (worker.c, stream_abort_internal). Called between blocks.
     *
     * @return false if it has changed nothing, or nothing that is still there: its parent may have been aborted before
     */
    public boolean abortSubtransaction(Xid subxid) {
        if (changes != null) {
            throw new IllegalStateException("the spool of transaction " + xid + " is open");
        }
        SubxactList list = subxacts();
        int index = list.indexOf(subxid);
        if (index < 0) {
            return false;
        }
        long offset = list.position(index);
        SpoolFile.truncate(changesPath, xid, changesLength, offset);
        SpoolFile.truncate(subxactsPath, xid, subxactsLength(), (long) index * SpoolFormat.SUBXACT_BYTES);
        directory.giveBack(changesLength - offset + (long) (list.size() - index) * SpoolFormat.SUBXACT_BYTES);
        changesLength = offset;
        list.truncate(index);
        storedSubxacts = index;
        lastSubxid = null;
        return true;
    }

    private SubxactList subxacts() {
        directory.listUsedBy(this);
        SubxactList list = subxacts;
        if (list == null) {
            list = readSubxacts();
            subxacts = list;
        }
        return list;
    }

    private SubxactList readSubxacts() {
        SubxactList list = new SubxactList();
        if (storedSubxacts == 0) {
            return list;
        }
        try {
            SpoolFile.requireLength(subxactsPath, xid, Files.size(subxactsPath), subxactsLength());
            ByteBuffer records = ByteBuffer.wrap(Files.readAllBytes(subxactsPath));
            while (records.hasRemaining()) {
                add(list, new Xid(records.getInt()), records.getLong());
            }
            return list;
        } catch (IOException e) {
            throw SpoolErrors.reading(subxactsPath, xid, e);
        }
    }

    /** The .changes file will be cut at what the .subxacts file says: it must be possible. */
    private void add(SubxactList list, Xid subxid, long offset) {
        long least = list.size() == 0 ? 0 : list.position(list.size() - 1);
        if (list.indexOf(subxid) >= 0 || offset < least || offset >= changesLength) {
            throw SpoolErrors.damaged(
                    subxactsPath,
                    xid,
                    "subtransaction " + subxid + " at offset " + offset + " of " + changesLength + ", entry "
                            + list.size());
        }
        list.add(subxid, offset);
    }

    /** Lets go of the copy in memory. Between blocks the file has all of it. */
    void releaseList() {
        if (changes != null) {
            throw new IllegalStateException("the spool of transaction " + xid + " is open");
        }
        subxacts = null;
        lastSubxid = null;
    }

    /** What a reader may read, between blocks. */
    public SpooledChanges contents() {
        if (changes != null) {
            throw new IllegalStateException("the spool of transaction " + xid + " is open");
        }
        return new SpooledChanges(changesPath, xid, changesLength, largestMessage);
    }

    /** What both files take, what is buffered included. */
    public long byteCount() {
        return changesLength + (long) subxactCount() * SpoolFormat.SUBXACT_BYTES;
    }

    /** How many subtransactions have changes here. */
    public int subxactCount() {
        SubxactList list = subxacts;
        return list == null ? storedSubxacts : list.size();
    }

    /** Deletes both files: the transaction has been replayed, or aborted. The writer can do nothing else afterwards. */
    public void delete() {
        SpoolFile open = changes;
        changes = null;
        directory.remove(this);
        try {
            if (open != null) {
                open.release();
            }
        } finally {
            try {
                SpoolDirectory.delete(changesPath);
            } finally {
                SpoolDirectory.delete(subxactsPath);
            }
        }
    }
}
