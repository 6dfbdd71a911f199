package dev.pgapply.worker.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.Lsn;
import org.junit.jupiter.api.Test;

class TimelineHistoryTest {

    @Test
    void each_line_says_where_an_ancestor_was_left() {
        TimelineHistory history = TimelineHistory.parse(
                3, "1\t0/15214C8\tno recovery target specified\n\n# comment\n2\t0/3000060\tafter LSN 0/3000060\n");

        assertThat(history.branchPoint(1)).isEqualTo(Lsn.parse("0/15214C8"));
        assertThat(history.branchPoint(2)).isEqualTo(Lsn.parse("0/3000060"));
        assertThat(history.branchPoint(4)).isNull();
    }

    @Test
    void a_line_without_a_position_is_refused() {
        assertThatThrownBy(() -> TimelineHistory.parse(2, "1")).hasMessageContaining("\"1\"");
    }
}
