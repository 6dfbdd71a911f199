package dev.pgapply.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QualifiedNameTest {

    @ParameterizedTest
    @CsvSource({
        "public.orders, public, orders",
        "Public.Orders, public, orders",
        "\"Public\".\"Or.ders\", Public, Or.ders",
        "public.\"a \"\"b\"\"\", public, a \"b\"",
        "public.straße_1$, public, straße_1$"
    })
    void it_is_read_as_in_sql(String text, String schema, String name) {
        assertThat(QualifiedName.parse(text)).isEqualTo(new QualifiedName(schema, name));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "orders", "a.", ".a", "a.b.c", "a.\"b", "\"a\"b.c", "a.b c", "a.\"\"", "a.b;--"})
    void what_is_no_table_name_is_refused_and_shown(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> QualifiedName.parse(text))
                .withMessageStartingWith("invalid table name \"" + text + "\": expected schema.table");
    }

    @Test
    void it_is_shown_without_quotes() {
        assertThat(new QualifiedName("public", "Orders")).hasToString("public.Orders");
    }
}
