package dev.pgapply.core.spool;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Xid;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The spool files of one subscription, and what they may take together. Owned by the leader apply worker's thread.
 *
 * <p>It is opened when the subscription's ownership is held, and closed with the life of the subscription. Every spool file that an earlier
 * life has left is deleted at the start, also one of a subscription of that name that was dropped: an unfinished transaction is sent again,
 * an unfinished copy of a table redone.
 */
public final class SpoolDirectory implements AutoCloseable {

    /** No transaction has this xid: a file of its name shows that the directory can be written. */
    static final Xid NOBODY = new Xid(0);

    private final Path directory;
    private final int subid;
    private final long maxBytes;
    private final Map<Xid, SpoolWriter> writers = new LinkedHashMap<>();
    private final Set<HeldSpool> held = new LinkedHashSet<>();
    private int lastHeld;
    private long heldBytes;
    private long byteCount;

    /** The one writer that may have its list of subtransactions in memory. */
    private @Nullable SpoolWriter listUser;

    private SpoolDirectory(Path directory, int subid, long maxBytes) {
        this.directory = directory;
        this.subid = subid;
        this.maxBytes = maxBytes;
    }

    /**
     * Creates the directory where it is missing, proves that it can be written, and deletes what an earlier life of the subscription
     * has left there.
     *
     * @param directory the subscription's own
     * @param subid the subscription's number, which the names of its files begin with
     * @param maxBytes {@code spool.max_bytes}: what all files may take together; 0: no limit but the disk
     * @throws ApplyException of kind SPOOL_FAILED if the directory cannot be used
     */
    public static SpoolDirectory open(Path directory, int subid, long maxBytes) {
        if (maxBytes < 0) {
            throw new IllegalArgumentException("spool.max_bytes must not be negative, was " + maxBytes);
        }
        SpoolDirectory opened = new SpoolDirectory(directory, subid, maxBytes);
        try {
            Files.createDirectories(directory);
            opened.deleteFiles();
            Path probe = directory.resolve(SpoolFormat.changesFileName(subid, NOBODY));
            Files.createFile(probe);
            Files.delete(probe);
        } catch (IOException e) {
            throw SpoolErrors.directory(directory, e);
        }
        return opened;
    }

    private void deleteFiles() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                if (SpoolFormat.isSpoolFile(file.getFileName().toString())) {
                    delete(file);
                }
            }
        }
    }

    static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw SpoolErrors.deleting(file, e);
        }
    }

    /** Begins the spool of a transaction; its file is created with its first block. */
    public SpoolWriter create(Xid xid) {
        if (writers.containsKey(xid)) {
            throw new IllegalStateException("transaction " + xid + " has a spool");
        }
        SpoolWriter writer = new SpoolWriter(
                this,
                xid,
                directory.resolve(SpoolFormat.changesFileName(subid, xid)),
                directory.resolve(SpoolFormat.subxactsFileName(subid, xid)));
        writers.put(xid, writer);
        return writer;
    }

    /** Begins the spool of a table that is held back; its file exists from then on. */
    public HeldSpool hold() {
        HeldSpool spool = new HeldSpool(this, directory.resolve(SpoolFormat.heldFileName(subid, ++lastHeld)));
        held.add(spool);
        return spool;
    }

    /**
     * Counts bytes that a held table's spool is about to write. Held tables may take half of the limit: a table that waits for its copy can be
     * copied again, while a transaction that finds no room stops the stream.
     */
    void takeHeld(int bytes) {
        long limit = maxBytes / 2;
        if (maxBytes > 0 && heldBytes + bytes > limit) {
            throw SpoolErrors.heldOverLimit(bytes, heldBytes, limit);
        }
        heldBytes += bytes;
        byteCount += bytes;
    }

    void remove(HeldSpool spool) {
        if (held.remove(spool)) {
            heldBytes -= spool.byteCount();
            byteCount -= spool.byteCount();
        }
    }

    /** Counts bytes that a transaction is about to write. */
    void take(Xid xid, int bytes) {
        if (maxBytes > 0 && byteCount + bytes > maxBytes) {
            throw SpoolErrors.overLimit(xid, bytes, byteCount, maxBytes, writers.size());
        }
        byteCount += bytes;
    }

    void giveBack(long bytes) {
        byteCount -= bytes;
    }

    /** At most one list of subtransactions is in memory. */
    void listUsedBy(SpoolWriter writer) {
        SpoolWriter last = listUser;
        if (last != null && last != writer) {
            last.releaseList();
        }
        listUser = writer;
    }

    void remove(SpoolWriter writer) {
        if (writers.remove(writer.xid(), writer)) {
            byteCount -= writer.byteCount();
        }
        if (listUser == writer) {
            listUser = null;
        }
    }

    /** What all files take together, what is buffered included. */
    public long byteCount() {
        return byteCount;
    }

    /** How many transactions are spooled. */
    public int transactionCount() {
        return writers.size();
    }

    /** How many files there are. */
    public int fileCount() {
        int count = 0;
        for (SpoolWriter writer : writers.values()) {
            count += writer.subxactCount() == 0 ? 1 : 2;
        }
        return count + held.size();
    }

    /** Deletes all files. Tries each; the first failure is thrown at the end. */
    @Override
    public void close() {
        List<ApplyException> failures = new ArrayList<>();
        for (SpoolWriter writer : List.copyOf(writers.values())) {
            try {
                writer.delete();
            } catch (ApplyException e) {
                failures.add(e);
            }
        }
        for (HeldSpool spool : List.copyOf(held)) {
            try {
                spool.delete();
            } catch (ApplyException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            throw failures.get(0);
        }
    }
}
