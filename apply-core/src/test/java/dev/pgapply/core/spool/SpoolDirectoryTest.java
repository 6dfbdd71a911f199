package dev.pgapply.core.spool;

import static dev.pgapply.core.spool.SpoolMessages.appendBlock;
import static dev.pgapply.core.spool.SpoolMessages.insert;
import static dev.pgapply.core.spool.SpoolMessages.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolDirectoryTest {

    private static final int SUBID = 16_395;
    private static final Xid XID = new Xid(731);
    private static final Xid SUBXACT = new Xid(732);
    private static final byte[] MESSAGE = insert(SUBXACT, "bob");
    private static final long MESSAGE_BYTES = 4L + MESSAGE.length;

    @TempDir
    private Path directory;

    @Test
    void it_is_created_where_it_is_missing() {
        Path missing = directory.resolve("a/b");

        SpoolDirectory spool = SpoolDirectory.open(missing, SUBID, 0);
        appendBlock(spool.create(XID), XID, MESSAGE);

        assertThat(missing.resolve("16395-731.changes")).exists();
    }

    @Test
    void a_start_deletes_what_an_earlier_life_has_left_also_of_a_dropped_subscription_and_nothing_else()
            throws IOException {
        Files.writeString(directory.resolve("16395-7.changes"), "left");
        Files.writeString(directory.resolve("16395-7.subxacts"), "left");
        Files.writeString(directory.resolve("16395-1.held"), "left");
        Files.writeString(directory.resolve("16396-7.changes"), "left by the subscription of that name before");
        Path foreign = Files.writeString(directory.resolve("16395-7.changes.txt"), "theirs");

        SpoolDirectory.open(directory, SUBID, 0);

        try (var files = Files.list(directory)) {
            assertThat(files).containsExactly(foreign);
        }
    }

    @Test
    void a_directory_that_cannot_be_used_is_an_error_that_names_it() throws IOException {
        Path file = Files.writeString(directory.resolve("orders"), "no directory");

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> SpoolDirectory.open(file, SUBID, 0))
                .satisfies(e -> {
                    assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED);
                    assertThat(e.hint()).contains("writable");
                })
                .withMessageStartingWith("could not use spool directory \"" + file + "\": ");
    }

    @Test
    void a_file_that_cannot_be_created_is_an_error_that_names_it_and_its_transaction() throws IOException {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 0);
        SpoolWriter writer = spool.create(XID);
        Files.createDirectory(directory.resolve("16395-731.changes"));

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(writer::openBlock)
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FAILED))
                .withMessageStartingWith("could not write spool file \"" + directory.resolve("16395-731.changes")
                        + "\" of transaction 731: ");
    }

    @Test
    void all_transactions_share_one_limit() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 3 * MESSAGE_BYTES);
        SpoolWriter first = spool.create(XID);
        appendBlock(first, XID, MESSAGE, MESSAGE);
        SpoolWriter second = spool.create(new Xid(740));

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> appendBlock(second, new Xid(740), MESSAGE, MESSAGE))
                .satisfies(e -> {
                    assertThat(e.kind()).isEqualTo(Kind.SPOOL_FULL);
                    assertThat(e.hint()).contains("spool.max_bytes");
                })
                .withMessage("spool limit reached by transaction 740: 24 bytes more than the 72 of 72 that 2 streamed"
                        + " transactions take");
        second.delete();
        assertThat(read(first.contents())).containsExactly(MESSAGE, MESSAGE);
    }

    @Test
    void aborted_and_deleted_bytes_make_room_again() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 2 * MESSAGE_BYTES + 12);
        SpoolWriter writer = spool.create(XID);
        appendBlock(writer, XID, MESSAGE);
        appendBlock(writer, SUBXACT, MESSAGE);
        assertThat(spool.byteCount()).isEqualTo(2 * MESSAGE_BYTES + 12);

        writer.abortSubtransaction(SUBXACT);
        assertThat(spool.byteCount()).isEqualTo(MESSAGE_BYTES);

        writer.delete();
        assertThat(spool.byteCount()).isZero();
    }

    @Test
    void it_counts_transactions_and_files() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 0);
        SpoolWriter first = spool.create(XID);
        appendBlock(first, SUBXACT, MESSAGE);
        appendBlock(spool.create(new Xid(740)), new Xid(740), MESSAGE);

        assertThat(spool.transactionCount()).isEqualTo(2);
        assertThat(spool.fileCount()).isEqualTo(3);
        first.delete();
        assertThat(spool.transactionCount()).isEqualTo(1);
        assertThat(spool.fileCount()).isEqualTo(1);
    }

    @Test
    void interleaved_transactions_find_their_subtransactions_again() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 0);
        SpoolWriter first = spool.create(XID);
        SpoolWriter second = spool.create(new Xid(740));
        appendBlock(first, SUBXACT, MESSAGE);
        appendBlock(second, new Xid(741), MESSAGE, MESSAGE);
        appendBlock(first, new Xid(733), MESSAGE);
        appendBlock(second, new Xid(742), MESSAGE);

        first.abortSubtransaction(new Xid(733));
        second.abortSubtransaction(new Xid(741));

        assertThat(read(first.contents())).containsExactly(MESSAGE);
        assertThat(read(second.contents())).isEmpty();
    }

    @Test
    void closing_deletes_every_file() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 0);
        appendBlock(spool.create(XID), SUBXACT, MESSAGE);
        spool.create(new Xid(740)).openBlock();

        spool.close();

        assertThat(directory).isEmptyDirectory();
        assertThat(spool.byteCount()).isZero();
    }

    @Test
    void a_transaction_has_one_spool() {
        SpoolDirectory spool = SpoolDirectory.open(directory, SUBID, 0);
        spool.create(XID);

        assertThatIllegalStateException().isThrownBy(() -> spool.create(XID));
    }

    @Test
    void a_negative_limit_is_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> SpoolDirectory.open(directory, SUBID, -1));
    }
}
