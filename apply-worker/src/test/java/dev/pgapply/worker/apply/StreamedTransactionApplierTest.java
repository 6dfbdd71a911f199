package dev.pgapply.worker.apply;

import static dev.pgapply.worker.apply.DispatcherFixture.USERS;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.apply.PublisherMessages.streamAbort;
import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.pgoutput.StreamCommit;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.spool.SpoolWriter;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamedTransactionApplierTest {

    private static final Xid XID = new Xid(731);
    private static final StreamCommit COMMIT =
            new StreamCommit(XID, new Lsn(0x200), new Lsn(0x208), Instant.parse("2026-01-02T03:04:05Z"));

    private final RecordingSession session = new RecordingSession();
    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    private final StreamedTransactionApplier applier = new StreamedTransactionApplier(
            7,
            false,
            "pgapply_7",
            session,
            new BatchLimits(4, 1 << 20),
            new OpenRelations(DispatcherFixture.target(), () -> 0, entry -> {}),
            DispatcherFixture::tables,
            stats);

    @BeforeEach
    void begin() {
        applier.begin(XID);
        apply(relation(731, USERS, "users", "name"));
    }

    private void apply(byte[]... messages) {
        for (byte[] message : messages) {
            applier.apply(message, 0, message.length);
        }
    }

    private void commit() {
        assertThat(applier.commit(COMMIT, null, () -> false)).isNotNull();
    }

    @Test
    void changes_are_batched_inside_one_target_transaction() {
        for (int i = 0; i < 5; i++) {
            apply(insert(731, USERS, Integer.toString(i), "ann"));
        }
        commit();

        assertThat(session.calls).containsExactly("begin", "savepoint", "plan", "savepoint", "plan", "commit 0/208");
        assertThat(stats.inserts.sum()).isEqualTo(5);
        assertThat(stats.transactions.sum()).isEqualTo(1);
    }

    @Test
    void a_batch_never_spans_a_savepoint() {
        apply(insert(731, USERS, "1", "ann"), insert(732, USERS, "2", "bob"), insert(732, USERS, "3", "cid"));
        apply(insert(731, USERS, "4", "dan"));
        commit();

        assertThat(session.calls)
                .containsExactly(
                        "begin", "savepoint", "plan", "savepoint pg_sp_7_732", "savepoint", "plan", "commit 0/208");
    }

    @Test
    void an_aborted_subtransaction_is_undone_and_not_counted() {
        apply(insert(731, USERS, "1", "ann"), insert(732, USERS, "2", "bob"));
        applier.applyPending();
        apply(insert(733, USERS, "3", "cid"));

        applier.abortSubtransaction(new Xid(732));
        assertThat(applier.subxactCount()).isZero();
        applier.abortSubtransaction(new Xid(733));
        apply(insert(731, USERS, "4", "dan"));
        commit();

        assertThat(session.calls)
                .containsExactly(
                        "begin",
                        "savepoint",
                        "plan",
                        "savepoint pg_sp_7_732",
                        "savepoint",
                        "plan",
                        "savepoint pg_sp_7_733",
                        "rollback to pg_sp_7_732",
                        "savepoint",
                        "plan",
                        "commit 0/208");
        assertThat(stats.inserts.sum()).isEqualTo(2);
    }

    @Test
    void the_rest_is_read_from_the_spool_with_the_aborts_in_it(@TempDir Path directory) {
        apply(insert(732, USERS, "2", "bob"));
        try (SpoolDirectory spool = SpoolDirectory.open(directory, 7, 0)) {
            SpoolWriter writer = spool.create(XID);
            writer.openBlock();
            for (byte[] message :
                    new byte[][] {insert(732, USERS, "3", "cid"), streamAbort(731, 732), insert(731, USERS, "4", "dan")
                    }) {
                writer.append(message, 0, message.length);
            }
            writer.closeBlock();

            assertThat(applier.commit(COMMIT, writer.contents(), () -> false)).isNotNull();
        }

        assertThat(session.calls)
                .containsExactly(
                        "begin",
                        "savepoint pg_sp_7_732",
                        "rollback to pg_sp_7_732",
                        "savepoint",
                        "plan",
                        "commit 0/208");
        assertThat(stats.inserts.sum()).isEqualTo(1);
    }

    @Test
    void after_a_rollback_the_next_transaction_starts_from_nothing() {
        apply(insert(732, USERS, "2", "bob"));
        applier.applyPending();
        applier.rollback();

        applier.begin(new Xid(740));
        apply(relation(740, USERS, "users", "name"), insert(740, USERS, "1", "ann"));
        commit();

        assertThat(session.calls).containsSubsequence("rollback", "begin", "savepoint", "plan", "commit 0/208");
        assertThat(stats.inserts.sum()).isEqualTo(1);
    }
}
