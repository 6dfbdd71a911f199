package dev.pgapply.worker.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TwoPhaseStateTest {

    @Test
    void it_is_enabled_once_all_tables_are_ready() {
        assertThat(TwoPhaseState.DISABLED.atStart(true, false, false)).isEqualTo(TwoPhaseState.PENDING);
        assertThat(TwoPhaseState.PENDING.atStart(true, false, false)).isEqualTo(TwoPhaseState.PENDING);
        assertThat(TwoPhaseState.PENDING.atStart(true, false, true)).isEqualTo(TwoPhaseState.ENABLED);
        assertThat(TwoPhaseState.DISABLED.atStart(true, false, true)).isEqualTo(TwoPhaseState.ENABLED);
    }

    @Test
    void what_the_slot_sends_as_prepared_is_taken_as_prepared() {
        assertThat(TwoPhaseState.DISABLED.atStart(true, true, false)).isEqualTo(TwoPhaseState.ENABLED);
    }

    @Test
    void once_enabled_it_stays_so_whatever_the_slot_and_the_tables_say() {
        assertThat(TwoPhaseState.ENABLED.atStart(true, false, false)).isEqualTo(TwoPhaseState.ENABLED);
    }

    @Test
    void where_it_is_not_wanted_it_is_disabled_before_the_slot_is_turned_over() {
        assertThat(TwoPhaseState.PENDING.atStart(false, false, true)).isEqualTo(TwoPhaseState.DISABLED);
        assertThat(TwoPhaseState.DISABLED.atStart(false, false, true)).isEqualTo(TwoPhaseState.DISABLED);
    }

    @Test
    void the_catalog_has_postgresqls_letters() {
        assertThat(TwoPhaseState.of("d")).isEqualTo(TwoPhaseState.DISABLED);
        assertThat(TwoPhaseState.of("p")).isEqualTo(TwoPhaseState.PENDING);
        assertThat(TwoPhaseState.of("e")).isEqualTo(TwoPhaseState.ENABLED);
    }
}
