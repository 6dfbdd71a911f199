package dev.pgapply.worker.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.QualifiedName;
import java.util.List;
import org.junit.jupiter.api.Test;

class IdentifiersTest {

    @Test
    void names_are_always_quoted_and_quotes_doubled() {
        assertThat(Identifiers.quote("select")).isEqualTo("\"select\"");
        assertThat(Identifiers.quote("a\"b")).isEqualTo("\"a\"\"b\"");
        assertThat(Identifiers.quote(new QualifiedName("Sch.ema", "t"))).isEqualTo("\"Sch.ema\".\"t\"");
        assertThat(Identifiers.list(List.of("a", "B"))).isEqualTo("\"a\", \"B\"");
    }

    @Test
    void literals_stay_literals_whatever_they_hold() {
        assertThat(Identifiers.literal("it's")).isEqualTo("'it''s'");
        assertThat(Identifiers.literal("a\\'b")).isEqualTo("E'a\\\\''b'");
    }
}
