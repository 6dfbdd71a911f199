package dev.pgapply.core.spool;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Xid;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of a .changes file in their order (worker.c, apply_spooled_messages). Owned by one thread, not necessarily the
 * writer's; the writer must not touch the file meanwhile.
 *
 * <p>It believes what the writer remembers, not the file: another length is refused at once, and no message is longer than the longest
 * that was written. Memory is a chunk of {@value #CHUNK_BYTES} bytes, or one message where that is larger. A file that is not what was
 * written is an {@link ApplyException} of kind SPOOL_FAILED that names the file, the transaction and the offset; so
 * is a failing read.
 */
public final class SpoolReader implements AutoCloseable {

    /** Messages keep their chunk alive: small enough not to hold much for one row, large enough to read in long gulps. */
    private static final int CHUNK_BYTES = 64 * 1024;

    private final Path file;
    private final Xid xid;
    private final int largestMessage;
    private final boolean held;
    private final InputStream in;

    private byte[] chunk = {};
    private int position;
    private int limit;

    /** Where in the file the next message begins. */
    private long consumed;

    /** What the file still has behind the chunk. */
    private long unread;

    private SpoolReader(SpooledChanges changes, boolean held, long from, InputStream in) {
        this.held = held;
        this.file = changes.file();
        this.xid = changes.xid();
        this.largestMessage = changes.largestMessage();
        this.consumed = from;
        this.unread = changes.length() - from;
        this.in = in;
    }

    /** Opens the file at its first message. */
    public static SpoolReader open(SpooledChanges changes) {
        try {
            SpoolFile.requireLength(changes.file(), changes.xid(), Files.size(changes.file()), changes.length());
            return new SpoolReader(
                    changes, false, 0, new FileInputStream(changes.file().toFile()));
        } catch (IOException e) {
            throw SpoolErrors.reading(changes.file(), changes.xid(), e);
        }
    }

    /**
     * Opens a held table's file, which may grow meanwhile, behind what was read before.
     *
     * @param from where a message begins
     */
    public static SpoolReader openHeld(SpooledChanges changes, long from) {
        try {
            FileInputStream in = new FileInputStream(changes.file().toFile());
            try {
                in.skipNBytes(from);
                return new SpoolReader(changes, true, from, in);
            } catch (IOException e) {
                in.close();
                throw e;
            }
        } catch (IOException e) {
            throw SpoolErrors.reading(changes.file(), changes.xid(), e);
        }
    }

    /** The next message, or null behind the last one. */
    public @Nullable SpooledMessage next() {
        if (left() == 0) {
            return null;
        }
        long offset = consumed;
        require(SpoolFormat.LENGTH_BYTES, offset);
        int length = int32();
        if (length < 1 || length > largestMessage) {
            throw damaged(offset, "message length " + length + ", expected 1 to " + largestMessage);
        }
        require(length, offset);
        if (!(held ? SpoolFormat.isHeldAction(chunk[position]) : SpoolFormat.isAction(chunk[position]))) {
            throw damaged(offset, "message type " + (chunk[position] & 0xFF));
        }
        SpooledMessage message = new SpooledMessage(chunk, position, length);
        position += length;
        consumed += SpoolFormat.LENGTH_BYTES + length;
        return message;
    }

    private long left() {
        return limit - position + unread;
    }

    private int int32() {
        int value = (chunk[position] & 0xFF) << 24
                | (chunk[position + 1] & 0xFF) << 16
                | (chunk[position + 2] & 0xFF) << 8
                | (chunk[position + 3] & 0xFF);
        position += SpoolFormat.LENGTH_BYTES;
        return value;
    }

    /** Has so many bytes in the chunk, contiguous. Messages given out share the old chunk: what is left moves to a new one. */
    private void require(int bytes, long offset) {
        int have = limit - position;
        if (have >= bytes) {
            return;
        }
        if (left() < bytes) {
            throw damaged(offset, bytes + " bytes expected, " + left() + " left");
        }
        byte[] next = new byte[(int) Math.min(Math.max(CHUNK_BYTES, bytes), left())];
        System.arraycopy(chunk, position, next, 0, have);
        int wanted = next.length - have;
        int read = read(next, have, wanted);
        if (read < wanted) {
            throw damaged(offset, "cut off while it was read");
        }
        unread -= read;
        chunk = next;
        position = 0;
        limit = next.length;
    }

    private int read(byte[] into, int offset, int length) {
        try {
            return in.readNBytes(into, offset, length);
        } catch (IOException e) {
            throw SpoolErrors.reading(file, xid, e);
        }
    }

    private ApplyException damaged(long offset, String what) {
        return SpoolErrors.damaged(file, xid, what + " at offset " + offset);
    }

    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            throw SpoolErrors.reading(file, xid, e);
        }
    }
}
