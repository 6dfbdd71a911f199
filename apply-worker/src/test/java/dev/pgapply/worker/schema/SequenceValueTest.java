package dev.pgapply.worker.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.worker.schema.SequenceValue.Action;
import dev.pgapply.worker.schema.SequenceValue.Move;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SequenceValueTest {

    private static SequenceValue up(long last, boolean called) {
        return new SequenceValue(last, called, 1, 1, 100);
    }

    @ParameterizedTest
    @CsvSource({
        // publisher, target, margin, action, next value on the target afterwards
        "7, true,  1, false, 0,   SET,       8",
        "1, false, 1, false, 0,   UNCHANGED, 1",
        "7, false, 6, true,  0,   UNCHANGED, 7",
        "7, true,  9, true,  0,   AHEAD,     10",
        "7, true,  9, true,  10,  SET,       18",
        "7, false, 1, false, 10,  SET,       17",
        "100, true, 1, false, 0,  SET,       101",
        "99, true, 1, false, 500, SET,       100",
        "100, true, 1, false, 500, SET,      101"
    })
    void an_ascending_one_follows_and_never_goes_back(
            long publisher, boolean called, long target, boolean targetCalled, long margin, Action action, long next) {
        Move move = up(target, targetCalled).follow(up(publisher, called), margin);

        assertThat(move.action()).isEqualTo(action);
        assertThat(move.value().next()).isEqualTo(next);
    }

    @ParameterizedTest
    @CsvSource({
        "985, true,  1000, false, 0,   SET,       980",
        "985, false, 1000, false, 0,   SET,       985",
        "985, true,  500,  true,  0,   AHEAD,     495",
        "985, true,  1000, false, 2,   SET,       970",
        "12, true,   1000, false, 9,   SET,       10"
    })
    void a_descending_one_goes_down(
            long publisher, boolean called, long target, boolean targetCalled, long margin, Action action, long next) {
        SequenceValue on = new SequenceValue(publisher, called, -5, 10, 1000);

        Move move = new SequenceValue(target, targetCalled, -5, 10, 1000).follow(on, margin);

        assertThat(move.action()).isEqualTo(action);
        assertThat(move.value().next()).isEqualTo(next);
    }

    @Test
    void the_ends_of_bigint_are_no_overflow() {
        SequenceValue end = new SequenceValue(Long.MAX_VALUE, true, 1, 1, Long.MAX_VALUE);

        Move move = new SequenceValue(1, false, 1, 1, Long.MAX_VALUE).follow(end, Long.MAX_VALUE);

        assertThat(move.action()).isEqualTo(Action.SET);
        assertThat(move.value().lastValue()).isEqualTo(Long.MAX_VALUE);
        assertThat(move.value().called()).isTrue();
        assertThat(move.value().follow(end, 0).action()).isEqualTo(Action.UNCHANGED);
    }

    @Test
    void a_value_beyond_the_targets_bounds_and_another_direction_are_told() {
        assertThat(up(1, false)
                        .follow(new SequenceValue(101, true, 1, 1, 1000), 0)
                        .action())
                .isEqualTo(Action.OUT_OF_RANGE);
        assertThat(up(1, false)
                        .follow(new SequenceValue(5, true, -1, 1, 100), 0)
                        .action())
                .isEqualTo(Action.OTHER_DIRECTION);
    }
}
