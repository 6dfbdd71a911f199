package dev.pgapply.core.batch;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.pgoutput.TupleBuilder;
import dev.pgapply.core.relation.RelationFixture;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.RelationMapping;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.jspecify.annotations.Nullable;

/**
 * What finding the net effect costs for one change, in a batch of 20,000. Run with
 * {@code mvn -B -Dquick -Pjmh -pl apply-core -DskipTests test-compile exec:exec -Dbenchmarks=Compaction}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class CompactionBenchmark {

    private static final int CHANGES = 20_000;

    /** Changes of a transaction; 4 are TPC-B's. */
    private static final int CHANGES_OF_ONE = 4;

    /** How many rows the updates hit: 10 as pgbench_branches at scale 10, 1,000,000 as pgbench_accounts. */
    @Param({"10", "1000000"})
    int rows;

    @Param({"text", "binary"})
    String format = "";

    private List<TransactionSlice> inserts = List.of();
    private List<TransactionSlice> updates = List.of();

    @Setup
    public void setUp() {
        RelationFixture fixture = RelationFixture.keyed("accounts", "balance", "filler");
        RelationMapEntry relation = RelationMapping.map(
                fixture.remote(), fixture.target(), fixture.target().name());
        inserts = transactions(relation, Change.Kind.INSERT);
        updates = transactions(relation, Change.Kind.UPDATE);
    }

    private List<TransactionSlice> transactions(RelationMapEntry relation, Change.Kind kind) {
        List<TransactionSlice> transactions = new ArrayList<>();
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < CHANGES; i++) {
            int key = kind == Change.Kind.INSERT ? i : (int) (i * 7_919L % rows);
            steps.add(new Change(kind, relation, null, row(key)));
            if (steps.size() == CHANGES_OF_ONE) {
                Lsn lsn = new Lsn(0x100 + i);
                transactions.add(new TransactionSlice(
                        new Xid(i + 1), lsn, true, steps, new TransactionSlice.End(lsn, lsn, Instant.EPOCH)));
                steps = new ArrayList<>();
            }
        }
        return transactions;
    }

    private Tuple row(int key) {
        if (format.equals("text")) {
            return TupleBuilder.ofText(Integer.toString(key), "1", "filler");
        }
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES).putInt(key).array();
        return new TupleBuilder().binary(bytes).text("1").text("filler").build();
    }

    @Benchmark
    @OperationsPerInvocation(CHANGES)
    public @Nullable SetPlan insert() {
        return Compaction.plan(inserts);
    }

    @Benchmark
    @OperationsPerInvocation(CHANGES)
    public @Nullable SetPlan update() {
        return Compaction.plan(updates);
    }
}
