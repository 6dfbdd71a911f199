package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.pgoutput.TupleBuilder;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArrayParameterTest {

    private static String bytes(ElementType element, Tuple... rows) {
        ArrayParameter parameter = new ArrayParameter(element, List.of(rows), 1);
        byte[] bytes = new byte[parameter.lengthInBytes()];
        parameter.toBytes(bytes, 0);
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void text_elements_are_the_received_bytes_behind_their_lengths() {
        assertThat(bytes(
                        ElementType.TEXT,
                        TupleBuilder.ofText("ignored", "ab"),
                        TupleBuilder.ofText("ignored", ""),
                        TupleBuilder.ofText("ignored", "é")))
                .isEqualTo("00000001" + "00000000" + "00000019" + "00000003" + "00000001" + "00000002" + "6162"
                        + "00000000" + "00000002" + "c3a9");
    }

    @Test
    void null_and_unsent_values_are_null_and_the_header_says_that_there_are_some() {
        Tuple unsent = new TupleBuilder().text("1").unchanged().build();

        assertThat(bytes(ElementType.TEXT, TupleBuilder.ofText("1", null), unsent))
                .isEqualTo("00000001" + "00000001" + "00000019" + "00000002" + "00000001" + "ffffffff" + "ffffffff");
    }

    @Test
    void integers_are_read_from_their_text() {
        String header = "00000001" + "00000000" + "%08x" + "00000002" + "00000001";

        assertThat(bytes(ElementType.INT2, TupleBuilder.ofText("", "-32768"), TupleBuilder.ofText("", "7")))
                .isEqualTo(header.formatted(21) + "00000002" + "8000" + "00000002" + "0007");
        assertThat(bytes(ElementType.INT4, TupleBuilder.ofText("", "-2147483648"), TupleBuilder.ofText("", "1")))
                .isEqualTo(header.formatted(23) + "00000004" + "80000000" + "00000004" + "00000001");
        assertThat(bytes(
                        ElementType.INT8,
                        TupleBuilder.ofText("", "-9223372036854775808"),
                        TupleBuilder.ofText("", "9223372036854775807")))
                .isEqualTo(header.formatted(20) + "00000008" + "8000000000000000" + "00000008" + "7fffffffffffffff");
    }

    @Test
    void what_is_no_integer_is_a_violation() {
        for (String text : List.of("", "-", "1.5", "x", "+1", " 1")) {
            assertThatThrownBy(() -> bytes(ElementType.INT4, TupleBuilder.ofText("", text)))
                    .as(text)
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("\"" + text + "\"");
        }
    }

    @Test
    void binary_values_are_elements_of_their_own_type() {
        ElementType numeric = new ElementType("_numeric", 1700, ElementType.Form.RECEIVED, false);
        Tuple row = new TupleBuilder().text("").binary(new byte[] {0, 1, 2}).build();

        assertThat(bytes(numeric, row))
                .isEqualTo("00000001" + "00000000" + "000006a4" + "00000001" + "00000001" + "00000003" + "000102");
    }
}
