package dev.pgapply.worker.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StatusScheduleTest {

    private static final long START = 7;

    @Test
    void the_status_interval_counts_where_it_is_shorter() {
        StatusSchedule schedule = new StatusSchedule(Duration.ofSeconds(10), Duration.ofSeconds(60), START);

        assertThat(schedule.isDue(FeedbackPositions.NONE, after(9_999))).isFalse();
        assertThat(schedule.isDue(FeedbackPositions.NONE, after(10_000))).isTrue();
    }

    @Test
    void a_third_of_the_publishers_timeout_counts_where_it_is_shorter() {
        StatusSchedule schedule = new StatusSchedule(Duration.ofSeconds(10), Duration.ofSeconds(6), START);

        assertThat(schedule.isDue(FeedbackPositions.NONE, after(1_999))).isFalse();
        assertThat(schedule.isDue(FeedbackPositions.NONE, after(2_000))).isTrue();
    }

    @Test
    void zero_and_zero_mean_that_only_moved_positions_are_sent() {
        StatusSchedule schedule = new StatusSchedule(Duration.ZERO, Duration.ZERO, START);

        assertThat(schedule.isDue(FeedbackPositions.NONE, after(1_000_000_000))).isFalse();
        assertThat(schedule.isDue(Frames.positions(1, 0, 0), after(1_000_000_000)))
                .isTrue();
    }

    @Test
    void a_moved_flush_position_is_due_soon_and_a_moved_write_position_later() {
        StatusSchedule schedule = new StatusSchedule(Duration.ofSeconds(10), Duration.ZERO, START);

        assertThat(schedule.isDue(Frames.positions(5, 5, 5), after(19))).isFalse();
        assertThat(schedule.isDue(Frames.positions(5, 5, 5), after(20))).isTrue();
        assertThat(schedule.isDue(Frames.positions(5, 0, 5), after(99))).isFalse();
        assertThat(schedule.isDue(Frames.positions(5, 0, 5), after(100))).isTrue();
    }

    @Test
    void positions_that_have_gone_back_are_not_due() {
        StatusSchedule schedule = new StatusSchedule(Duration.ofSeconds(10), Duration.ZERO, START);
        schedule.sent(Frames.positions(5, 5, 5), START);

        assertThat(schedule.isDue(Frames.positions(4, 4, 4), after(1_000))).isFalse();
        assertThat(schedule.next(Frames.positions(4, 9, 4))).isEqualTo(Frames.positions(5, 9, 5));
    }

    @Test
    void a_short_interval_shortens_the_sleep() {
        StatusSchedule schedule = new StatusSchedule(Duration.ofSeconds(10), Duration.ofMillis(120), START);

        assertThat(schedule.longestSleep(Duration.ofMillis(100))).isEqualTo(Duration.ofMillis(20));
        assertThat(schedule.longestSleep(Duration.ofMillis(5))).isEqualTo(Duration.ofMillis(5));
    }

    private static long after(long millis) {
        return START + Duration.ofMillis(millis).toNanos();
    }
}
