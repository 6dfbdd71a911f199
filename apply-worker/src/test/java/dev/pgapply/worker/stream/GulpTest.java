package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class GulpTest {

    @Test
    void a_lone_small_transaction_is_not_kept_waiting() {
        Gulp gulp = new Gulp(Duration.ofMillis(1), 0);

        assertThat(gulp.length(100, Duration.ZERO, micros(100))).isZero();
        assertThat(gulp.length(400, Duration.ZERO, micros(200))).isZero();
    }

    @Test
    void many_bytes_in_a_short_time_are_a_busy_stream() {
        Gulp gulp = new Gulp(Duration.ofMillis(1), 0);

        assertThat(gulp.length(3_000, Duration.ZERO, micros(500))).isZero();
        assertThat(gulp.length(6_000, Duration.ZERO, micros(1_000))).isEqualTo(Duration.ofMillis(1));
        assertThat(gulp.length(20_000, Duration.ZERO, micros(2_200))).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void the_same_bytes_in_a_long_time_are_not() {
        Gulp gulp = new Gulp(Duration.ofMillis(1), 0);

        assertThat(gulp.length(6_000, Duration.ZERO, micros(5_000))).isZero();
        assertThat(gulp.length(6_100, Duration.ZERO, micros(5_100))).isZero();
    }

    @Test
    void a_stream_stays_busy_over_a_gulp_that_was_filled_and_not_over_one_that_was_not() {
        Gulp gulp = new Gulp(Duration.ofMillis(1), 0);

        assertThat(gulp.length(200_000, Duration.ZERO, micros(40_000))).isPositive();
        assertThat(gulp.length(220_000, Duration.ZERO, micros(80_000))).isZero();
    }

    @Test
    void whoever_is_behind_waits_for_a_part_of_it_and_never_for_long() {
        Gulp gulp = new Gulp(Duration.ofMillis(1), 0);

        assertThat(gulp.length(10_000, Duration.ofMillis(4), micros(1_000))).isEqualTo(Duration.ofMillis(1));
        assertThat(gulp.length(20_000, Duration.ofMillis(80), micros(2_000))).isEqualTo(Duration.ofMillis(10));
        assertThat(gulp.length(30_000, Duration.ofHours(1), micros(3_000))).isEqualTo(Gulp.LONGEST);
    }

    @Test
    void without_a_shortest_there_is_none() {
        assertThat(new Gulp(Duration.ZERO, 0).length(10_000, Duration.ofHours(1), micros(100)))
                .isZero();
    }

    private static long micros(long micros) {
        return Duration.ofNanos(micros * 1_000).toNanos();
    }
}
