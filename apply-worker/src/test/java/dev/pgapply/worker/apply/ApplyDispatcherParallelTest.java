package dev.pgapply.worker.apply;

import static dev.pgapply.worker.apply.DispatcherFixture.USERS;
import static dev.pgapply.worker.apply.PublisherMessages.begin;
import static dev.pgapply.worker.apply.PublisherMessages.commit;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.apply.PublisherMessages.streamAbort;
import static dev.pgapply.worker.apply.PublisherMessages.streamCommit;
import static dev.pgapply.worker.apply.PublisherMessages.streamPrepare;
import static dev.pgapply.worker.apply.PublisherMessages.streamStart;
import static dev.pgapply.worker.apply.PublisherMessages.streamStop;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.pgoutput.StreamPrepare;
import dev.pgapply.core.spool.SpoolReader;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.spool.SpooledMessage;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.transaction.TransApplyAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the leader does with streamed transactions where there are workers. */
class ApplyDispatcherParallelTest {

    @TempDir
    private Path directory;

    private final FakeWorkers workers = new FakeWorkers();
    private DispatcherFixture fixture;

    @BeforeEach
    void start() {
        fixture = new DispatcherFixture(directory, StreamingMode.PARALLEL, 100, workers);
    }

    private void firstBlock(int xid) {
        fixture.receives(
                streamStart(xid, true),
                relation(xid, USERS, "users", "name"),
                insert(xid, USERS, "1", "ann"),
                streamStop());
    }

    private void ordinary(int xid, String lsn) {
        fixture.receives(
                begin(xid, lsn), relation(0, USERS, "users", "name"), insert(0, USERS, "9", "zoe"), commit(lsn));
    }

    private TransApplyAction action() {
        return fixture.stats.streams().get(0).action();
    }

    @Test
    void a_block_goes_to_the_worker_behind_everything_that_came_before_it() {
        ordinary(700, "0/200");

        firstBlock(731);

        assertThat(action()).isEqualTo(TransApplyAction.LEADER_SEND_TO_PARALLEL);
        assertThat(workers.calls).containsExactly("assign 731", "await 1 batch", "R", "I");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void its_commit_waits_for_what_came_before_and_everything_waits_for_it() {
        firstBlock(731);
        ordinary(700, "0/200");
        workers.calls.clear();

        fixture.receives(streamCommit(731, "0/300"));
        ordinary(740, "0/400");

        assertThat(workers.calls).containsExactly("await 1 batch", "commit 0/308");
        assertThat(fixture.positions.consumedLsn()).isEqualTo(Lsn.parse("0/408"));
        assertThat(fixture.stats.streams()).isEmpty();
    }

    @Test
    void aborts_go_to_the_worker() {
        firstBlock(731);
        workers.calls.clear();

        fixture.receives(streamAbort(731, 732), streamAbort(731, 731), streamAbort(731, 731));

        assertThat(workers.calls).containsExactly("abort 732", "rollback");
        assertThat(fixture.stats.streams()).isEmpty();
    }

    @Test
    void without_a_free_worker_it_is_spooled() {
        workers.free = false;

        firstBlock(731);

        assertThat(action()).isEqualTo(TransApplyAction.LEADER_SERIALIZE);
        assertThat(directory.resolve("7-731.changes")).isNotEmptyFile();
    }

    @Test
    void one_that_must_be_spooled_gets_no_worker() {
        workers.mustSpool = true;

        firstBlock(731);

        assertThat(action()).isEqualTo(TransApplyAction.LEADER_SERIALIZE);
        assertThat(workers.calls).isEmpty();
    }

    @Test
    void behind_a_send_that_timed_out_the_spool_takes_the_rest_and_aborts_as_messages() {
        firstBlock(731);
        workers.full = true;
        fixture.receives(streamStart(731, false), insert(732, USERS, "2", "bob"), streamStop());
        workers.full = false;

        fixture.receives(streamAbort(731, 732));
        fixture.receives(streamStart(731, false), insert(731, USERS, "3", "cid"), streamStop());
        assertThat(action()).isEqualTo(TransApplyAction.LEADER_PARTIAL_SERIALIZE);
        fixture.receives(streamCommit(731, "0/300"));

        assertThat(workers.calls).endsWith("commit 0/308 with I A I");
        assertThat(fixture.stats
                        .streamActions(TransApplyAction.LEADER_PARTIAL_SERIALIZE)
                        .sum())
                .isEqualTo(1);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void an_abort_that_finds_the_queue_full_is_the_first_in_the_spool() {
        firstBlock(731);
        workers.full = true;

        fixture.receives(streamAbort(731, 732), streamCommit(731, "0/300"));

        assertThat(workers.calls).endsWith("commit 0/308 with A");
    }

    @Test
    void a_whole_abort_deletes_what_was_spooled() {
        firstBlock(731);
        workers.full = true;
        fixture.receives(streamStart(731, false), insert(731, USERS, "2", "bob"), streamStop());

        fixture.receives(streamAbort(731, 731));

        assertThat(workers.calls).endsWith("rollback");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_transaction_that_the_target_has_is_rolled_back() {
        firstBlock(731);

        fixture.receives(streamCommit(731, "0/80"));

        assertThat(workers.calls).endsWith("rollback");
        assertThat(fixture.stats.skippedTransactions.sum()).isEqualTo(1);
    }

    @Test
    void a_prepare_is_done_by_the_worker_between_its_intent_and_its_progress() {
        startWithTwoPhase();
        firstBlock(731);
        ordinary(700, "0/200");

        fixture.receives(streamPrepare(731, "0/300"));

        assertThat(fixture.handedOver)
                .containsExactly(
                        "700 first: 9 zoe; end 0/208",
                        "intent 731 ending 0/308",
                        "worker prepares 731",
                        "prepared 731");
        assertThat(fixture.positions.consumedLsn()).isEqualTo(Lsn.parse("0/308"));
        assertThat(fixture.stats.streams()).isEmpty();
    }

    private void startWithTwoPhase() {
        fixture.spool.close();
        fixture = new DispatcherFixture(directory, StreamingMode.PARALLEL, 100, true, workers);
    }

    @Test
    void a_prepare_that_was_done_before_is_rolled_back_in_the_worker_and_recorded() {
        startWithTwoPhase();
        fixture.executePrepare = false;
        firstBlock(731);

        fixture.receives(streamPrepare(731, "0/80"));

        assertThat(workers.calls).endsWith("rollback");
        assertThat(fixture.handedOver).containsExactly("intent 731 ending 0/88", "prepared 731");
    }

    @Test
    void a_prepare_behind_a_send_that_timed_out_has_the_rest_read_from_the_spool() {
        startWithTwoPhase();
        firstBlock(731);
        workers.full = true;
        fixture.receives(streamStart(731, false), insert(732, USERS, "2", "bob"), streamStop());

        fixture.receives(streamPrepare(731, "0/300"));

        assertThat(fixture.handedOver).contains("worker prepares 731 with I");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void relations_of_the_stream_are_in_force_for_all_once_it_has_committed() {
        firstBlock(731);

        fixture.receives(streamCommit(731, "0/300"));
        fixture.receives(begin(740, "0/400"), insert(0, USERS, "9", "zoe"), commit("0/400"));

        assertThat(fixture.batches()).containsExactly("740 first: 9 zoe; end 0/408");
    }

    /** Workers that write down what they are told. */
    private final class FakeWorkers implements ParallelApplyWorkers {
        final List<String> calls = new ArrayList<>();
        boolean free = true;
        boolean mustSpool;
        boolean full;

        @Override
        public boolean mustSpool(Xid xid) {
            return mustSpool;
        }

        @Override
        public @Nullable Worker assign(Xid xid) {
            calls.add("assign " + xid);
            return free ? new FakeWorker() : null;
        }

        @Override
        public boolean awaitCommitted(BooleanSupplier givenUp) {
            int batches = fixture.sealedCount();
            calls.add("await " + batches + (batches == 1 ? " batch" : " batches"));
            return true;
        }

        @Override
        public void throwFailure() {}

        private final class FakeWorker implements Worker {

            @Override
            public int number() {
                return 1;
            }

            @Override
            public boolean send(byte[] buffer, int offset, int length, BooleanSupplier givenUp) {
                if (!full) {
                    calls.add(new String(buffer, offset, 1, StandardCharsets.US_ASCII));
                }
                return !full;
            }

            @Override
            public boolean sendAbort(Xid subxid, BooleanSupplier givenUp) {
                if (!full) {
                    calls.add("abort " + subxid);
                }
                return !full;
            }

            @Override
            public boolean commit(StreamCommit commit, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
                calls.add("commit " + commit.endLsn() + (rest == null ? "" : " with " + types(rest)));
                return true;
            }

            @Override
            public boolean prepare(StreamPrepare prepare, @Nullable SpooledChanges rest, BooleanSupplier givenUp) {
                fixture.handedOver.add(
                        "worker prepares " + prepare.xid() + (rest == null ? "" : " with " + types(rest)));
                return true;
            }

            private String types(SpooledChanges rest) {
                List<String> types = new ArrayList<>();
                try (SpoolReader reader = SpoolReader.open(rest)) {
                    for (SpooledMessage next = reader.next(); next != null; next = reader.next()) {
                        types.add(new String(next.buffer(), next.offset(), 1, StandardCharsets.US_ASCII));
                    }
                }
                return String.join(" ", types);
            }

            @Override
            public void rollback(BooleanSupplier givenUp) {
                calls.add("rollback");
            }

            @Override
            public int subxactCount() {
                return 0;
            }
        }
    }
}
