package dev.pgapply.it.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * A version's data directory as initdb leaves it, made once below {@code target/it} by whichever JVM needs it first: a copy takes a
 * tenth of the time that initdb does. Each copy is a cluster of its own with another system identifier. Thread-safe, between JVMs too.
 */
final class ClusterTemplate {

    private final int version;
    private final Consumer<Path> initdb;

    /** @param initdb leaves a new cluster, cleanly shut down, in that directory */
    ClusterTemplate(int version, Consumer<Path> initdb) {
        this.version = version;
        this.initdb = initdb;
    }

    /** Makes the directory, which must not be there. */
    void copyTo(Path data) {
        try {
            Path template = MadeOnce.get("template" + version, initdb);
            // What is zero in the WAL's segment stays a hole.
            Processes.run(true, "cp", "-a", "--sparse=always", template.toString(), data.toString());
            identifyAnew(data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What initdb would have given it (pg_control_data.h and xlog_internal.h; pg_createsubscriber does the same). */
    private static void identifyAnew(Path data) throws IOException {
        Path file = data.resolve("global/pg_control");
        byte[] bytes = Files.readAllBytes(file);
        ByteBuffer control = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        long old = control.getLong(0);
        int end = checksummed(control, bytes);
        control.putLong(0, ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE));
        control.putInt(end, crc(bytes, end));
        Files.write(file, bytes);
        try (DirectoryStream<Path> segments =
                Files.newDirectoryStream(data.resolve("pg_wal"), "????????????????????????")) {
            for (Path segment : segments) {
                identifyAnew(segment, old, control.getLong(0));
            }
        }
    }

    /** A segment's first page says whose it is behind its short header of 24 bytes. */
    private static void identifyAnew(Path segment, long old, long identifier) throws IOException {
        ByteBuffer field = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.read(field, 24) == Long.BYTES && field.getLong(0) == old) {
                field.putLong(0, identifier).flip();
                channel.write(field, 24);
            }
        }
    }

    /** The length of what stands before the checksum, which is the struct's last field in every version. */
    private static int checksummed(ByteBuffer control, byte[] bytes) {
        for (int end = Long.BYTES; end < bytes.length - Integer.BYTES; end += Integer.BYTES) {
            if (control.getInt(end) == crc(bytes, end)) {
                return end;
            }
        }
        throw new IllegalStateException("found no checksum in pg_control");
    }

    private static int crc(byte[] bytes, int end) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, end);
        return (int) crc.getValue();
    }
}
