package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CopyPaceTest {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** Carried between two transactions while nothing pauses: 1 MB every 20 ms and what the transaction takes. */
    private static final long CHUNK = 1_000_000;

    /** As many transactions as fill a quarter of a second, or one more. */
    private static final int WINDOW = 12;

    private long now = 1;
    private final CopyPace pace = new CopyPace(() -> now);

    /** Transactions that come every 20 ms and take so long. */
    private void transactions(int count, long delay) {
        for (int i = 0; i < count; i++) {
            now += 20 * MILLI;
            long since = now;
            now += delay;
            pace.applied(since);
        }
    }

    /** One millisecond is usual when the copy begins. */
    private void beginAfterTheUsual() {
        transactions(CopyPace.MOST_DELAYS, MILLI);
        pace.begin();
    }

    /** The same beside a copy whose worker pauses as it is told: it has the time for a part of each megabyte. */
    private long copied(int windows, long delay) {
        long bytes = 0;
        for (int i = 0; i < windows * WINDOW; i++) {
            long until = now + 20 * MILLI;
            while (now < until) {
                now += MILLI;
                bytes += CHUNK / 20;
                now += pace.carried(CHUNK / 20);
            }
            long since = now;
            now += delay;
            pace.applied(since);
        }
        return bytes;
    }

    private boolean isAtFullSpeed() {
        return pace.carried(CHUNK) == 0;
    }

    @Test
    void a_copy_that_keeps_nobody_waiting_goes_at_full_speed() {
        beginAfterTheUsual();
        copied(10, MILLI);

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void delays_that_grow_slow_the_copy_down_a_quarter_of_a_second_later() {
        beginAfterTheUsual();
        int window = 11;
        for (int i = 1; i < window; i++) {
            assertThat(pace.carried(CHUNK)).isZero();
            transactions(1, 3 * MILLI);
        }
        assertThat(pace.carried(CHUNK)).isZero();
        transactions(1, 3 * MILLI);

        // A megabyte every 23 ms is what it was; now it is 0.7 of that.
        long pause = pace.carried(CHUNK);
        assertThat(pause).isPositive();
        assertThat(pace.carried(CHUNK) - pause).isCloseTo((long) (23 * MILLI / CopyPace.SLOWER), within(MILLI));
    }

    @Test
    void a_few_transactions_decide_nothing_however_long_they_take_to_come() {
        beginAfterTheUsual();
        for (int i = 0; i < 20; i++) {
            for (int j = 1; j < CopyPace.LEAST_DELAYS; j++) {
                assertThat(isAtFullSpeed()).isTrue();
                now += 60 * MILLI;
                transactions(1, 3 * MILLI);
            }
            pace.end();
            pace.begin();
        }

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void a_quarter_of_the_fastest_speed_is_always_left() {
        beginAfterTheUsual();
        long fast = copied(1, 3 * MILLI);
        copied(5, 3 * MILLI);
        long begun = now;
        long slow = copied(4, 3 * MILLI);
        double megabytesASecond = slow * 1e3 / (now - begun);

        assertThat(megabytesASecond).isCloseTo(fast * 1e3 / (WINDOW * 23 * MILLI) * CopyPace.LEAST, within(1.0));
    }

    @Test
    void a_delay_that_the_slowest_copy_does_not_shorten_is_the_usual_one_from_then_on() {
        beginAfterTheUsual();
        copied(60, 3 * MILLI);
        assertThat(isAtFullSpeed())
                .as("the stream's own transactions take longer")
                .isTrue();

        copied(2, 6 * MILLI);
        assertThat(isAtFullSpeed()).as("longer than what is usual now").isFalse();
    }

    @Test
    void two_workers_share_the_speed() {
        beginAfterTheUsual();
        pace.begin();
        copied(5, 3 * MILLI);
        now += TimeUnit.MILLISECONDS.toNanos(500);
        long first = pace.carried(CHUNK);
        long second = pace.carried(CHUNK);

        assertThat(second).isGreaterThan(first);
        assertThat(pace.carried(CHUNK) - second).isCloseTo(second - first, within(MILLI));
    }

    @Test
    void one_slow_transaction_of_many_changes_nothing() {
        beginAfterTheUsual();
        for (int i = 0; i < 10; i++) {
            assertThat(isAtFullSpeed()).isTrue();
            transactions(WINDOW - 1, MILLI);
            transactions(1, 500 * MILLI);
        }

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void the_copy_is_as_fast_as_it_was_when_the_delay_is_the_usual_one_again() {
        beginAfterTheUsual();
        copied(6, 3 * MILLI);
        assertThat(isAtFullSpeed()).isFalse();
        copied(40, MILLI);

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void a_stream_at_rest_asks_for_nothing() {
        beginAfterTheUsual();
        copied(10, 3 * MILLI);
        assertThat(isAtFullSpeed()).isFalse();
        now += CopyPace.REST_NANOS;

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void what_is_usual_is_learned_only_while_nothing_is_copied() {
        pace.begin();
        copied(10, 3 * MILLI);
        assertThat(isAtFullSpeed()).as("nothing to compare with").isTrue();
        pace.end();
        transactions(WINDOW, MILLI);
        pace.begin();
        copied(2, 3 * MILLI);

        assertThat(isAtFullSpeed()).isFalse();
    }

    @Test
    void what_is_usual_may_change_between_two_copies() {
        beginAfterTheUsual();
        pace.end();
        transactions(CopyPace.MOST_DELAYS, 3 * MILLI);
        pace.begin();
        copied(10, 3 * MILLI);

        assertThat(isAtFullSpeed()).isTrue();
    }

    @Test
    void no_pause_is_so_long_that_the_copy_seems_to_hang() {
        beginAfterTheUsual();
        copied(10, 3 * MILLI);

        assertThat(pace.carried(1000 * CHUNK)).isEqualTo(CopyPace.LONGEST_PAUSE_NANOS);
    }
}
