package dev.pgapply.launcher.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AmountsTest {

    @ParameterizedTest
    @CsvSource({"0, 0 B", "1023, 1023 B", "1024, 1.0 kB", "1572864, 1.5 MB", "9223372036854775807, 8.0 EB"})
    void bytes_have_a_unit(long bytes, String text) {
        assertThat(Amounts.bytes(bytes)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0.0 s",
        "1234, 1.2 s",
        "42000, 42 s",
        "185000, 3 min 5 s",
        "7620000, 2 h 7 min",
        "273600000, 3 d 4 h"
    })
    void times_have_two_units_at_most(long millis, String text) {
        assertThat(Amounts.duration(Duration.ofMillis(millis))).isEqualTo(text);
    }

    @Test
    void counts_have_separators_and_a_noun() {
        assertThat(Amounts.count(1234567)).isEqualTo("1,234,567");
        assertThat(Amounts.counted(1, "row", "rows")).isEqualTo("1 row");
        assertThat(Amounts.counted(0, "row", "rows")).isEqualTo("0 rows");
    }
}
