package dev.pgapply.core.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Xid;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class StreamedTransactionsTest {

    private static final Xid A = new Xid(731);
    private static final Xid B = new Xid(740);
    private static final Xid SUBXACT = new Xid(732);

    private final StreamedTransactions transactions = new StreamedTransactions();

    private StreamedTransaction startFirst(Xid xid) {
        return transactions.start(xid, true, null, () -> TransApplyAction.LEADER_SERIALIZE);
    }

    private StreamedTransaction startAgain(Xid xid) {
        return transactions.start(xid, false, null, () -> {
            throw new AssertionError("the action is decided in the first segment");
        });
    }

    private static void assertViolation(ThrowingCallable call, String message) {
        assertThatExceptionOfType(ApplyException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.kind()).isEqualTo(Kind.PROTOCOL_VIOLATION))
                .withMessage(message);
    }

    @Test
    void blocks_of_two_transactions_interleave() {
        StreamedTransaction a = startFirst(A);
        transactions.stop();
        StreamedTransaction b = startFirst(B);
        transactions.stop();
        startAgain(A);

        assertThat(transactions.block()).isSameAs(a);
        assertThat(a.segments()).isEqualTo(2);
        assertThat(a.state()).isEqualTo(StreamedTransaction.State.BLOCK_OPEN);
        assertThat(b.segments()).isEqualTo(1);
        assertThat(b.state()).isEqualTo(StreamedTransaction.State.BETWEEN_BLOCKS);
        assertThat(transactions.inProgress()).containsExactly(a, b);
    }

    @Test
    void a_change_belongs_to_the_transaction_whose_block_is_open() {
        StreamedTransaction a = startFirst(A);

        assertThat(transactions.change("INSERT", SUBXACT)).isSameAs(a);
    }

    @Test
    void a_commit_ends_the_transaction_and_forgets_it() {
        StreamedTransaction a = startFirst(A);
        transactions.stop();

        StreamedTransaction ended = transactions.end("STREAM COMMIT", A);

        assertThat(ended).isSameAs(a);
        assertThat(ended.state()).isEqualTo(StreamedTransaction.State.ENDED);
        assertThat(transactions.isEmpty()).isTrue();
    }

    @Test
    void an_abort_of_the_toplevel_transaction_ends_it() {
        StreamedTransaction a = startFirst(A);
        transactions.stop();

        assertThat(transactions.abort(A, A)).isSameAs(a);
        assertThat(transactions.isEmpty()).isTrue();
    }

    @Test
    void an_abort_of_a_subtransaction_leaves_the_transaction_in_progress() {
        StreamedTransaction a = startFirst(A);
        transactions.stop();

        assertThat(transactions.abort(A, SUBXACT)).isSameAs(a);
        assertThat(transactions.inProgress()).containsExactly(a);
    }

    @Test
    void an_abort_of_what_is_not_known_is_ignored() {
        assertThat(transactions.abort(A, A)).isNull();
        assertThat(transactions.abort(A, SUBXACT)).isNull();
    }

    @Test
    void a_start_inside_a_block_is_a_violation() {
        startFirst(A);

        assertViolation(
                () -> startFirst(B),
                "duplicate STREAM START message: transaction 740 in a stream block of transaction 731");
    }

    @Test
    void a_start_inside_an_ordinary_transaction_is_a_violation() {
        assertViolation(
                () -> transactions.start(A, true, B, () -> TransApplyAction.LEADER_SERIALIZE),
                "STREAM START message of transaction 731 inside transaction 740");
    }

    @Test
    void a_first_segment_of_a_known_transaction_is_a_violation() {
        startFirst(A);
        transactions.stop();

        assertViolation(() -> startFirst(A), "first segment of transaction 731 came twice");
    }

    @Test
    void a_later_segment_of_an_unknown_transaction_is_a_violation() {
        assertViolation(() -> startAgain(A), "first segment of transaction 731 is missing");
    }

    @Test
    void a_stop_without_a_start_is_a_violation() {
        assertViolation(transactions::stop, "STREAM STOP message without STREAM START");
    }

    @Test
    void a_change_outside_a_block_is_a_violation() {
        assertViolation(() -> transactions.change("INSERT", A), "INSERT message outside a stream block");
    }

    @Test
    void a_change_without_an_xid_is_a_violation() {
        startFirst(A);

        assertViolation(
                () -> transactions.change("INSERT", null),
                "invalid transaction ID in streamed replication transaction 731");
        assertViolation(
                () -> transactions.change("INSERT", new Xid(0)),
                "invalid transaction ID in streamed replication transaction 731");
    }

    @Test
    void a_commit_inside_a_block_is_a_violation() {
        startFirst(A);

        assertViolation(
                () -> transactions.end("STREAM COMMIT", A),
                "STREAM COMMIT message without STREAM STOP: transaction 731 in a stream block of transaction 731");
    }

    @Test
    void an_abort_inside_a_block_is_a_violation() {
        startFirst(A);

        assertViolation(
                () -> transactions.abort(B, B),
                "STREAM ABORT message without STREAM STOP: transaction 740 in a stream block of transaction 731");
    }

    @Test
    void an_ordinary_transaction_inside_a_block_is_a_violation() {
        startFirst(A);

        assertViolation(
                () -> transactions.requireNoBlock("BEGIN", B),
                "BEGIN message without STREAM STOP: transaction 740 in a stream block of transaction 731");
    }

    @Test
    void a_commit_of_an_unknown_transaction_is_a_violation() {
        assertViolation(
                () -> transactions.end("STREAM COMMIT", A),
                "STREAM COMMIT message of transaction 731, which is not being streamed");
    }

    @Test
    void a_send_that_timed_out_moves_to_partial_serialize_and_stays_there() {
        StreamedTransaction a = transactions.start(A, true, null, () -> TransApplyAction.LEADER_SEND_TO_PARALLEL);

        a.sendTimedOut();

        assertThat(a.action()).isEqualTo(TransApplyAction.LEADER_PARTIAL_SERIALIZE);
        assertThatIllegalStateException().isThrownBy(a::sendTimedOut);
    }

    @Test
    void a_streamed_transaction_does_not_begin_with_another_action() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transactions.start(A, true, null, () -> TransApplyAction.LEADER_APPLY));
    }
}
