package dev.pgapply.worker.jdbc;

import dev.pgapply.core.Oid;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.pgoutput.TupleBuilder;
import dev.pgapply.core.relation.TargetColumn;
import java.nio.charset.StandardCharsets;
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

/**
 * What encoding one row for COPY costs, and for an array parameter. Run with
 * {@code mvn -B -Dquick -Pjmh -pl apply-core,apply-worker -DskipTests test-compile exec:exec -Dbenchmarks='Decoder|CopyEncoder'}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class CopyEncoderBenchmark {

    private static final int ROWS = 1_000;

    /** As many text columns of eight bytes. */
    @Param({"4", "20"})
    int columns;

    private final CopyBuffer buffer = new CopyBuffer(64 * 1024);
    private final CopyEncoder text = new CopyTextEncoder();
    private final CopyEncoder binary = new CopyBinaryEncoder();
    private List<BoundColumn> bound = List.of();
    private List<Tuple> textRows = List.of();
    private List<Tuple> binaryRows = List.of();

    @Setup
    public void setUp() {
        bound = new ArrayList<>();
        for (int i = 0; i < columns; i++) {
            TargetColumn local = new TargetColumn(
                    "c" + i, new Oid(25), "text", -1, false, false, false, TargetColumn.IdentityKind.NONE, true, false);
            bound.add(new BoundColumn(
                    i, new Oid(25), local, new TypeFacts(25, "text", true, true, "=", "text", "_text")));
        }
        textRows = new ArrayList<>();
        binaryRows = new ArrayList<>();
        for (int row = 0; row < ROWS; row++) {
            TupleBuilder asText = new TupleBuilder();
            TupleBuilder asBinary = new TupleBuilder();
            for (int i = 0; i < columns; i++) {
                asText.text("12345678");
                asBinary.binary("12345678".getBytes(StandardCharsets.UTF_8));
            }
            textRows.add(asText.build());
            binaryRows.add(asBinary.build());
        }
    }

    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int copyText() {
        return encode(text, textRows);
    }

    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int copyBinary() {
        return encode(binary, binaryRows);
    }

    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int arrays() {
        int length = 0;
        for (int column = 0; column < columns; column++) {
            ArrayParameter array = new ArrayParameter(ElementType.TEXT, textRows, column);
            byte[] bytes = new byte[array.lengthInBytes()];
            array.toBytes(bytes, 0);
            length += bytes.length;
        }
        return length;
    }

    private int encode(CopyEncoder encoder, List<Tuple> rows) {
        int length = 0;
        buffer.clear();
        for (Tuple row : rows) {
            encoder.append(row, bound, buffer);
            if (buffer.length() >= 64 * 1024) {
                length += buffer.length();
                buffer.clear();
            }
        }
        return length + buffer.length();
    }
}
