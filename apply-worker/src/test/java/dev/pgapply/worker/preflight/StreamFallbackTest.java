package dev.pgapply.worker.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import org.junit.jupiter.api.Test;

class StreamFallbackTest {

    private final StreamFallback fallback = new StreamFallback();

    @Test
    void nothing_less_is_asked_for_before_something_has_failed() {
        assertThat(fallback.isTextNeeded(new Lsn(1))).isFalse();
        assertThat(fallback.isWholeNeeded(new Lsn(1))).isFalse();
    }

    @Test
    void transactions_are_whole_until_the_stream_begins_behind_where_the_life_that_failed_began() {
        fallback.needWhole(new Lsn(100));
        fallback.needWhole(new Lsn(50));

        assertThat(fallback.isWholeNeeded(new Lsn(99))).isTrue();
        assertThat(fallback.isWholeNeeded(new Lsn(100))).isFalse();
        assertThat(fallback.isTextNeeded(new Lsn(1))).isFalse();
    }

    @Test
    void values_are_text_until_then_likewise() {
        fallback.needText(new Lsn(100));

        assertThat(fallback.isTextNeeded(new Lsn(99))).isTrue();
        assertThat(fallback.isTextNeeded(new Lsn(100))).isFalse();
        assertThat(fallback.isWholeNeeded(new Lsn(1))).isFalse();
    }
}
