package dev.pgapply.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LsnTest {

    @Test
    void both_ways_in_which_servers_print_are_read() {
        assertThat(Lsn.parse("16/B374D848").value()).isEqualTo(0x16_B374_D848L);
        assertThat(Lsn.parse("0/0151D3B8")).isEqualTo(Lsn.parse("0/151D3B8"));
        assertThat(Lsn.parse("ffffffff/ffffffff").value()).isEqualTo(-1L);
        assertThat(Lsn.parse("0/0")).isEqualTo(Lsn.ZERO);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "16",
                "16/",
                "/16",
                "16/B374D848/1",
                "1/123456789",
                "123456789/1",
                "g/1",
                "-1/1",
                "1/+1",
                " 1/1",
                "1/1 ",
                "0x1/1"
            })
    void what_is_no_position_is_refused_with_the_text(String text) {
        assertThatThrownBy(() -> Lsn.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("invalid LSN \"" + text + "\": expected two hexadecimal numbers, as in 16/B374D848");
    }

    @Test
    void digits_of_other_scripts_are_refused() {
        assertThatThrownBy(() -> Lsn.parse("\u0661/\u0661")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void the_text_is_the_servers() {
        assertThat(new Lsn(0x16_B374_D848L)).hasToString("16/B374D848");
        assertThat(new Lsn(0x151_D3B8L)).hasToString("0/151D3B8");
        assertThat(new Lsn(-1)).hasToString("FFFFFFFF/FFFFFFFF");
    }

    @Test
    void positions_are_unsigned() {
        Lsn high = Lsn.parse("80000000/0");
        Lsn low = Lsn.parse("7FFFFFFF/FFFFFFFF");

        assertThat(high).isGreaterThan(low);
        assertThat(high.isAfter(low)).isTrue();
        assertThat(low.isBefore(high)).isTrue();
        assertThat(low.isAfter(low)).isFalse();
        assertThat(low.max(high)).isEqualTo(high);
        assertThat(high.max(low)).isEqualTo(high);
        assertThat(high.bytesSince(low)).isEqualTo(1);
        assertThat(low.bytesSince(high)).isEqualTo(-1);
    }
}
