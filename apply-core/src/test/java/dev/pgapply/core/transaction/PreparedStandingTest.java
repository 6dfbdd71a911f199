package dev.pgapply.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.transaction.PreparedStanding.OnCommit;
import dev.pgapply.core.transaction.PreparedStanding.OnPrepare;
import dev.pgapply.core.transaction.PreparedStanding.OnRollback;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PreparedStandingTest {

    private static final Xid XID = new Xid(731);
    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.123456Z");
    private static final PreparedTransaction IT = new PreparedTransaction(XID, new Lsn(0x500), TIME);
    private static final PreparedTransaction ANOTHER = new PreparedTransaction(XID, new Lsn(0x400), TIME);
    private static final PreparedTransaction OF_ANOTHER_TIME =
            new PreparedTransaction(XID, new Lsn(0x500), TIME.plusNanos(1000));
    private static final String GID = IT.gid(7);

    private static PreparedStanding standing(
            @Nullable PreparedTransaction recorded, boolean prepared, boolean finished) {
        return new PreparedStanding(recorded, prepared, finished);
    }

    @Test
    void the_name_on_the_target_has_the_subscription_and_the_unsigned_xid() {
        assertThat(new PreparedTransaction(new Xid(-1), Lsn.ZERO, TIME).gid(16_395))
                .isEqualTo("pg_gid_16395_4294967295");
    }

    @Test
    void a_prepare_is_executed_where_nothing_is_known_of_it() {
        assertThat(standing(null, false, false).onPrepare(IT, GID)).isEqualTo(OnPrepare.EXECUTE);
    }

    @Test
    void a_prepare_that_got_no_farther_than_its_intent_is_executed() {
        assertThat(standing(IT, false, false).onPrepare(IT, GID)).isEqualTo(OnPrepare.EXECUTE);
    }

    @Test
    void a_prepare_that_comes_again_is_not_executed_again() {
        assertThat(standing(IT, true, false).onPrepare(IT, GID)).isEqualTo(OnPrepare.ALREADY_DONE);
        assertThat(standing(IT, false, true).onPrepare(IT, GID)).isEqualTo(OnPrepare.ALREADY_DONE);
    }

    @Test
    void what_is_left_of_another_transaction_with_the_xid_means_nothing() {
        assertThat(standing(ANOTHER, false, false).onPrepare(IT, GID)).isEqualTo(OnPrepare.EXECUTE);
        assertThat(standing(ANOTHER, false, true).onPrepare(IT, GID)).isEqualTo(OnPrepare.EXECUTE);
    }

    @Test
    void a_prepare_stops_where_its_name_is_taken() {
        assertThat(failure(() -> standing(null, true, false).onPrepare(IT, GID)))
                .contains("\"pg_gid_7_731\" is already in use on the target");
        assertThat(failure(() -> standing(ANOTHER, true, false).onPrepare(IT, GID)))
                .contains("prepared as of 0/400; the publisher's is of 0/500");
    }

    @Test
    void a_commit_prepared_commits_what_is_prepared() {
        assertThat(standing(IT, true, false).onCommit(XID, GID)).isEqualTo(OnCommit.COMMIT);
    }

    @Test
    void a_commit_prepared_that_comes_again_is_recognised() {
        assertThat(standing(IT, false, true).onCommit(XID, GID)).isEqualTo(OnCommit.ALREADY_DONE);
    }

    @Test
    void a_commit_prepared_of_something_unknown_is_an_error() {
        String expected = "prepared transaction with identifier \"pg_gid_7_731\" does not exist";

        assertThat(failure(() -> standing(null, false, false).onCommit(XID, GID)))
                .contains(expected);
        assertThat(failure(() -> standing(IT, false, false).onCommit(XID, GID))).contains(expected);
        assertThat(failure(() -> standing(null, true, false).onCommit(XID, GID)))
                .contains(expected + " as one of this subscription");
    }

    @Test
    void a_rollback_prepared_needs_the_same_position_and_time() {
        assertThat(standing(IT, true, false).onRollback(IT, GID)).isEqualTo(OnRollback.ROLL_BACK);
        assertThat(standing(ANOTHER, true, false).onRollback(IT, GID)).isEqualTo(OnRollback.IGNORE);
        assertThat(standing(OF_ANOTHER_TIME, true, false).onRollback(IT, GID)).isEqualTo(OnRollback.IGNORE);
    }

    @Test
    void a_rollback_prepared_of_what_never_was_here_is_ignored() {
        assertThat(standing(null, false, false).onRollback(IT, GID)).isEqualTo(OnRollback.IGNORE);
    }

    @Test
    void a_rollback_prepared_that_comes_again_only_removes_the_record() {
        assertThat(standing(IT, false, false).onRollback(IT, GID)).isEqualTo(OnRollback.ALREADY_DONE);
    }

    @Test
    void a_rollback_prepared_of_what_is_committed_here_stops() {
        assertThat(failure(() -> standing(IT, false, true).onRollback(IT, GID)))
                .contains("somebody committed it on the target as \"pg_gid_7_731\"");
    }

    private static String failure(Runnable decision) {
        ApplyException thrown = catchThrowableOfType(ApplyException.class, decision::run);
        assertThat(thrown.kind()).isEqualTo(Kind.STATE_MISMATCH);
        return thrown.getMessage();
    }
}
