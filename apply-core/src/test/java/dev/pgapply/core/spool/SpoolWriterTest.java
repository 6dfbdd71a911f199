package dev.pgapply.core.spool;

import static dev.pgapply.core.spool.SpoolMessages.appendBlock;
import static dev.pgapply.core.spool.SpoolMessages.insert;
import static dev.pgapply.core.spool.SpoolMessages.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.Xid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolWriterTest {

    private static final int SUBID = 16_395;
    private static final Xid XID = new Xid(731);
    private static final Xid SUBXACT = new Xid(732);
    private static final Xid OTHER_SUBXACT = new Xid(733);

    private static final byte[] ANN = insert(XID, "ann");
    private static final byte[] BOB = insert(SUBXACT, "bob");
    private static final byte[] CID = insert(OTHER_SUBXACT, "cid");

    @TempDir
    private Path directory;

    private SpoolDirectory spool;
    private SpoolWriter writer;

    @BeforeEach
    void open() {
        spool = SpoolDirectory.open(directory, SUBID, 0);
        writer = spool.create(XID);
    }

    private Path changesFile() {
        return directory.resolve("16395-731.changes");
    }

    private Path subxactsFile() {
        return directory.resolve("16395-731.subxacts");
    }

    @Test
    void a_message_is_written_as_received_behind_its_length() throws IOException {
        appendBlock(writer, XID, ANN);

        byte[] expected =
                ByteBuffer.allocate(4 + ANN.length).putInt(ANN.length).put(ANN).array();
        assertThat(Files.readAllBytes(changesFile())).isEqualTo(expected);
        assertThat(subxactsFile()).doesNotExist();
    }

    @Test
    void only_its_part_of_the_buffer_is_written() {
        byte[] frame = ByteBuffer.allocate(ANN.length + 50).put(25, ANN).array();

        writer.openBlock();
        writer.append(XID, frame, 25, ANN.length);
        writer.closeBlock();

        assertThat(read(writer.contents())).containsExactly(ANN);
    }

    @Test
    void the_subxacts_file_says_where_each_subtransaction_begins() throws IOException {
        appendBlock(writer, XID, ANN);
        appendBlock(writer, SUBXACT, BOB, BOB);
        appendBlock(writer, OTHER_SUBXACT, CID);

        byte[] expected = ByteBuffer.allocate(24)
                .putInt(732)
                .putLong(4L + ANN.length)
                .putInt(733)
                .putLong(12L + ANN.length + 2L * BOB.length)
                .array();
        assertThat(Files.readAllBytes(subxactsFile())).isEqualTo(expected);
        assertThat(writer.subxactCount()).isEqualTo(2);
    }

    @Test
    void later_blocks_go_on_where_the_first_ended() {
        appendBlock(writer, XID, ANN);
        appendBlock(writer, SUBXACT, BOB);

        assertThat(read(writer.contents())).containsExactly(ANN, BOB);
    }

    @Test
    void a_message_larger_than_the_buffer_stands_between_the_others() {
        byte[] large = insert(XID, "x".repeat(200_000));

        appendBlock(writer, XID, ANN, large, BOB);

        assertThat(read(writer.contents())).containsExactly(ANN, large, BOB);
    }

    @Test
    void a_subtransactions_abort_takes_back_what_came_since_its_first_change() {
        appendBlock(writer, XID, ANN);
        appendBlock(writer, SUBXACT, BOB);
        appendBlock(writer, OTHER_SUBXACT, CID);
        appendBlock(writer, SUBXACT, BOB);

        boolean known = writer.abortSubtransaction(SUBXACT);

        assertThat(known).isTrue();
        assertThat(read(writer.contents())).containsExactly(ANN);
        assertThat(writer.subxactCount()).isZero();
        assertThat(writer.abortSubtransaction(OTHER_SUBXACT)).isFalse();
    }

    @Test
    void subtransactions_that_began_before_the_aborted_one_stay() {
        appendBlock(writer, OTHER_SUBXACT, CID);
        appendBlock(writer, SUBXACT, BOB);

        writer.abortSubtransaction(SUBXACT);
        appendBlock(writer, XID, ANN);

        assertThat(read(writer.contents())).containsExactly(CID, ANN);
        assertThat(writer.abortSubtransaction(OTHER_SUBXACT)).isTrue();
        assertThat(read(writer.contents())).isEmpty();
    }

    @Test
    void the_abort_of_a_subtransaction_without_changes_does_nothing() {
        appendBlock(writer, XID, ANN);

        boolean known = writer.abortSubtransaction(SUBXACT);

        assertThat(known).isFalse();
        assertThat(read(writer.contents())).containsExactly(ANN);
    }

    @Test
    void a_message_for_no_subtransaction_is_kept_without_a_note() {
        byte[] streamAbort =
                ByteBuffer.allocate(9).put((byte) 'A').putInt(731).putInt(732).array();

        writer.openBlock();
        writer.append(BOB, 0, BOB.length);
        writer.append(streamAbort, 0, streamAbort.length);
        writer.closeBlock();

        assertThat(read(writer.contents())).containsExactly(BOB, streamAbort);
        assertThat(writer.subxactCount()).isZero();
    }

    @Test
    void it_counts_its_bytes_before_they_are_written() throws IOException {
        writer.openBlock();
        writer.append(SUBXACT, BOB, 0, BOB.length);

        assertThat(Files.size(changesFile())).isZero();
        assertThat(writer.byteCount()).isEqualTo(4L + BOB.length + 12);
        writer.closeBlock();
        assertThat(writer.byteCount()).isEqualTo(Files.size(changesFile()) + Files.size(subxactsFile()));
    }

    @Test
    void deletion_removes_both_files_in_an_open_block_too() {
        appendBlock(writer, SUBXACT, BOB);
        writer.openBlock();

        writer.delete();

        assertThat(directory).isEmptyDirectory();
        assertThat(spool.byteCount()).isZero();
    }

    @Test
    void a_block_is_opened_once_and_closed_before_anything_else() {
        writer.openBlock();

        assertThatIllegalStateException().isThrownBy(writer::openBlock);
        assertThatIllegalStateException().isThrownBy(writer::contents);
        assertThatIllegalStateException().isThrownBy(() -> writer.abortSubtransaction(SUBXACT));
    }

    @Test
    void nothing_is_appended_outside_a_block() {
        assertThatIllegalStateException().isThrownBy(() -> writer.append(SUBXACT, BOB, 0, BOB.length));
        assertThatIllegalStateException().isThrownBy(writer::closeBlock);
    }

    @Test
    void what_is_no_message_of_a_stream_block_is_refused() {
        writer.openBlock();

        assertThatIllegalArgumentException().isThrownBy(() -> writer.append(new byte[] {'B', 0}, 0, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> writer.append(BOB, 0, 0));
    }

    @Test
    void a_file_that_somebody_else_has_changed_is_not_written_to() throws IOException {
        appendBlock(writer, XID, ANN);
        Files.write(changesFile(), new byte[3]);

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(writer::openBlock)
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED))
                .withMessage("spool file \"" + changesFile() + "\" of transaction 731 is not what was written:"
                        + " 3 bytes long instead of 24");
    }

    @Test
    void a_list_of_subtransactions_that_somebody_else_has_changed_is_not_believed() throws IOException {
        appendBlock(writer, SUBXACT, BOB);
        writer.releaseList();
        Files.write(
                subxactsFile(),
                ByteBuffer.allocate(12).putInt(732).putLong(1_000_000).array());

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> writer.abortSubtransaction(SUBXACT))
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED))
                .withMessage("spool file \"" + subxactsFile() + "\" of transaction 731 is not what was written:"
                        + " subtransaction 732 at offset 1000000 of 24, entry 0");
    }

    @Test
    void a_full_disk_is_an_error_of_its_own_and_leaves_the_other_transactions_alone() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "this system has no device that is always full");
        SpoolWriter other = spool.create(new Xid(740));
        appendBlock(other, new Xid(740), ANN);
        Files.createSymbolicLink(changesFile(), full);
        byte[] large = insert(XID, "x".repeat(200_000));

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> appendBlock(writer, XID, large))
                .satisfies(e -> {
                    assertThat(e.kind()).isEqualTo(Kind.SPOOL_FULL);
                    assertThat(e.kind().remedy()).isEqualTo(Remedy.RECONNECT);
                    assertThat(e.hint()).contains("make room");
                })
                .withMessage(
                        "no room for spool file \"" + changesFile() + "\" of transaction 731: No space left on device");
        writer.delete();
        assertThat(read(other.contents())).containsExactly(ANN);
    }

    @Test
    void a_full_disk_shows_at_the_blocks_end_where_all_was_buffered() throws IOException {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full), "this system has no device that is always full");
        Files.createSymbolicLink(changesFile(), full);

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> appendBlock(writer, XID, ANN))
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FULL));
        spool.close();
        assertThat(directory).isEmptyDirectory();
    }
}
