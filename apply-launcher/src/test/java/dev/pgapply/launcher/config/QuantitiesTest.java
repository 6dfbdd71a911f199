package dev.pgapply.launcher.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantitiesTest {

    @ParameterizedTest
    @CsvSource({
        "10s, 10000",
        "500ms, 500",
        "1min, 60000",
        "2h, 7200000",
        "1d, 86400000",
        "2000us, 2",
        "10 s, 10000",
        "0, 0",
        "0s, 0"
    })
    void times_have_postgresqls_units(String text, long millis) {
        assertThat(Quantities.duration(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10", "10S", "10sec", "-1s", "1.5s", "", "s", "10m", "999999999999999d"})
    void other_times_are_none(String text) {
        assertThat(Quantities.duration(text)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"16MB, 16777216", "64kB, 65536", "1GB, 1073741824", "1TB, 1099511627776", "5B, 5", "123, 123", "0, 0"})
    void sizes_have_postgresqls_units(String text, long bytes) {
        assertThat(Quantities.bytes(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"16mb", "16Mb", "16KB", "16M", "-1", "", "1.5GB", "999999999999999TB"})
    void other_sizes_are_none(String text) {
        assertThat(Quantities.bytes(text)).isEqualTo(-1);
    }

    @Test
    void quantities_are_shown_in_the_unit_that_leaves_a_whole_number() {
        assertThat(Quantities.show(16L << 20)).isEqualTo("16MB");
        assertThat(Quantities.show(1500)).isEqualTo("1500B");
        assertThat(Quantities.show(0)).isEqualTo("0B");
        assertThat(Quantities.show(Duration.ofMillis(100))).isEqualTo("100ms");
        assertThat(Quantities.show(Duration.ofHours(24))).isEqualTo("24h");
    }
}
