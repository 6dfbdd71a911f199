package dev.pgapply.core.spool;

import dev.pgapply.core.Xid;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/**
 * A spool file open for appending, with a buffer. Owned by one thread. What was appended is in the file, and visible to a reader, once
 * {@link #close} has returned; it is not durable.
 */
final class SpoolFile implements AutoCloseable {

    /** A write call for each message would cost more than the message: rows are mostly a hundred bytes. */
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Path path;
    private final Xid xid;
    private final RandomAccessFile file;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int buffered;

    private SpoolFile(Path path, Xid xid, RandomAccessFile file) {
        this.path = path;
        this.xid = xid;
        this.file = file;
    }

    /**
     * Opens a file at its end, creating it where it is to be empty.
     *
     * @param length what it must have: a file of another length was written by somebody else
     */
    static SpoolFile open(Path path, Xid xid, long length) {
        try {
            RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
            try {
                requireLength(path, xid, file.length(), length);
                file.seek(length);
                return new SpoolFile(path, xid, file);
            } catch (IOException | RuntimeException e) {
                file.close();
                throw e;
            }
        } catch (IOException e) {
            throw SpoolErrors.writing(path, xid, 0, e);
        }
    }

    static void requireLength(Path path, Xid xid, long actual, long expected) {
        if (actual != expected) {
            throw SpoolErrors.damaged(path, xid, actual + " bytes long instead of " + expected);
        }
    }

    /** Cuts a closed file. */
    static void truncate(Path path, Xid xid, long from, long to) {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            requireLength(path, xid, file.length(), from);
            file.setLength(to);
        } catch (IOException e) {
            throw SpoolErrors.writing(path, xid, 0, e);
        }
    }

    void appendInt(int value) {
        require(Integer.BYTES);
        putInt(value);
    }

    void appendLong(long value) {
        require(Long.BYTES);
        putInt((int) (value >>> 32));
        putInt((int) value);
    }

    private void putInt(int value) {
        buffer[buffered++] = (byte) (value >>> 24);
        buffer[buffered++] = (byte) (value >>> 16);
        buffer[buffered++] = (byte) (value >>> 8);
        buffer[buffered++] = (byte) value;
    }

    void append(byte[] bytes, int offset, int length) {
        require(length);
        if (length > BUFFER_BYTES) {
            write(bytes, offset, length);
            return;
        }
        System.arraycopy(bytes, offset, buffer, buffered, length);
        buffered += length;
    }

    /** Makes room for so many bytes in the buffer, or empties it for what is larger than it. */
    private void require(int bytes) {
        if (bytes > BUFFER_BYTES - buffered) {
            flush();
        }
    }

    /** Writes what is buffered: a reader of the file sees it from now on. */
    void flush() {
        int length = buffered;
        buffered = 0;
        if (length > 0) {
            write(buffer, 0, length);
        }
    }

    private void write(byte[] bytes, int offset, int length) {
        try {
            file.write(bytes, offset, length);
        } catch (IOException e) {
            throw SpoolErrors.writing(path, xid, length, e);
        }
    }

    /** Writes what is buffered and closes the file, also if writing fails. */
    @Override
    public void close() {
        try {
            flush();
        } finally {
            release();
        }
    }

    /** Closes the file without writing what is buffered. */
    void release() {
        try {
            file.close();
        } catch (IOException e) {
            throw SpoolErrors.writing(path, xid, 0, e);
        }
    }
}
