package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Oid;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.pgoutput.TupleBuilder;
import dev.pgapply.core.relation.TargetColumn;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class CopyEncoderTest {

    private static BoundColumn column(int remote) {
        TargetColumn local = new TargetColumn(
                "c" + remote,
                new Oid(25),
                "text",
                -1,
                false,
                false,
                false,
                TargetColumn.IdentityKind.NONE,
                true,
                false);
        return new BoundColumn(remote, new Oid(25), local, new TypeFacts(25, "text", true, true, "=", "text", "_text"));
    }

    private static byte[] encode(CopyEncoder encoder, List<BoundColumn> columns, Tuple... rows) {
        CopyBuffer buffer = new CopyBuffer(1);
        encoder.begin(buffer);
        for (Tuple row : rows) {
            encoder.append(row, columns, buffer);
        }
        encoder.end(buffer);
        return Arrays.copyOf(buffer.bytes(), buffer.length());
    }

    private static String text(Tuple... rows) {
        return new String(encode(new CopyTextEncoder(), List.of(column(0), column(2)), rows), StandardCharsets.UTF_8);
    }

    @Test
    void text_has_tabs_between_columns_and_escapes_what_would_end_a_value() {
        assertThat(text(TupleBuilder.ofText("a\tb", "not copied", "c\nd\re\\f")))
                .isEqualTo("a\\tb\tc\\nd\\re\\\\f\n");
    }

    @Test
    void text_tells_null_from_the_word_and_from_nothing() {
        assertThat(text(TupleBuilder.ofText(null, "", "\\N"), TupleBuilder.ofText("", "", "NULL")))
                .isEqualTo("\\N\t\\\\N\n\tNULL\n");
    }

    @Test
    void the_end_marker_as_a_value_does_not_end_the_copy() {
        byte[] only = encode(new CopyTextEncoder(), List.of(column(0)), TupleBuilder.ofText("\\."));

        assertThat(new String(only, StandardCharsets.UTF_8)).isEqualTo("\\\\.\n");
    }

    @Test
    void bytes_of_longer_characters_stay_as_they_are() {
        assertThat(text(TupleBuilder.ofText("é€😀", "", "表"))).isEqualTo("é€😀\t表\n");
    }

    @Test
    void binary_has_header_lengths_and_trailer() {
        Tuple row = new TupleBuilder()
                .binary(new byte[] {1, 2})
                .text("not copied")
                .text(null)
                .build();

        assertThat(HexFormat.of().formatHex(encode(new CopyBinaryEncoder(), List.of(column(0), column(2)), row)))
                .isEqualTo("5047434f50590aff0d0a00" + "00000000" + "00000000" + "0002" + "00000002" + "0102"
                        + "ffffffff" + "ffff");
    }
}
