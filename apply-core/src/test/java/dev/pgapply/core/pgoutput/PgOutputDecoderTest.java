package dev.pgapply.core.pgoutput;

import static dev.pgapply.core.pgoutput.MessageBytes.hex;
import static dev.pgapply.core.pgoutput.MessageBytes.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One test a message, with the bytes that a publisher sends. */
class PgOutputDecoderTest {

    /** 2026-03-01 12:34:56.789012 UTC in microseconds since 2000-01-01: 0x0002EEF47771A614. */
    private static final String TIME_HEX = "0002EEF47771A614";

    private static final long TIME_MICROS = 0x0002_EEF4_7771_A614L;
    private static final Instant TIME = Instant.parse("2026-03-01T12:34:56.789012Z");

    private static final Lsn LSN = Lsn.parse("16/B374D848");
    private static final Lsn END_LSN = Lsn.parse("16/B374D878");
    private static final Xid XID = new Xid(731);
    private static final Oid USERS = new Oid(16385);

    private final PgOutputDecoder decoder = new PgOutputDecoder();

    @Test
    void begin() {
        PgOutputMessage decoded = decode(hex("42 00000016B374D848 " + TIME_HEX + " 000002DB"));

        assertThat(decoded).isEqualTo(new Begin(LSN, TIME, XID));
    }

    @Test
    void commit() {
        PgOutputMessage decoded = decode(hex("43 00 00000016B374D848 00000016B374D878 " + TIME_HEX));

        assertThat(decoded).isEqualTo(new Commit(LSN, END_LSN, TIME));
    }

    @Test
    void origin() {
        PgOutputMessage decoded = decode(hex("4F 00000016B374D848 70675F313633393500"));

        assertThat(decoded).isEqualTo(new Origin(LSN, "pg_16395"));
    }

    @Test
    void origin_in_a_stream_block_has_no_position_and_no_xid() {
        byte[] bytes = message('O').int64(0).string("pg_16395").toBytes();

        assertThat(decodeInStreamBlock(bytes)).isEqualTo(new Origin(Lsn.ZERO, "pg_16395"));
    }

    @Test
    void relation() {
        PgOutputMessage decoded = decode(hex("52 00004001 7075626C696300 757365727300 64 0002"
                + " 01 696400 00000017 FFFFFFFF"
                + " 00 6E616D6500 00000413 00000024"));

        assertThat(decoded)
                .isEqualTo(new Relation(
                        null,
                        USERS,
                        new QualifiedName("public", "users"),
                        ReplicaIdentity.DEFAULT,
                        List.of(
                                new Relation.Column("id", true, new Oid(23), -1),
                                new Relation.Column("name", false, new Oid(1043), 36))));
    }

    @Test
    void relation_in_a_stream_block() {
        byte[] bytes = message('R')
                .int32(731)
                .int32(16385)
                .string("public")
                .string("users")
                .int8('f')
                .int16(0)
                .toBytes();

        assertThat(decodeInStreamBlock(bytes))
                .isEqualTo(new Relation(
                        XID, USERS, new QualifiedName("public", "users"), ReplicaIdentity.FULL, List.of()));
    }

    @Test
    void the_empty_schema_of_a_relation_or_type_is_pg_catalog() {
        byte[] relation = message('R')
                .int32(1)
                .string("")
                .string("pg_x")
                .int8('n')
                .int16(0)
                .toBytes();
        byte[] type = message('Y').int32(16400).string("").string("int4").toBytes();

        assertThat(((Relation) decode(relation)).name()).isEqualTo(new QualifiedName("pg_catalog", "pg_x"));
        assertThat(((Type) decode(type)).schema()).isEqualTo("pg_catalog");
    }

    @Test
    void every_replica_identity_is_known() {
        for (ReplicaIdentity identity : ReplicaIdentity.values()) {
            byte[] bytes = message('R')
                    .int32(1)
                    .string("s")
                    .string("t")
                    .int8(identity.code())
                    .int16(0)
                    .toBytes();

            assertThat(((Relation) decode(bytes)).replicaIdentity()).isEqualTo(identity);
        }
    }

    @Test
    void names_are_utf8_and_kept_as_they_are() {
        byte[] bytes = message('R')
                .int32(1)
                .string("Schéma \"q\"")
                .string("表\n")
                .int8('d')
                .int16(0)
                .toBytes();

        assertThat(((Relation) decode(bytes)).name()).isEqualTo(new QualifiedName("Schéma \"q\"", "表\n"));
    }

    @Test
    void type() {
        PgOutputMessage decoded = decode(hex("59 00004010 7075626C696300 6D6F6F6400"));

        assertThat(decoded).isEqualTo(new Type(null, new Oid(16400), "public", "mood"));
    }

    @Test
    void type_in_a_stream_block() {
        byte[] bytes = message('Y')
                .int32(731)
                .int32(16400)
                .string("public")
                .string("mood")
                .toBytes();

        assertThat(decodeInStreamBlock(bytes)).isEqualTo(new Type(XID, new Oid(16400), "public", "mood"));
    }

    @Test
    void insert_with_every_column_status() {
        Insert decoded = (Insert) decode(hex("49 00004001 4E 0005"
                + " 74 00000002 3432"
                + " 6E"
                + " 62 00000004 0000002A"
                + " 75"
                + " 74 00000000"));

        assertThat(decoded.xid()).isNull();
        assertThat(decoded.relation()).isEqualTo(USERS);
        Tuple tuple = decoded.newTuple();
        assertThat(tuple.columnCount()).isEqualTo(5);
        assertThat(List.of(tuple.status(0), tuple.status(1), tuple.status(2), tuple.status(3), tuple.status(4)))
                .containsExactly(
                        ColumnStatus.TEXT,
                        ColumnStatus.NULL,
                        ColumnStatus.BINARY,
                        ColumnStatus.UNCHANGED,
                        ColumnStatus.TEXT);
        assertThat(tuple.text(0)).isEqualTo("42");
        assertThat(tuple.text(1)).isNull();
        assertThat(tuple.valueLength(2)).isEqualTo(4);
        assertThat(tuple.buffer(2)[tuple.valueOffset(2) + 3]).isEqualTo((byte) 42);
        assertThat(tuple.text(4)).isEmpty();
    }

    @Test
    void insert_in_a_stream_block_carries_the_subtransactions_xid() {
        Insert decoded = (Insert) decodeInStreamBlock(hex("49 000002DC 00004001 4E 0001 74 00000003 616E6E"));

        assertThat(decoded.xid()).isEqualTo(new Xid(732));
        assertThat(decoded.relation()).isEqualTo(USERS);
        assertThat(decoded.newTuple().text(0)).isEqualTo("ann");
    }

    @Test
    void insert_into_a_table_without_columns() {
        Insert decoded = (Insert) decode(hex("49 00004001 4E 0000"));

        assertThat(decoded.newTuple().columnCount()).isZero();
    }

    @Test
    void update_that_leaves_the_replica_identity_alone_has_no_old_tuple() {
        Update decoded = (Update) decode(hex("55 00004001 4E 0002 74 00000001 31 75"));

        assertThat(decoded.oldTuple()).isNull();
        assertThat(decoded.newTuple().text(0)).isEqualTo("1");
        assertThat(decoded.newTuple().isUnchanged(1)).isTrue();
    }

    @Test
    void update_of_the_key_has_the_old_key() {
        Update decoded = (Update) decode(hex("55 00004001 4B 0002 74 00000001 31 6E 4E 0002 74 00000001 32 6E"));

        OldTuple old = decoded.oldTuple();
        assertThat(old).isNotNull();
        assertThat(old.full()).isFalse();
        assertThat(old.tuple().text(0)).isEqualTo("1");
        assertThat(decoded.newTuple().text(0)).isEqualTo("2");
    }

    @Test
    void update_under_replica_identity_full_has_the_old_row() {
        byte[] bytes = message('U')
                .int32(731)
                .int32(16385)
                .int8('O')
                .int16(1)
                .text("a")
                .int8('N')
                .int16(1)
                .text("b")
                .toBytes();

        Update decoded = (Update) decodeInStreamBlock(bytes);

        assertThat(decoded.xid()).isEqualTo(XID);
        OldTuple old = decoded.oldTuple();
        assertThat(old).isNotNull();
        assertThat(old.full()).isTrue();
        assertThat(old.tuple().text(0)).isEqualTo("a");
    }

    @Test
    void delete_by_key() {
        Delete decoded = (Delete) decode(hex("44 00004001 4B 0002 74 00000001 31 6E"));

        assertThat(decoded.oldTuple().full()).isFalse();
        assertThat(decoded.oldTuple().tuple().text(0)).isEqualTo("1");
    }

    @Test
    void delete_by_the_whole_row() {
        Delete decoded = (Delete) decodeInStreamBlock(hex("44 000002DB 00004001 4F 0001 74 00000001 31"));

        assertThat(decoded.xid()).isEqualTo(XID);
        assertThat(decoded.oldTuple().full()).isTrue();
    }

    @Test
    void truncate() {
        PgOutputMessage decoded = decode(hex("54 00000002 02 00004001 00004002"));

        assertThat(decoded).isEqualTo(new Truncate(null, false, true, List.of(USERS, new Oid(16386))));
    }

    @Test
    void truncate_cascade_in_a_stream_block() {
        PgOutputMessage decoded = decodeInStreamBlock(hex("54 000002DB 00000001 01 00004001"));

        assertThat(decoded).isEqualTo(new Truncate(XID, true, false, List.of(USERS)));
    }

    @Test
    void logical_message() {
        LogicalMessage decoded =
                (LogicalMessage) decode(hex("4D 01 00000016B374D848 70676170706C7900 00000003 00FF41"));

        assertThat(decoded.transactional()).isTrue();
        assertThat(decoded.lsn()).isEqualTo(LSN);
        assertThat(decoded.prefix()).isEqualTo("pgapply");
        assertThat(decoded.content()).containsExactly(0, 0xFF, 'A');
    }

    @Test
    void logical_message_in_a_stream_block() {
        byte[] bytes =
                message('M').int32(731).int8(1).lsn("0/1").string("").int32(0).toBytes();

        LogicalMessage decoded = (LogicalMessage) decodeInStreamBlock(bytes);

        assertThat(decoded.xid()).isEqualTo(XID);
        assertThat(decoded.content()).isEmpty();
    }

    @Test
    void stream_start() {
        assertThat(decode(hex("53 000002DB 01"))).isEqualTo(new StreamStart(XID, true));
        assertThat(decode(hex("53 000002DB 00"))).isEqualTo(new StreamStart(XID, false));
    }

    @Test
    void stream_stop() {
        assertThat(decodeInStreamBlock(hex("45"))).isEqualTo(new StreamStop());
    }

    @Test
    void stream_commit() {
        PgOutputMessage decoded = decode(hex("63 000002DB 00 00000016B374D848 00000016B374D878 " + TIME_HEX));

        assertThat(decoded).isEqualTo(new StreamCommit(XID, LSN, END_LSN, TIME));
    }

    @Test
    void stream_abort_of_a_subtransaction() {
        PgOutputMessage decoded = decode(hex("41 000002DB 000002DC"));

        assertThat(decoded).isEqualTo(new StreamAbort(XID, new Xid(732), null, null));
    }

    @Test
    void stream_abort_has_position_and_time_where_parallel_streaming_was_asked_for() {
        PgOutputMessage decoded = decode(hex("41 000002DB 000002DB 00000016B374D848 " + TIME_HEX));

        assertThat(decoded).isEqualTo(new StreamAbort(XID, XID, LSN, TIME));
    }

    @Test
    void begin_prepare() {
        PgOutputMessage decoded =
                decode(finish(message('b')).int32(731).string("gid 1").toBytes());

        assertThat(decoded).isEqualTo(new BeginPrepare(LSN, END_LSN, TIME, XID, "gid 1"));
    }

    @Test
    void prepare() {
        PgOutputMessage decoded =
                decode(hex("50 00 00000016B374D848 00000016B374D878 " + TIME_HEX + " 000002DB 67696400"));

        assertThat(decoded).isEqualTo(new Prepare(LSN, END_LSN, TIME, XID, "gid"));
    }

    @Test
    void stream_prepare() {
        PgOutputMessage decoded =
                decode(finish(message('p').int8(0)).int32(731).string("gid").toBytes());

        assertThat(decoded).isEqualTo(new StreamPrepare(LSN, END_LSN, TIME, XID, "gid"));
    }

    @Test
    void commit_prepared() {
        PgOutputMessage decoded =
                decode(finish(message('K').int8(0)).int32(731).string("gid").toBytes());

        assertThat(decoded).isEqualTo(new CommitPrepared(LSN, END_LSN, TIME, XID, "gid"));
    }

    @Test
    void rollback_prepared() {
        byte[] bytes = finish(message('r').int8(0))
                .int64(TIME_MICROS + 1)
                .int32(731)
                .string("gid")
                .toBytes();

        assertThat(decode(bytes))
                .isEqualTo(new RollbackPrepared(LSN, END_LSN, TIME, TIME.plusNanos(1_000), XID, "gid"));
    }

    @Test
    void times_before_2000_and_at_both_ends_of_the_range_are_read() {
        assertThat(commitTime(-1)).isEqualTo(Instant.parse("1999-12-31T23:59:59.999999Z"));
        assertThat(commitTime(Long.MIN_VALUE)).isBefore(Instant.parse("-9999-01-01T00:00:00Z"));
        assertThat(commitTime(Long.MAX_VALUE)).isAfter(Instant.parse("9999-01-01T00:00:00Z"));
    }

    @Test
    void xids_oids_and_positions_are_unsigned() {
        Begin begin = (Begin) decode(hex("42 FFFFFFFFFFFFFFFF " + TIME_HEX + " FFFFFFFE"));
        Insert insert = (Insert) decode(hex("49 FFFFFFFF 4E 0000"));

        assertThat(begin.finalLsn()).hasToString("FFFFFFFF/FFFFFFFF");
        assertThat(begin.xid()).hasToString("4294967294");
        assertThat(insert.relation()).hasToString("4294967295");
    }

    @Test
    void a_message_is_read_where_it_stands_in_a_larger_buffer() {
        byte[] frame = hex("FFFFFF 49 00004001 4E 0001 74 00000001 31 FFFF");

        Insert decoded = (Insert) decoder.decode(frame, 3, frame.length - 5, false);

        assertThat(decoded.newTuple().text(0)).isEqualTo("1");
    }

    @Test
    void one_decoder_reads_message_after_message() {
        Insert first = (Insert)
                decode(message('I').int32(1).int8('N').int16(1).text("first").toBytes());
        Insert second = (Insert)
                decode(message('I').int32(2).int8('N').int16(1).text("second").toBytes());

        assertThat(first.relation()).isEqualTo(new Oid(1));
        assertThat(first.newTuple().text(0)).isEqualTo("first");
        assertThat(second.relation()).isEqualTo(new Oid(2));
        assertThat(second.newTuple().text(0)).isEqualTo("second");
    }

    private Instant commitTime(long micros) {
        byte[] bytes = message('B').lsn("0/1").int64(micros).int32(731).toBytes();
        return ((Begin) decode(bytes)).commitTime();
    }

    /** The two positions and the time that every finishing message has. */
    private static MessageBytes finish(MessageBytes head) {
        return head.lsn("16/B374D848").lsn("16/B374D878").int64(TIME_MICROS);
    }

    private PgOutputMessage decode(byte[] bytes) {
        return decoder.decode(bytes, 0, bytes.length, false);
    }

    private PgOutputMessage decodeInStreamBlock(byte[] bytes) {
        return decoder.decode(bytes, 0, bytes.length, true);
    }
}
