package dev.pgapply.core.pgoutput;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What decoding one row costs. Run with
 * {@code mvn -B -Dquick -Pjmh -pl apply-core -DskipTests test-compile exec:exec}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class PgOutputDecoderBenchmark {

    /** As many text columns of eight bytes; four are a row of pgbench_accounts. */
    @Param({"4", "20"})
    int columns;

    private final PgOutputDecoder decoder = new PgOutputDecoder();
    private byte[] insert = {};
    private byte[] update = {};

    @Setup
    public void setUp() {
        insert = row(MessageBytes.message('I'), "N");
        update = row(MessageBytes.message('U'), "ON");
    }

    @Benchmark
    public PgOutputMessage insert() {
        return decoder.decode(insert, 0, insert.length, false);
    }

    @Benchmark
    public PgOutputMessage updateWithOldRow() {
        return decoder.decode(update, 0, update.length, false);
    }

    private byte[] row(MessageBytes message, String tupleTypes) {
        message.int32(16385);
        for (int i = 0; i < tupleTypes.length(); i++) {
            message.int8(tupleTypes.charAt(i)).int16(columns);
            for (int column = 0; column < columns; column++) {
                message.text("12345678");
            }
        }
        return message.toBytes();
    }
}
