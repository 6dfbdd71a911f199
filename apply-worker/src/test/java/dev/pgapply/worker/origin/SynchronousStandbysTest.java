package dev.pgapply.worker.origin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SynchronousStandbysTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|0",
                "s1|1",
                "s1, s2|1",
                "*|1",
                "\"2 (a)\"|1",
                "2 (s1, s2)|2",
                "FIRST 3 (a,b,c,d)|3",
                "any 2(a, b, c)|2"
            })
    void the_setting_says_how_many_standbys_a_commit_needs(String setting, int count) {
        assertThat(SynchronousStandbys.parse(setting).count()).isEqualTo(count);
    }
}
