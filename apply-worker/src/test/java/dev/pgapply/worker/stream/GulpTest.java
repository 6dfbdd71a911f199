package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class GulpTest {

    @Test
    void a_lone_small_transaction_is_not_kept_waiting() {
        Gulp gulp = new Gulp(0);

        assertThat(gulp.isBusy(100, micros(100))).isFalse();
        assertThat(gulp.isBusy(400, micros(200))).isFalse();
    }

    @Test
    void many_bytes_in_a_short_time_are_a_busy_stream() {
        Gulp gulp = new Gulp(0);

        assertThat(gulp.isBusy(3_000, micros(500))).isFalse();
        assertThat(gulp.isBusy(6_000, micros(1_000))).isTrue();
        assertThat(gulp.isBusy(20_000, micros(2_200))).isTrue();
    }

    @Test
    void the_same_bytes_in_a_long_time_are_not() {
        Gulp gulp = new Gulp(0);

        assertThat(gulp.isBusy(6_000, micros(5_000))).isFalse();
        assertThat(gulp.isBusy(6_100, micros(5_100))).isFalse();
    }

    private static long micros(long micros) {
        return Duration.ofNanos(micros * 1_000).toNanos();
    }
}
