package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryWaitTest {

    @Test
    void waits_double_up_to_a_minute() {
        List<Long> seconds = new ArrayList<>();
        RetryWait wait = RetryWait.none(0);
        for (int i = 0; i < 9; i++) {
            wait = wait.failed(0);
            seconds.add(Duration.ofNanos(wait.dueNanos()).toSeconds());
        }

        assertThat(seconds).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L);
        assertThat(wait.failures()).isEqualTo(9);
    }

    @Test
    void it_is_due_at_once_at_first_and_then_after_its_wait_also_where_the_ticker_overflows() {
        long now = Long.MAX_VALUE - 10;

        assertThat(RetryWait.none(now).isDue(now)).isTrue();
        RetryWait wait = RetryWait.none(now).failed(now);
        assertThat(wait.isDue(now)).isFalse();
        assertThat(wait.isDue(now + Duration.ofSeconds(1).toNanos())).isTrue();
    }
}
