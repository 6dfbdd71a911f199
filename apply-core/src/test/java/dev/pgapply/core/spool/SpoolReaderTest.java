package dev.pgapply.core.spool;

import static dev.pgapply.core.spool.SpoolMessages.insert;
import static dev.pgapply.core.spool.SpoolMessages.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Seeds;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Insert;
import dev.pgapply.core.pgoutput.PgOutputDecoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolReaderTest {

    private static final Xid XID = new Xid(731);
    private static final byte[] ANN = insert(XID, "ann");
    private static final byte[] BOB = insert(XID, "bob");

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void nameFile() {
        file = directory.resolve("16395-731.changes");
    }

    private static byte[] records(byte[]... messages) {
        int length = 0;
        for (byte[] message : messages) {
            length += 4 + message.length;
        }
        ByteBuffer records = ByteBuffer.allocate(length);
        for (byte[] message : messages) {
            records.putInt(message.length).put(message);
        }
        return records.array();
    }

    /** A file of these bytes, with a leader that remembers exactly so many. */
    private SpooledChanges spooled(byte[] bytes, int largestMessage) {
        try {
            // Not overwritten: a file system may write to its disk at once what replaces an old file.
            Files.deleteIfExists(file);
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new SpooledChanges(file, XID, bytes.length, largestMessage);
    }

    private void assertDamaged(SpooledChanges changes, String what) {
        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> read(changes))
                .satisfies(e -> {
                    assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED);
                    assertThat(e.hint()).contains("sends the transaction again");
                })
                .withMessage("spool file \"" + file + "\" of transaction 731 is not what was written: " + what);
    }

    @Test
    void the_messages_come_in_their_order_and_decode_as_those_of_a_stream_block() {
        SpooledChanges changes = spooled(records(ANN, BOB), ANN.length);

        List<byte[]> messages = read(changes);

        assertThat(messages).containsExactly(ANN, BOB);
        Insert insert = (Insert) new PgOutputDecoder().decode(ANN, 0, ANN.length, true);
        assertThat(insert.xid()).isEqualTo(XID);
    }

    @Test
    void a_message_keeps_its_bytes_while_others_are_read() {
        List<byte[]> written = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            written.add(insert(XID, "row " + i + "x".repeat(i % 97)));
        }
        SpooledChanges changes = spooled(records(written.toArray(byte[][]::new)), 200);

        List<SpooledMessage> messages = new ArrayList<>();
        try (SpoolReader reader = SpoolReader.open(changes)) {
            for (SpooledMessage message = reader.next(); message != null; message = reader.next()) {
                messages.add(message);
            }
        }

        List<byte[]> kept = messages.stream()
                .map(message -> {
                    byte[] bytes = new byte[message.length()];
                    System.arraycopy(message.buffer(), message.offset(), bytes, 0, bytes.length);
                    return bytes;
                })
                .toList();
        assertThat(kept.toArray(byte[][]::new)).isDeepEqualTo(written.toArray(byte[][]::new));
    }

    @Test
    void an_empty_file_has_no_messages() {
        assertThat(read(spooled(new byte[0], 0))).isEmpty();
    }

    @Test
    void a_file_of_another_length_than_remembered_is_refused() {
        spooled(records(ANN), ANN.length);

        assertDamaged(new SpooledChanges(file, XID, 48, ANN.length), "24 bytes long instead of 48");
    }

    @Test
    void a_missing_file_is_an_error_that_names_it() {
        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> read(new SpooledChanges(file, XID, 0, 0)))
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED))
                .withMessageStartingWith("could not read spool file \"" + file + "\" of transaction 731: ");
    }

    @Test
    void a_message_that_reaches_behind_the_files_end_is_refused() {
        byte[] records = records(ANN, BOB);
        ByteBuffer.wrap(records).putInt(24, 21);

        assertDamaged(spooled(records, 21), "21 bytes expected, 20 left at offset 24");
    }

    @Test
    void a_message_longer_than_any_that_was_written_is_refused_before_it_is_allocated() {
        byte[] records = records(ANN, BOB);
        ByteBuffer.wrap(records).putInt(0, Integer.MAX_VALUE);

        assertDamaged(spooled(records, 20), "message length 2147483647, expected 1 to 20 at offset 0");
    }

    @Test
    void a_message_without_bytes_is_refused() {
        assertDamaged(spooled(new byte[4], 20), "message length 0, expected 1 to 20 at offset 0");
    }

    @Test
    void half_a_length_field_is_refused() {
        assertDamaged(spooled(new byte[] {0, 0, 0}, 20), "4 bytes expected, 3 left at offset 0");
    }

    @Test
    void a_message_that_cannot_be_in_a_stream_block_is_refused() {
        byte[] records = records(ANN, BOB);
        records[28] = 'B';

        assertDamaged(spooled(records, 20), "message type 66 at offset 24");
    }

    @Test
    void a_file_cut_while_it_is_read_is_refused() throws IOException {
        byte[] large = insert(XID, "x".repeat(100_000));
        SpooledChanges changes = spooled(records(ANN, large), large.length);

        try (SpoolReader reader = SpoolReader.open(changes)) {
            Files.write(file, new byte[100]);

            assertThatExceptionOfType(ApplyException.class)
                    .isThrownBy(reader::next)
                    .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED))
                    .withMessageEndingWith("cut off while it was read at offset 0");
        }
    }

    @Test
    void mutated_files_are_read_or_refused() {
        Seeds.forEach(random -> {
            for (int i = 0; i < 10; i++) {
                readMutation(random);
            }
        });
    }

    private void readMutation(Random random) {
        byte[][] messages = new byte[1 + random.nextInt(4)][];
        int largest = 0;
        for (int i = 0; i < messages.length; i++) {
            messages[i] = insert(XID, "x".repeat(random.nextInt(60)));
            largest = Math.max(largest, messages[i].length);
        }
        SpooledChanges changes = spooled(mutate(records(messages), random), largest);
        PgOutputDecoder decoder = new PgOutputDecoder();
        try (SpoolReader reader = SpoolReader.open(changes)) {
            for (SpooledMessage message = reader.next(); message != null; message = reader.next()) {
                decoder.decode(message.buffer(), message.offset(), message.length(), true);
            }
        } catch (ApplyException e) {
            assertThat(e.kind()).isIn(Kind.SPOOL_FAILED, Kind.PROTOCOL_VIOLATION);
        }
    }

    /** Bytes overwritten, the end cut off or something added. */
    private static byte[] mutate(byte[] valid, Random random) {
        int length = Math.max(0, valid.length + (random.nextInt(3) == 0 ? random.nextInt(21) - 10 : 0));
        byte[] bytes = Arrays.copyOf(valid, length);
        for (int changes = random.nextInt(4); changes > 0 && length > 0; changes--) {
            bytes[random.nextInt(length)] = (byte) (random.nextBoolean() ? random.nextInt() : random.nextInt(30));
        }
        return bytes;
    }
}
