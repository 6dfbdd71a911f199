package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PublishingTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "16385:r1 | 16385:r1 | true",
                "16385:r1 | 16385:r1,r2 | true",
                "16385:r1,r2 | 16385:r2 | true",
                "16385:r1 | 16385:r2 | false",
                "16385:r1 | 16386:r1 | false",
                "16385:p7 | 16386:p7 | false",
                "16385:n7 | 16385:r7 | false"
            })
    void it_goes_on_if_the_table_is_the_same_and_one_membership_has_stayed(String earlier, String now, boolean goesOn) {
        assertThat(Publishing.parse(now).isContinuationOf(Publishing.parse(earlier)))
                .isEqualTo(goesOn);
    }

    @Test
    void its_text_is_read_back() {
        Publishing publishing = Publishing.parse("4294967295:r2,r1");

        assertThat(publishing).hasToString("4294967295:r1,r2");
        assertThat(Publishing.parse(publishing.toString())).isEqualTo(publishing);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "16385", "x:r1", "1:2:3"})
    void other_text_is_refused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Publishing.parse(text));
    }
}
