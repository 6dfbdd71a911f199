package dev.pgapply.core.spool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Begin;
import dev.pgapply.core.pgoutput.MessageType;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeldSpoolTest {

    private static final Begin FIRST = begin(731);
    private static final Begin SECOND = begin(732);
    private static final Relation USERS = users("id");
    private static final Relation ALTERED = users("id", "name");

    @TempDir
    private Path directory;

    private static Begin begin(int xid) {
        return new Begin(new Lsn(xid), Instant.EPOCH, new Xid(xid));
    }

    private static Relation users(String... columns) {
        List<Relation.Column> all = new ArrayList<>();
        for (String column : columns) {
            all.add(new Relation.Column(column, true, new Oid(25), -1));
        }
        return new Relation(null, new Oid(16_385), new QualifiedName("public", "users"), ReplicaIdentity.DEFAULT, all);
    }

    private SpoolDirectory open(long maxBytes) {
        return SpoolDirectory.open(directory, 7, maxBytes);
    }

    private static void append(HeldSpool spool, Begin begin, Relation relation, String message) {
        byte[] bytes = ("--" + message).getBytes(StandardCharsets.US_ASCII);
        spool.append(begin, relation, bytes, 2, bytes.length - 2, false);
    }

    /** The messages as text; what the spool has added by its type. */
    private static List<String> read(SpooledChanges changes, long from) {
        List<String> read = new ArrayList<>();
        try (SpoolReader reader = SpoolReader.openHeld(changes, from)) {
            for (SpooledMessage next = reader.next(); next != null; next = reader.next()) {
                MessageType type = MessageType.of(next.buffer()[next.offset()]);
                boolean added = type == MessageType.BEGIN || type == MessageType.RELATION;
                read.add(
                        added
                                ? String.valueOf(type)
                                : new String(next.buffer(), next.offset(), next.length(), StandardCharsets.US_ASCII));
            }
        }
        return read;
    }

    @Test
    void each_transaction_begins_once_and_the_relation_comes_where_it_changes() {
        HeldSpool spool = open(0).hold();
        append(spool, FIRST, USERS, "I1");
        append(spool, FIRST, USERS, "I2");
        append(spool, SECOND, USERS, "D1");
        append(spool, SECOND, ALTERED, "U1");

        List<String> read = read(spool.contents(), 0);

        assertThat(read).containsExactly("BEGIN", "RELATION", "I1", "I2", "BEGIN", "D1", "RELATION", "U1");
    }

    @Test
    void a_message_of_a_stream_block_loses_its_xid() {
        HeldSpool spool = open(0).hold();
        byte[] message = {'I', 0, 0, 2, (byte) 219, 'x', 'y'};

        spool.append(FIRST, USERS, message, 0, message.length, true);

        assertThat(read(spool.contents(), 0)).containsExactly("BEGIN", "RELATION", "Ixy");
    }

    @Test
    void it_can_be_read_from_where_the_last_reading_ended_while_it_grows() {
        HeldSpool spool = open(0).hold();
        append(spool, FIRST, USERS, "I1");
        SpooledChanges before = spool.contents();
        append(spool, SECOND, USERS, "I2");

        SpooledChanges after = spool.contents();
        append(spool, SECOND, USERS, "I3");

        assertThat(read(after, before.length())).containsExactly("BEGIN", "I2");
        assertThat(read(before, 0)).containsExactly("BEGIN", "RELATION", "I1");
    }

    @Test
    void over_the_limit_it_fails_and_gives_back_what_it_took() {
        SpoolDirectory spools = open(400);
        HeldSpool spool = spools.hold();
        append(spool, FIRST, USERS, "I1");

        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(() -> append(spool, FIRST, USERS, "I" + "x".repeat(200)))
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.SPOOL_FULL))
                .withMessageStartingWith("spool limit reached by the changes held back while the table is copied");
        spool.delete();

        assertThat(spools.byteCount()).isZero();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void the_directory_deletes_it_at_its_end() {
        SpoolDirectory spools = open(0);
        HeldSpool spool = spools.hold();
        append(spool, FIRST, USERS, "I1");
        SpooledChanges contents = spool.contents();
        assertThat(contents.file()).exists().hasFileName("7-1.held");

        spools.close();

        assertThat(directory).isEmptyDirectory();
    }
}
