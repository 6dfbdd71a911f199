package dev.pgapply.worker.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.transaction.PreparedStanding;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The steps on the target, in their order, for each way a message can find it. */
class PreparedApplierTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05Z");
    private static final Xid XID = new Xid(731);
    private static final PreparedTransaction IT = new PreparedTransaction(XID, new Lsn(0x308), TIME);
    private static final CommitPrepared COMMIT = new CommitPrepared(new Lsn(0x400), new Lsn(0x408), TIME, XID, "g'1");
    private static final RollbackPrepared ROLLBACK =
            new RollbackPrepared(IT.prepareEndLsn(), new Lsn(0x408), TIME, TIME, XID, "g'1");

    private final RecordingSession session = new RecordingSession();
    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.fixed(TIME, ZoneOffset.UTC));
    private Lsn applied = new Lsn(0x100);
    private final ApplyErrorContext context = new ApplyErrorContext("pgapply_7");
    private final TransactionApplier applier =
            new TransactionApplier(session, stats, context, (end, time, local) -> applied = end);
    private final PreparedApplier prepared =
            new PreparedApplier(session, applier, () -> applied, stats, context, (end, time, local) -> applied = end);

    private static ChangeBatch part(boolean first, boolean last) {
        TransactionSlice.End end = last ? new TransactionSlice.End(new Lsn(0x300), IT.prepareEndLsn(), TIME) : null;
        TransactionSlice slice = new TransactionSlice(XID, new Lsn(0x300), first, List.of(), end);
        return new ChangeBatch(List.of(slice), new SetPlan(List.of()), 0);
    }

    private void standing(@Nullable PreparedTransaction recorded, boolean isPrepared, boolean finished) {
        session.standing = new PreparedStanding(recorded, isPrepared, finished);
    }

    @Test
    void the_intent_comes_before_the_changes_and_the_progress_behind_the_prepare() {
        prepared.begin(IT);
        prepared.apply(part(true, false));
        prepared.apply(part(false, true));

        assertThat(session.calls)
                .containsExactly(
                        "intent 731",
                        "may prepare 731",
                        "begin",
                        "savepoint",
                        "plan",
                        "savepoint",
                        "plan",
                        "prepare 731",
                        "begin",
                        "commit 0/308");
        assertThat(prepared.isOpen()).isFalse();
        assertThat(applied).isEqualTo(new Lsn(0x308));
    }

    @Test
    void one_that_is_there_already_is_not_executed_but_its_progress_is_recorded() {
        standing(IT, true, false);

        prepared.begin(IT);
        prepared.apply(part(true, false));
        prepared.apply(part(false, true));

        assertThat(session.calls).containsExactly("begin", "commit 0/308");
    }

    @Test
    void the_progress_does_not_go_back_for_one_that_is_sent_late() {
        applied = new Lsn(0x350);

        prepared.begin(IT);
        prepared.apply(part(true, true));

        assertThat(session.calls)
                .containsExactly("intent 731", "may prepare 731", "begin", "savepoint", "plan", "prepare 731");
        assertThat(applied).isEqualTo(new Lsn(0x350));
    }

    @Test
    void of_one_that_a_worker_prepares_only_intent_and_progress_are_recorded() {
        assertThat(prepared.beginInWorker(IT)).isTrue();
        prepared.endInWorker(IT);

        assertThat(session.calls).containsExactly("intent 731", "begin", "commit 0/308");
        assertThat(applied).isEqualTo(new Lsn(0x308));
    }

    @Test
    void one_that_was_prepared_in_an_earlier_life_is_not_prepared_by_a_worker_again() {
        standing(IT, true, false);

        assertThat(prepared.beginInWorker(IT)).isFalse();
        prepared.endInWorker(IT);

        assertThat(session.calls).containsExactly("begin", "commit 0/308");
    }

    @Test
    void a_commit_prepared_is_followed_by_the_progress_which_removes_the_record() {
        standing(IT, true, false);

        prepared.commitPrepared(COMMIT);

        assertThat(session.calls).containsExactly("commit prepared 731", "begin", "forget 731", "commit 0/408");
        assertThat(stats.transactions.sum()).isEqualTo(1);
    }

    @Test
    void a_commit_prepared_that_was_done_only_has_its_progress_recorded() {
        standing(IT, false, true);

        prepared.commitPrepared(COMMIT);

        assertThat(session.calls).containsExactly("begin", "forget 731", "commit 0/408");
    }

    @Test
    void a_commit_prepared_of_something_unknown_names_the_transaction_and_changes_nothing() {
        ApplyException thrown = catchThrowableOfType(ApplyException.class, () -> prepared.commitPrepared(COMMIT));

        assertThat(thrown.kind()).isEqualTo(Kind.STATE_MISMATCH);
        assertThat(thrown.context()).isNotNull();
        assertThat(String.valueOf(thrown.context()))
                .contains("during message type \"COMMIT PREPARED\" in transaction 731, finished at 0/400");
        assertThat(session.calls).isEmpty();
    }

    @Test
    void a_rollback_prepared_is_followed_by_the_progress_which_removes_the_record() {
        standing(IT, true, false);

        prepared.rollbackPrepared(ROLLBACK);

        assertThat(session.calls).containsExactly("rollback prepared 731", "begin", "forget 731", "commit 0/408");
    }

    @Test
    void a_rollback_prepared_of_what_never_was_here_only_moves_the_progress() {
        prepared.rollbackPrepared(ROLLBACK);

        assertThat(session.calls).containsExactly("begin", "commit 0/408");
    }
}
