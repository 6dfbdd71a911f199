package dev.pgapply.worker.apply;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchBuilder;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.batch.Change;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.Step;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.pgoutput.CommitPrepared;
import dev.pgapply.core.pgoutput.Relation;
import dev.pgapply.core.pgoutput.RollbackPrepared;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.spool.SpoolDirectory;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.Target;
import dev.pgapply.core.target.TargetSession;
import dev.pgapply.core.transaction.PreparedTransaction;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A dispatcher over a target with table {@code public.users} (id, name, mail), and the batches that it has sealed. */
final class DispatcherFixture {

    static final int USERS = 16_385;

    private static final QualifiedName NAME = new QualifiedName("public", "users");

    final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    final SpoolDirectory spool;
    final TableHolds holds;
    final ApplyDispatcher dispatcher;
    final AppliedPositions positions = new AppliedPositions(new Lsn(0x100), stats);
    boolean givenUp;

    /** What was handed over, in its order: batches as {@link #batches} shows them, and the steps of prepared transactions. */
    final List<String> handedOver = new ArrayList<>();

    private final List<ChangeBatch> sealed = new ArrayList<>();

    DispatcherFixture(Path directory, StreamingMode streaming, int maxRows) {
        this(directory, streaming, maxRows, false, ParallelApplyWorkers.NONE);
    }

    DispatcherFixture(Path directory, StreamingMode streaming, int maxRows, boolean twoPhase) {
        this(directory, streaming, maxRows, twoPhase, ParallelApplyWorkers.NONE);
    }

    DispatcherFixture(Path directory, StreamingMode streaming, int maxRows, ParallelApplyWorkers workers) {
        this(directory, streaming, maxRows, false, workers);
    }

    /** What the target says of a transaction that a worker is to prepare: false if it was prepared before. */
    boolean executePrepare = true;

    DispatcherFixture(
            Path directory, StreamingMode streaming, int maxRows, boolean twoPhase, ParallelApplyWorkers workers) {
        BatchBuilder batch = new BatchBuilder(new BatchLimits(maxRows, 1 << 20));
        spool = SpoolDirectory.open(directory, 7, 0);
        OpenRelations relations = new OpenRelations(new DescribedTarget(), () -> 0, entry -> {});
        holds = new TableHolds(tables(), spool);
        dispatcher = new ApplyDispatcher(
                "pgapply_7",
                batch,
                relations,
                holds,
                new StreamedChanges(streaming, spool, workers, holds, relations, positions, stats),
                new PreparedTransactions(twoPhase, batch, new WrittenDown(), positions.appliedLsn(), stats),
                positions,
                stats,
                this::sealed);
    }

    /** The one table, ready. */
    static SubscribedTables tables() {
        return new SubscribedTables(Map.of(NAME, new SubscribedTables.Entry(TableSyncState.READY, null)));
    }

    /** A target that describes the one table. */
    static Target target() {
        return new DescribedTarget();
    }

    /** How many batches were handed over. */
    int sealedCount() {
        return sealed.size();
    }

    /** The messages arrive, one after the other. */
    DispatcherFixture receives(byte[]... messages) {
        for (byte[] message : messages) {
            dispatcher.dispatch(message, 0, message.length, () -> givenUp);
        }
        return this;
    }

    /**
     * What has been sealed, after sealing what is whole: a line a slice, such as {@code 731 first: 1 ann, 2 bob; end 0/208}; the values
     * stand as {@code column=value} where they belong to another column than id and name.
     */
    List<String> batches() {
        dispatcher.sealWhole();
        return sealed.stream().map(DispatcherFixture::show).toList();
    }

    private void sealed(ChangeBatch batch) {
        sealed.add(batch);
        handedOver.add(show(batch));
    }

    private static String show(ChangeBatch batch) {
        return batch.transactions().stream().map(DispatcherFixture::show).collect(Collectors.joining(" | "));
    }

    /** Takes the steps of prepared transactions. */
    private final class WrittenDown implements PreparedTransactions.Sink {

        @Override
        public void beginPrepare(PreparedTransaction transaction) {
            handedOver.add("begin prepare " + transaction.xid() + " ending " + transaction.prepareEndLsn());
        }

        @Override
        public Boolean beginPrepareInWorker(PreparedTransaction transaction, BooleanSupplier givenUp) {
            handedOver.add("intent " + transaction.xid() + " ending " + transaction.prepareEndLsn());
            return executePrepare;
        }

        @Override
        public void preparedInWorker(PreparedTransaction transaction) {
            handedOver.add("prepared " + transaction.xid());
        }

        @Override
        public void commitPrepared(CommitPrepared message) {
            handedOver.add("commit prepared " + message.xid());
        }

        @Override
        public void rollbackPrepared(RollbackPrepared message) {
            handedOver.add("rollback prepared " + message.xid() + " of " + message.prepareEndLsn());
        }
    }

    private static String show(TransactionSlice slice) {
        TransactionSlice.End end = slice.end();
        return slice.xid()
                + (slice.first() ? " first: " : ": ")
                + slice.steps().stream().map(DispatcherFixture::show).collect(Collectors.joining(", "))
                + (end == null ? "" : "; end " + end.endLsn());
    }

    private static String show(Step step) {
        Change change = (Change) step;
        Tuple tuple = change.newTuple();
        if (tuple == null) {
            return change.kind().name();
        }
        List<String> values = new ArrayList<>();
        List<Relation.Column> columns = change.relation().remote().columns();
        for (int i = 0; i < columns.size(); i++) {
            String text = String.valueOf(tuple.text(i));
            String column = columns.get(i).name();
            values.add(column.equals("id") || column.equals("name") ? text : column + "=" + text);
        }
        return String.join(" ", values);
    }

    /** Describes the one table; nobody asks it for a session. */
    private static final class DescribedTarget implements Target {

        @Override
        public @Nullable TargetTable describe(QualifiedName name) {
            List<TargetColumn> columns = Stream.of("id", "name", "mail")
                    .map(column -> new TargetColumn(
                            column,
                            new Oid(25),
                            "pg_catalog.text",
                            -1,
                            false,
                            false,
                            false,
                            TargetColumn.IdentityKind.NONE,
                            true,
                            false))
                    .toList();
            return name.equals(NAME)
                    ? new TargetTable(
                            name,
                            TargetTable.Kind.PLAIN,
                            columns,
                            List.of("id"),
                            List.of(),
                            false,
                            TargetTable.Triggers.NONE)
                    : null;
        }

        @Override
        public TargetSession openSession(String role) {
            throw new UnsupportedOperationException("no session is opened by a dispatcher");
        }

        @Override
        public TargetSession openParallelSession(int applySession) {
            throw new UnsupportedOperationException("no session is opened by a dispatcher");
        }
    }
}
