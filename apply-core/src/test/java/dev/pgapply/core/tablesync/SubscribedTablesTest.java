package dev.pgapply.core.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SubscribedTablesTest {

    private static final QualifiedName ORDERS = new QualifiedName("public", "orders");
    private static final Lsn SYNC = Lsn.parse("0/2000");

    private static SubscribedTables with(TableSyncState state) {
        return new SubscribedTables(Map.of(ORDERS, new SubscribedTables.Entry(state, SYNC)));
    }

    @Test
    void a_copied_table_takes_the_transaction_whose_commit_lsn_is_exactly_the_consistent_point() {
        assertThat(with(TableSyncState.SYNCDONE).takes(ORDERS, SYNC)).isTrue();
    }

    @Test
    void a_copied_table_does_not_take_what_its_copy_holds_already() {
        assertThat(with(TableSyncState.SYNCDONE).takes(ORDERS, Lsn.parse("0/1FFF")))
                .isFalse();
    }

    @Test
    void a_ready_table_takes_everything() {
        assertThat(with(TableSyncState.READY).takes(ORDERS, Lsn.parse("0/1"))).isTrue();
    }

    @Test
    void a_table_that_is_still_to_be_copied_takes_nothing() {
        assertThat(with(TableSyncState.INIT).takes(ORDERS, Lsn.parse("0/3000"))).isFalse();
        assertThat(with(TableSyncState.DATASYNC).takes(ORDERS, Lsn.parse("0/3000")))
                .isFalse();
        assertThat(with(TableSyncState.FINISHEDCOPY).takes(ORDERS, Lsn.parse("0/3000")))
                .isFalse();
    }

    @Test
    void a_table_of_another_schema_is_another_table() {
        assertThat(with(TableSyncState.READY).takes(new QualifiedName("other", "orders"), SYNC))
                .isFalse();
    }

    @Test
    void each_letter_is_one_state() {
        for (TableSyncState state : TableSyncState.values()) {
            assertThat(TableSyncState.of(state.code())).isEqualTo(state);
        }
    }
}
