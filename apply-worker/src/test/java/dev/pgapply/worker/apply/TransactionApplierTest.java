package dev.pgapply.worker.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.AttributeMap;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.SearchKey;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransactionApplierTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05Z");
    private static final Oid INT4 = new Oid(23);
    private static final QualifiedName USERS = new QualifiedName("public", "users");
    private static final SetPlan PLAN = new SetPlan(List.of());

    private final RecordingSession session = new RecordingSession();
    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.fixed(TIME, ZoneOffset.UTC));
    private final List<Lsn> committed = new ArrayList<>();
    private final TransactionApplier applier = new TransactionApplier(
            session, stats, new ApplyErrorContext("pgapply_7"), (end, time, local) -> committed.add(end));

    @Test
    void whole_transactions_share_one_target_transaction() {
        applier.apply(batch(PLAN, whole(1, insert()), whole(2, insert())));

        assertThat(session.calls).containsExactly("begin", "plan", "commit 0/20");
        assertThat(committed).containsExactly(new Lsn(0x20));
        assertThat(stats.transactions.sum()).isEqualTo(2);
        assertThat(stats.inserts.sum()).isEqualTo(2);
    }

    @Test
    void a_batch_without_a_plan_is_applied_transaction_by_transaction() {
        applier.apply(batch(null, whole(1, insert()), whole(2, insert(), insert())));

        assertThat(session.calls).containsExactly("begin", "plan", "commit 0/10", "begin", "plan", "commit 0/20");
        assertThat(stats.transactions.sum()).isEqualTo(2);
        assertThat(stats.inserts.sum()).isEqualTo(3);
    }

    @Test
    void a_transaction_in_order_whose_outcome_is_open_is_replayed_step_by_step() {
        session.planAnswers.add(SetOutcome.REPLAY);

        applier.apply(batch(null, whole(1, insert(), insert()), whole(2, insert())));

        assertThat(session.calls)
                .containsExactly(
                        "begin",
                        "plan",
                        "rollback",
                        "begin",
                        "insert",
                        "insert",
                        "commit 0/10",
                        "begin",
                        "plan",
                        "commit 0/20");
    }

    @Test
    void a_plan_that_fails_on_data_is_rolled_back_and_replayed_exactly() {
        session.planAnswers.add(new ApplyException(Kind.CONFLICT, "duplicate key"));

        applier.apply(batch(PLAN, whole(1, insert()), whole(2, insert())));

        assertThat(session.calls)
                .containsExactly(
                        "begin",
                        "plan",
                        "rollback",
                        "begin",
                        "insert",
                        "commit 0/10",
                        "begin",
                        "insert",
                        "commit 0/20");
        assertThat(stats.exactFallbacks.sum()).isEqualTo(1);
        assertThat(stats.inserts.sum()).isEqualTo(2);
    }

    @Test
    void a_plan_whose_expectation_is_not_met_is_replayed_exactly() {
        session.planAnswers.add(SetOutcome.REPLAY);

        applier.apply(batch(PLAN, whole(1, insert())));

        assertThat(session.calls).containsExactly("begin", "plan", "rollback", "begin", "insert", "commit 0/10");
    }

    @Test
    void an_error_names_the_exact_transaction_and_keeps_those_before_it() {
        session.planAnswers.add(new ApplyException(Kind.CONFLICT, "duplicate key"));
        int[] changes = {0};
        session.onChange = change -> {
            if (++changes[0] == 2) {
                throw new ApplyException(Kind.CONFLICT, "duplicate key");
            }
            return ChangeOutcome.APPLIED;
        };
        ChangeBatch batch = batch(PLAN, whole(1, insert()), whole(2, insert()), whole(3, insert()));

        ApplyException failure = catchThrowableOfType(ApplyException.class, () -> applier.apply(batch));

        assertThat(committed).containsExactly(new Lsn(0x10));
        assertThat(session.calls).endsWith("insert", "rollback");
        assertThat(failure.context()).isNotNull();
        assertThat(failure.context().sentence())
                .isEqualTo("processing remote data for replication origin \"pgapply_7\" during message type \"INSERT\""
                        + " for replication target relation \"public.users\" in transaction 2, finished at 0/1F");
        assertThat(failure.context().finishLsn()).isEqualTo(new Lsn(0x1F));
    }

    @Test
    void a_lost_connection_is_never_answered_by_a_replay() {
        session.planAnswers.add(new ApplyException(Kind.CONNECTION, "connection reset"));

        ApplyException failure =
                catchThrowableOfType(ApplyException.class, () -> applier.apply(batch(PLAN, whole(1, insert()))));

        assertThat(failure.kind()).isEqualTo(Kind.CONNECTION);
        assertThat(session.calls).containsExactly("begin", "plan");
        assertThat(stats.transactions.sum()).isZero();
    }

    @Test
    void a_transaction_larger_than_a_batch_is_one_target_transaction_with_a_savepoint_before_each_batch() {
        applier.apply(batch(PLAN, slice(5, true, false, insert())));
        applier.apply(batch(PLAN, slice(5, false, false, insert())));
        applier.apply(batch(PLAN, slice(5, false, true, insert())));

        assertThat(session.calls)
                .containsExactly("begin", "savepoint", "plan", "savepoint", "plan", "savepoint", "plan", "commit 0/50");
        assertThat(stats.transactions.sum()).isEqualTo(1);
        assertThat(stats.inserts.sum()).isEqualTo(3);
    }

    @Test
    void only_the_failing_batch_of_a_large_transaction_is_replayed() {
        applier.apply(batch(PLAN, slice(5, true, false, insert())));
        session.planAnswers.add(SetOutcome.REPLAY);

        applier.apply(batch(PLAN, slice(5, false, true, insert())));

        assertThat(session.calls)
                .containsExactly(
                        "begin", "savepoint", "plan", "savepoint", "plan", "rollback to", "insert", "commit 0/50");
        assertThat(stats.inserts.sum()).isEqualTo(2);
    }

    @Test
    void rows_that_were_not_there_are_counted_once_they_are_committed() {
        Change update = change(Change.Kind.UPDATE);
        session.planAnswers.add(
                new SetOutcome(List.of(new SetOutcome.MissingRow(ConflictType.UPDATE_MISSING, ENTRY, TUPLE)), false));

        applier.apply(batch(PLAN, whole(1, update)));

        assertThat(stats.conflicts(ConflictType.UPDATE_MISSING).sum()).isEqualTo(1);
        assertThat(stats.updates.sum()).isEqualTo(1);
    }

    @Test
    void work_that_was_rolled_back_is_not_counted() {
        session.planAnswers.add(SetOutcome.REPLAY);
        session.onChange = change -> {
            throw new ApplyException(Kind.DATA, "value too long");
        };

        ApplyException failure =
                catchThrowableOfType(ApplyException.class, () -> applier.apply(batch(null, whole(1, insert()))));

        assertThat(failure).hasMessage("value too long");
        assertThat(stats.inserts.sum()).isZero();
        assertThat(stats.transactions.sum()).isZero();
    }

    private static final Tuple TUPLE = new Tuple(new byte[] {'t', 0, 0, 0, 1, '1'}, new int[] {0});

    private static final RelationMapEntry ENTRY = new RelationMapEntry(
            new Relation(
                    null,
                    new Oid(16384),
                    USERS,
                    ReplicaIdentity.DEFAULT,
                    List.of(new Relation.Column("id", true, INT4, -1))),
            new TargetTable(
                    USERS,
                    TargetTable.Kind.PLAIN,
                    List.of(new TargetColumn(
                            "id",
                            INT4,
                            "integer",
                            -1,
                            true,
                            false,
                            false,
                            TargetColumn.IdentityKind.NONE,
                            true,
                            false)),
                    List.of("id"),
                    List.of(),
                    false,
                    TargetTable.Triggers.NONE),
            new AttributeMap(new int[] {0}),
            new SearchKey(SearchKey.Kind.UNIQUE, List.of(0), true));

    private static Change insert() {
        return change(Change.Kind.INSERT);
    }

    private static Change change(Change.Kind kind) {
        return new Change(kind, ENTRY, null, kind == Change.Kind.DELETE ? null : TUPLE);
    }

    /** Transaction n commits at 0x(n)F-ish: its commit LSN is one below its end LSN n * 0x10. */
    private static TransactionSlice whole(int xid, Change... changes) {
        return slice(xid, true, true, changes);
    }

    private static TransactionSlice slice(int xid, boolean first, boolean last, Change... changes) {
        Lsn commitLsn = new Lsn(xid * 0x10L - 1);
        return new TransactionSlice(
                new Xid(xid),
                commitLsn,
                first,
                List.of(changes),
                last ? new TransactionSlice.End(commitLsn, new Lsn(xid * 0x10L), TIME) : null);
    }

    private static ChangeBatch batch(@org.jspecify.annotations.Nullable SetPlan plan, TransactionSlice... slices) {
        return new ChangeBatch(List.of(slices), plan, 100);
    }
}
