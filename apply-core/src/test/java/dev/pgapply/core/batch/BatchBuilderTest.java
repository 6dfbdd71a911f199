package dev.pgapply.core.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchBuilderTest {

    private static final int MAX_ROWS = 4;
    private static final int MAX_BYTES = 100;

    private final RelationMapEntry t = RelationFixture.keyed("t", "a").entry();
    private final BatchBuilder builder = new BatchBuilder(new BatchLimits(MAX_ROWS, MAX_BYTES));
    private int nextId = 1;

    @Test
    void consecutive_transactions_share_a_batch() {
        transaction(1, 1);
        transaction(2, 2);

        List<ChangeBatch> batches = builder.seal();

        assertThat(batches).singleElement().satisfies(batch -> {
            assertThat(xids(batch)).containsExactly(1, 2);
            assertThat(batch.isUnfinished()).isFalse();
            assertThat(batch.endLsn()).isEqualTo(new Lsn(200));
            assertThat(batch.byteCount()).isEqualTo(30);
            assertThat(batch.plan()).isNotNull();
        });
        assertThat(builder.isEmpty()).isTrue();
        assertThat(builder.rows()).isZero();
        assertThat(builder.byteCount()).isZero();
    }

    @Test
    void a_full_batch_leaves_the_open_transaction_to_the_next_one() {
        transaction(1, 2);
        begin(2);
        add(2);
        assertThat(builder.isFull()).isTrue();

        List<ChangeBatch> batches = builder.seal();

        assertThat(batches)
                .singleElement()
                .satisfies(batch -> assertThat(xids(batch)).containsExactly(1));
        assertThat(builder.isFull()).isFalse();
        assertThat(builder.inTransaction()).isTrue();
        commit(2);
        assertThat(builder.seal())
                .singleElement()
                .satisfies(batch -> assertThat(batch.firstSlice().isWhole()).isTrue());
    }

    @Test
    void a_transaction_larger_than_a_batch_is_parted_behind_the_whole_ones() {
        transaction(1, 1);
        begin(2);
        add(MAX_ROWS);

        List<ChangeBatch> batches = builder.seal();

        assertThat(batches).hasSize(2);
        assertThat(xids(batches.get(0))).containsExactly(1);
        TransactionSlice part = batches.get(1).firstSlice();
        assertThat(part.xid()).isEqualTo(new Xid(2));
        assertThat(part.first()).isTrue();
        assertThat(part.steps()).hasSize(MAX_ROWS);
        assertThat(batches.get(1).isUnfinished()).isTrue();
        assertThat(batches.get(1).endLsn()).isNull();
    }

    @Test
    void the_end_of_a_parted_transaction_shares_its_batch_with_nothing() {
        begin(1);
        add(MAX_ROWS);
        builder.seal();
        add(1);
        commit(1);
        transaction(2, 1);

        List<ChangeBatch> batches = builder.seal();

        assertThat(batches).hasSize(2);
        TransactionSlice end = batches.get(0).firstSlice();
        assertThat(end.first()).isFalse();
        assertThat(end.steps()).hasSize(1);
        assertThat(batches.get(0).endLsn()).isEqualTo(new Lsn(100));
        assertThat(xids(batches.get(1))).containsExactly(2);
    }

    @Test
    void a_parted_transaction_may_end_with_nothing_left_to_do() {
        begin(1);
        add(MAX_ROWS);
        builder.seal();
        commit(1);

        assertThat(builder.seal()).singleElement().satisfies(batch -> {
            assertThat(batch.firstSlice().steps()).isEmpty();
            assertThat(batch.endLsn()).isEqualTo(new Lsn(100));
        });
    }

    @Test
    void bytes_fill_a_batch_as_well_as_rows() {
        begin(1);
        builder.add(insert(), MAX_BYTES - 1);
        assertThat(builder.isFull()).isFalse();
        builder.add(insert(), 1);
        assertThat(builder.isFull()).isTrue();
        assertThat(builder.seal()).hasSize(1);
    }

    @Test
    void one_change_larger_than_a_batch_is_taken() {
        begin(1);
        builder.add(insert(), 50 * MAX_BYTES);

        assertThat(builder.seal())
                .singleElement()
                .satisfies(batch -> assertThat(batch.byteCount()).isEqualTo(50L * MAX_BYTES));
    }

    @Test
    void a_transaction_without_steps_moves_the_progress() {
        transaction(7, 0);

        assertThat(builder.isEmpty()).isFalse();
        assertThat(builder.seal()).singleElement().satisfies(batch -> {
            assertThat(batch.endLsn()).isEqualTo(new Lsn(700));
            assertThat(batch.plan()).isEqualTo(new SetPlan(List.of()));
        });
    }

    @Test
    void a_run_of_empty_transactions_fills_a_batch() {
        for (int xid = 1; xid <= MAX_ROWS; xid++) {
            assertThat(builder.isFull()).isFalse();
            transaction(xid, 0);
        }
        assertThat(builder.isFull()).isTrue();
    }

    @Test
    void a_barrier_inside_a_transaction_seals_its_part_whatever_its_size() {
        transaction(1, 1);
        begin(2);
        add(1);

        List<ChangeBatch> batches = builder.sealAll();

        assertThat(batches).hasSize(2);
        assertThat(batches.get(1).isUnfinished()).isTrue();
        assertThat(builder.sealAll()).isEmpty();
        commit(2);
        assertThat(builder.seal())
                .singleElement()
                .satisfies(batch -> assertThat(batch.firstSlice().first()).isFalse());
    }

    @Test
    void a_transaction_that_has_no_steps_yet_is_not_parted_by_a_barrier() {
        begin(1);
        assertThat(builder.sealAll()).isEmpty();
        add(1);
        commit(1);

        assertThat(builder.seal())
                .singleElement()
                .satisfies(batch -> assertThat(batch.firstSlice().isWhole()).isTrue());
    }

    @Test
    void whole_transactions_can_be_sealed_while_another_is_open() {
        transaction(1, 1);
        begin(2);
        add(1);
        assertThat(builder.hasWholeTransactions()).isTrue();

        assertThat(builder.sealWhole()).hasSize(1);

        assertThat(builder.hasWholeTransactions()).isFalse();
        assertThat(builder.isEmpty()).isFalse();
    }

    @Test
    void a_dropped_transaction_leaves_those_before_it() {
        transaction(1, 1);
        begin(2);
        add(1);

        builder.dropOpenTransaction();

        assertThat(builder.inTransaction()).isFalse();
        assertThat(builder.seal())
                .singleElement()
                .satisfies(batch -> assertThat(xids(batch)).containsExactly(1));
    }

    @Test
    void a_cleared_builder_is_empty() {
        transaction(1, 1);
        begin(2);
        builder.clear();

        assertThat(builder.isEmpty()).isTrue();
        assertThat(builder.sealAll()).isEmpty();
    }

    @Test
    void transactions_do_not_nest() {
        assertThatIllegalStateException().isThrownBy(() -> add(1));
        begin(1);
        assertThatIllegalStateException().isThrownBy(() -> begin(2));
    }

    private void transaction(int xid, int rows) {
        begin(xid);
        add(rows);
        commit(xid);
    }

    private void begin(int xid) {
        builder.begin(new Xid(xid), new Lsn(100L * xid - 8));
    }

    private void add(int rows) {
        for (int i = 0; i < rows; i++) {
            builder.add(insert(), 10);
        }
    }

    private Change insert() {
        return Changes.insert(t, Integer.toString(nextId++), "a");
    }

    private void commit(int xid) {
        builder.commit(Changes.end(100L * xid));
    }

    private static List<Integer> xids(ChangeBatch batch) {
        return batch.transactions().stream().map(slice -> slice.xid().value()).toList();
    }
}
