package dev.pgapply.core.pgoutput;

import static dev.pgapply.core.pgoutput.MessageBytes.hex;
import static dev.pgapply.core.pgoutput.MessageBytes.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import org.junit.jupiter.api.Test;

/** What is no message of the protocol, each case named by its reason. */
class PgOutputDecoderViolationTest {

    private final PgOutputDecoder decoder = new PgOutputDecoder();

    @Test
    void an_empty_message() {
        assertThat(violation()).isEqualTo("empty logical replication message");
    }

    @Test
    void an_unknown_type_is_named_in_decimal() {
        assertThat(violation(hex("5A"))).isEqualTo("invalid logical replication message type 90");
        assertThat(violation(hex("FF"))).isEqualTo("invalid logical replication message type 255");
    }

    @Test
    void an_unknown_column_status_is_named_with_its_column() {
        assertThat(violation(hex("49 00000001 4E 0002 6E 78")))
                .isEqualTo("unrecognized column status 120 of column 2 in INSERT message");
    }

    @Test
    void an_unknown_replica_identity() {
        byte[] bytes =
                message('R').int32(1).string("s").string("t").int8('x').int16(0).toBytes();

        assertThat(violation(bytes)).isEqualTo("unrecognized replica identity 120 in RELATION message");
    }

    @Test
    void an_unknown_tuple_type() {
        assertThat(violation(hex("49 00000001 4B 0000"))).isEqualTo("unrecognized tuple type 75 in INSERT message");
        assertThat(violation(hex("44 00000001 4E 0000"))).isEqualTo("unrecognized tuple type 78 in DELETE message");
        assertThat(violation(hex("55 00000001 4B 0000 4F 0000")))
                .isEqualTo("unrecognized tuple type 79 in UPDATE message");
    }

    @Test
    void a_negative_number_of_columns() {
        byte[] relation = message('R')
                .int32(1)
                .string("s")
                .string("t")
                .int8('d')
                .int16(-1)
                .toBytes();

        assertThat(violation(hex("49 00000001 4E FFFF"))).isEqualTo("negative number of columns -1 in INSERT message");
        assertThat(violation(relation)).isEqualTo("negative number of columns -1 in RELATION message");
    }

    @Test
    void a_negative_length() {
        assertThat(violation(hex("49 00000001 4E 0001 74 80000000")))
                .isEqualTo("negative number of bytes of a column -2147483648 in INSERT message");
        assertThat(violation(hex("4D 00 0000000000000001 00 FFFFFFFF")))
                .isEqualTo("negative number of bytes -1 in MESSAGE message");
    }

    @Test
    void a_negative_number_of_relations() {
        assertThat(violation(hex("54 FFFFFFFF 00"))).isEqualTo("negative number of relations -1 in TRUNCATE message");
    }

    @Test
    void a_column_longer_than_the_message() {
        assertThat(violation(hex("49 00000001 4E 0001 74 00000003 3132")))
                .isEqualTo("insufficient data left in INSERT message: 3 bytes of a column announced, 2 bytes left");
    }

    @Test
    void a_length_near_the_integers_end_does_not_wrap_around() {
        assertThat(violation(hex("49 00000001 4E 0001 74 7FFFFFFF 31")))
                .isEqualTo(
                        "insufficient data left in INSERT message: 2147483647 bytes of a column announced, 1 bytes left");
        assertThat(violation(hex("54 7FFFFFFF 00 00000001")))
                .isEqualTo("insufficient data left in TRUNCATE message: 2147483647 relations announced, 5 bytes left");
    }

    @Test
    void more_columns_than_bytes() {
        assertThat(violation(hex("49 00000001 4E 7FFF 6E")))
                .isEqualTo("insufficient data left in INSERT message: 32767 columns announced, 1 bytes left");
    }

    @Test
    void a_name_that_does_not_end() {
        assertThat(violation(hex("59 00004010 7075626C6963")))
                .isEqualTo("invalid string in TYPE message: no zero byte ends what begins at byte 5");
    }

    @Test
    void a_name_that_is_not_utf8() {
        assertThat(violation(hex("59 00004010 FF00 6D00")))
                .isEqualTo("invalid string in TYPE message: what begins at byte 5 is not UTF-8");
    }

    @Test
    void bytes_behind_the_end() {
        assertThat(violation(hex("45 00"))).isEqualTo("invalid STREAM STOP message: 1 bytes follow its end");
        assertThat(violation(hex("49 00000001 4E 0001 6E 6E6E")))
                .isEqualTo("invalid INSERT message: 2 bytes follow its end");
    }

    @Test
    void a_stream_abort_with_half_of_its_optional_fields() {
        byte[] bytes = message('A').int32(731).int32(732).lsn("0/1").toBytes();

        assertThat(violation(bytes))
                .isEqualTo("insufficient data left in STREAM ABORT message: 8 bytes needed at byte 17, 0 left");
    }

    @Test
    void a_change_in_a_stream_block_without_its_xid() {
        byte[] insert = hex("49 00004001 4E 0001 6E");

        assertThatThrownBy(() -> decoder.decode(insert, 0, insert.length, true))
                .isInstanceOf(ApplyException.class)
                .hasMessageContaining("in INSERT message");
    }

    @Test
    void a_change_outside_a_stream_block_with_an_xid() {
        assertThat(violation(hex("49 000002DB 00004001 4E 0001 6E")))
                .isEqualTo("unrecognized tuple type 0 in INSERT message");
    }

    @Test
    void a_position_that_is_not_set() {
        assertThat(violation(message('B').int64(0).int64(1).int32(731).toBytes()))
                .isEqualTo("final_lsn is not set in BEGIN message");
        assertThat(violation(message('C').int8(0).int64(1).int64(0).int64(1).toBytes()))
                .isEqualTo("end_lsn is not set in COMMIT message");
    }

    @Test
    void a_transaction_id_that_is_not_set() {
        assertThat(violation(message('S').int32(0).int8(1).toBytes()))
                .isEqualTo("transaction id is not set in STREAM START message");
    }

    @Test
    void flags_that_no_version_has() {
        assertThat(violation(message('C').int8(1).int64(1).int64(2).int64(3).toBytes()))
                .isEqualTo("unrecognized flags 1 in COMMIT message");
        assertThat(violation(hex("54 00000001 04 00004001"))).isEqualTo("unrecognized flags 4 in TRUNCATE message");
        assertThat(violation(hex("53 000002DB 02"))).isEqualTo("unrecognized flags 2 in STREAM START message");
    }

    @Test
    void every_message_cut_anywhere() {
        for (SampleMessages.Sample sample : SampleMessages.all()) {
            for (int length = 1; length < sample.bytes().length; length++) {
                if (!sample.isCompleteAt(length)) {
                    int cut = length;
                    assertThatThrownBy(() -> decoder.decode(sample.bytes(), 0, cut, sample.inStreamBlock()))
                            .as("%s cut to %s bytes", sample.name(), cut)
                            .isInstanceOf(ApplyException.class);
                }
            }
        }
    }

    @Test
    void a_violation_leaves_the_decoder_usable() {
        violation(hex("49 00000001 4E 0001 78"));

        byte[] next = hex("49 00000002 4E 0001 6E");
        assertThat(((Insert) decoder.decode(next, 0, next.length, false))
                        .newTuple()
                        .isNull(0))
                .isTrue();
    }

    @Test
    void a_range_outside_the_buffer_is_the_callers_defect() {
        assertThatThrownBy(() -> decoder.decode(new byte[4], 2, 3, false))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    private String violation(byte... bytes) {
        ApplyException thrown =
                catchThrowableOfType(ApplyException.class, () -> decoder.decode(bytes, 0, bytes.length, false));
        assertThat(thrown.kind()).isEqualTo(ApplyException.Kind.PROTOCOL_VIOLATION);
        return thrown.getMessage();
    }
}
