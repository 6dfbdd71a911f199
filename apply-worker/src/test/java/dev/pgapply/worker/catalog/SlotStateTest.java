package dev.pgapply.worker.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SlotStateTest {

    @ParameterizedTest
    @EnumSource
    void each_label_names_its_state(SlotState state) {
        assertThat(SlotState.of(state.label())).isEqualTo(state);
    }

    @Test
    void a_ready_slot_is_never_created_again() {
        assertThat(SlotState.READY.mayBecome(SlotState.CREATING)).isFalse();
        assertThat(SlotState.READY.mayBecome(SlotState.NONE)).isFalse();
    }

    @Test
    void a_slot_that_exists_is_not_forgotten() {
        assertThat(SlotState.COPYING.mayBecome(SlotState.NONE)).isFalse();
        assertThat(SlotState.COPYING.mayBecome(SlotState.CREATING)).isTrue();
    }
}
