package dev.pgapply.worker.jdbc;

import java.util.Arrays;
import org.postgresql.util.ByteConverter;

/** Bytes on their way into a COPY: grows as needed, is emptied when sent. Owned by one thread. */
final class CopyBuffer {

    private byte[] bytes;
    private int length;

    CopyBuffer(int capacity) {
        bytes = new byte[capacity];
    }

    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    void clear() {
        length = 0;
    }

    /** Makes room for so many bytes more; without it the methods that put do not check. */
    void reserve(int more) {
        int needed = Math.addExact(length, more);
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, 2L * bytes.length)));
        }
    }

    void put(byte value) {
        bytes[length++] = value;
    }

    void put(byte[] from, int offset, int count) {
        System.arraycopy(from, offset, bytes, length, count);
        length += count;
    }

    void putInt2(int value) {
        ByteConverter.int2(bytes, length, value);
        length += 2;
    }

    void putInt4(int value) {
        ByteConverter.int4(bytes, length, value);
        length += 4;
    }
}
