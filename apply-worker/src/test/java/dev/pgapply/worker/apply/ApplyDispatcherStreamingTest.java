package dev.pgapply.worker.apply;

import static dev.pgapply.worker.apply.DispatcherFixture.USERS;
import static dev.pgapply.worker.apply.PublisherMessages.begin;
import static dev.pgapply.worker.apply.PublisherMessages.commit;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.apply.PublisherMessages.streamAbort;
import static dev.pgapply.worker.apply.PublisherMessages.streamCommit;
import static dev.pgapply.worker.apply.PublisherMessages.streamStart;
import static dev.pgapply.worker.apply.PublisherMessages.streamStop;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.transaction.TransApplyAction;
import dev.pgapply.worker.stats.StreamProgress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApplyDispatcherStreamingTest {

    @TempDir
    private Path directory;

    private DispatcherFixture fixture;

    @BeforeEach
    void start() {
        fixture = new DispatcherFixture(directory, StreamingMode.ON, 100);
    }

    /** A first block of a transaction with the relation and one row. */
    private DispatcherFixture firstBlock(int xid, String id, String name) {
        return fixture.receives(
                streamStart(xid, true),
                relation(xid, USERS, "users", "name"),
                insert(xid, USERS, id, name),
                streamStop());
    }

    private DispatcherFixture block(int xid, int subxid, String id, String name) {
        return fixture.receives(streamStart(xid, false), insert(subxid, USERS, id, name), streamStop());
    }

    private ApplyException failureOf(byte[]... messages) {
        ApplyException failure = catchThrowableOfType(ApplyException.class, () -> fixture.receives(messages));
        assertThat(failure).isNotNull();
        return failure;
    }

    @Test
    void a_streamed_transaction_is_spooled_until_it_commits() {
        firstBlock(731, "1", "ann");

        assertThat(fixture.batches()).isEmpty();
        assertThat(directory.resolve("7-731.changes")).isNotEmptyFile();
        assertThat(fixture.positions.consumedLsn()).isEqualTo(new Lsn(0x100));
    }

    @Test
    void at_its_commit_it_becomes_one_transaction_like_any_other() {
        firstBlock(731, "1", "ann");
        block(731, 731, "2", "bob");

        fixture.receives(streamCommit(731, "0/200"));

        assertThat(fixture.batches()).containsExactly("731 first: 1 ann, 2 bob; end 0/208");
        assertThat(fixture.positions.consumedLsn()).isEqualTo(Lsn.parse("0/208"));
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void blocks_and_ordinary_transactions_interleave() {
        firstBlock(731, "1", "ann");
        firstBlock(740, "2", "bob");
        fixture.receives(
                begin(745, "0/200"),
                relation(0, USERS, "users", "name"),
                insert(0, USERS, "3", "cid"),
                commit("0/200"));
        block(731, 731, "4", "dan");

        fixture.receives(streamCommit(740, "0/300"), streamCommit(731, "0/400"));

        assertThat(fixture.batches())
                .containsExactly("745 first: 3 cid; end 0/208 | 740 first: 2 bob; end 0/308"
                        + " | 731 first: 1 ann, 4 dan; end 0/408");
    }

    @Test
    void an_aborted_subtransaction_is_not_replayed() {
        firstBlock(731, "1", "ann");
        block(731, 732, "2", "bob");

        fixture.receives(streamAbort(731, 732));
        block(731, 731, "3", "cid");
        fixture.receives(streamCommit(731, "0/200"));

        assertThat(fixture.batches()).containsExactly("731 first: 1 ann, 3 cid; end 0/208");
    }

    @Test
    void an_aborted_transaction_leaves_nothing() {
        firstBlock(731, "1", "ann");

        fixture.receives(streamAbort(731, 731));

        assertThat(fixture.batches()).isEmpty();
        assertThat(directory).isEmptyDirectory();
        assertThat(fixture.stats.streams()).isEmpty();
    }

    @Test
    void an_abort_of_what_is_not_known_is_ignored() {
        fixture.receives(streamAbort(731, 731), streamAbort(731, 732));

        assertThat(fixture.batches()).isEmpty();
    }

    @Test
    void what_a_stream_says_of_a_relation_counts_for_others_when_it_has_committed() {
        fixture.receives(begin(700, "0/110"), relation(0, USERS, "users", "name"), commit("0/110"));
        fixture.receives(
                streamStart(731, true),
                relation(731, USERS, "users", "mail"),
                insert(731, USERS, "1", "a@x"),
                streamStop());
        fixture.receives(begin(745, "0/200"), insert(0, USERS, "2", "bob"), commit("0/200"));

        fixture.receives(streamCommit(731, "0/300"));
        fixture.receives(begin(746, "0/400"), insert(0, USERS, "3", "c@x"), commit("0/400"));

        assertThat(fixture.batches())
                .containsExactly(
                        "700 first: ; end 0/118 | 745 first: 2 bob; end 0/208",
                        "731 first: 1 mail=a@x; end 0/308",
                        "746 first: 3 mail=c@x; end 0/408");
    }

    @Test
    void what_an_aborted_stream_says_of_a_relation_counts_for_nobody() {
        fixture.receives(begin(700, "0/110"), relation(0, USERS, "users", "name"), commit("0/110"));
        fixture.receives(streamStart(731, true), relation(731, USERS, "users", "mail"), streamStop());

        fixture.receives(streamAbort(731, 731));
        fixture.receives(begin(745, "0/200"), insert(0, USERS, "2", "bob"), commit("0/200"));

        assertThat(fixture.batches()).containsExactly("700 first: ; end 0/118 | 745 first: 2 bob; end 0/208");
    }

    @Test
    void a_transaction_larger_than_a_batch_is_replayed_in_parts() {
        fixture = new DispatcherFixture(directory, StreamingMode.ON, 2);
        firstBlock(731, "1", "ann");
        block(731, 732, "2", "bob");
        block(731, 733, "3", "cid");

        fixture.receives(streamCommit(731, "0/200"));

        assertThat(fixture.batches()).containsExactly("731 first: 1 ann, 2 bob", "731: 3 cid; end 0/208");
    }

    @Test
    void a_transaction_that_the_target_has_already_is_skipped() {
        firstBlock(731, "1", "ann");

        fixture.receives(streamCommit(731, "0/F0"));

        assertThat(fixture.batches()).isEmpty();
        assertThat(fixture.stats.skippedTransactions.sum()).isEqualTo(1);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_replay_that_is_given_up_commits_nothing() {
        firstBlock(731, "1", "ann");
        fixture.givenUp = true;

        fixture.receives(streamCommit(731, "0/200"));

        assertThat(fixture.batches()).isEmpty();
        assertThat(fixture.dispatcher.inTransaction()).isTrue();
        assertThat(fixture.positions.consumedLsn()).isEqualTo(new Lsn(0x100));
    }

    @Test
    void the_streams_in_progress_are_shown() {
        firstBlock(731, "1", "ann");
        block(731, 732, "2", "bob");

        StreamProgress stream = fixture.stats.streams().get(0);

        assertThat(fixture.stats.streams()).hasSize(1);
        assertThat(stream)
                .isEqualTo(new StreamProgress(
                        new Xid(731), TransApplyAction.LEADER_SERIALIZE, null, fixture.spool.byteCount(), 2, 1));
        assertThat(stream.spoolFiles()).isEqualTo(2);
        assertThat(fixture.stats
                        .streamActions(TransApplyAction.LEADER_SERIALIZE)
                        .sum())
                .isEqualTo(1);
    }

    @Test
    void a_violation_inside_a_block_names_message_and_transaction() {
        fixture.receives(streamStart(731, true));

        ApplyException failure = failureOf(begin(740, "0/200"));

        assertThat(failure.kind()).isEqualTo(Kind.PROTOCOL_VIOLATION);
        assertThat(failure)
                .hasMessage("BEGIN message without STREAM STOP: transaction 740 in a stream block of transaction 731");
        assertThat(failure.context())
                .isNotNull()
                .satisfies(context -> assertThat(context.sentence())
                        .isEqualTo(
                                "processing remote data for replication origin \"pgapply_7\" during message type \"BEGIN\""
                                        + " in transaction 731"));
    }

    @Test
    void a_stop_without_a_start_is_a_violation() {
        assertThat(failureOf(streamStop())).hasMessage("STREAM STOP message without STREAM START");
    }

    @Test
    void a_change_without_an_xid_is_a_violation() {
        fixture.receives(streamStart(731, true));

        assertThat(failureOf(new byte[] {'I', 0, 0}))
                .hasMessage("insufficient data left in INSERT message: no transaction ID in a stream block");
        assertThat(failureOf(insert(0x0000_0000, 0, "x")))
                .hasMessage("invalid transaction ID in streamed replication transaction 731");
    }

    @Test
    void an_error_of_the_replay_names_the_change_and_the_finish_lsn() {
        fixture.receives(
                streamStart(731, true),
                relation(731, USERS, "users", "name", "phone"),
                insert(732, USERS, "1", "ann", "555"),
                streamStop());

        ApplyException failure = failureOf(streamCommit(731, "0/200"));

        assertThat(failure.kind()).isEqualTo(Kind.SCHEMA_MISMATCH);
        assertThat(failure.context())
                .isNotNull()
                .satisfies(
                        context -> assertThat(context.sentence())
                                .isEqualTo(
                                        "processing remote data for replication origin \"pgapply_7\" during message type \"INSERT\""
                                                + " for replication target relation \"public.users\" in transaction 731, finished at 0/200"));
    }

    @Test
    void a_damaged_spool_stops_before_anything_of_the_transaction_is_whole() throws IOException {
        firstBlock(731, "1", "ann");
        Files.write(directory.resolve("7-731.changes"), new byte[3]);

        ApplyException failure = failureOf(streamCommit(731, "0/200"));

        assertThat(failure.kind()).isEqualTo(Kind.SPOOL_FAILED);
        assertThat(failure).hasMessageContaining("7-731.changes").hasMessageContaining("transaction 731");
        assertThat(fixture.batches()).isEmpty();
    }

    @Test
    void a_stream_that_nobody_asked_for_is_refused() {
        fixture = new DispatcherFixture(directory, StreamingMode.OFF, 100);

        assertThat(failureOf(streamStart(731, true)))
                .hasMessage("the publisher sent STREAM START although streaming was not asked for");
    }
}
