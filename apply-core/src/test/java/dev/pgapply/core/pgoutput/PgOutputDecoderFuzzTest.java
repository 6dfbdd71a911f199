package dev.pgapply.core.pgoutput;

import com.sun.management.ThreadMXBean;
import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Seeds;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whatever the bytes are: a message or an ApplyException, nothing read outside the range, nothing large allocated. */
class PgOutputDecoderFuzzTest {

    private static final int CASES_OF_A_SEED = 200;
    private static final int GUARD_BYTES = 64;

    /** What an exception and the largest honest message may take beside a multiple of the input. */
    private static final long ALLOWED_BYTES = 64 * 1024;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final List<SampleMessages.Sample> samples = SampleMessages.all();
    private final PgOutputDecoder decoder = new PgOutputDecoder();

    @Test
    void mutated_messages_are_read_or_refused() {
        Seeds.forEach(random -> {
            for (int i = 0; i < CASES_OF_A_SEED; i++) {
                SampleMessages.Sample sample = samples.get(random.nextInt(samples.size()));
                check(mutate(sample.bytes(), random), random.nextInt(8) == 0 != sample.inStreamBlock());
            }
        });
    }

    @Test
    void random_bytes_behind_a_valid_type_are_read_or_refused() {
        MessageType[] types = MessageType.values();
        Seeds.forEach(random -> {
            for (int i = 0; i < CASES_OF_A_SEED; i++) {
                byte[] bytes = new byte[1 + random.nextInt(80)];
                random.nextBytes(bytes);
                bytes[0] = (byte) types[random.nextInt(types.length)].code();
                check(bytes, random.nextBoolean());
            }
        });
    }

    /** Decodes the message between two different guards: if a guard byte took part, the outcomes differ. */
    private void check(byte[] message, boolean inStreamBlock) {
        String outcome = decodeBetween((byte) 0x00, message, inStreamBlock);
        // Measured the second time: the first also links classes and string concatenations.
        long before = THREADS.getCurrentThreadAllocatedBytes();
        String other = decodeBetween((byte) 0x74, message, inStreamBlock);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;

        // Plain conditions: an assertion each would take longer than the decoder.
        if (!other.equals(outcome)) {
            throw new AssertionError(
                    "other bytes around " + Arrays.toString(message) + " make \"" + outcome + "\" \"" + other + "\"");
        }
        if (allocated > ALLOWED_BYTES + 1024L * message.length) {
            throw new AssertionError(allocated + " bytes allocated for " + Arrays.toString(message));
        }
    }

    private String decodeBetween(byte guard, byte[] message, boolean inStreamBlock) {
        byte[] buffer = new byte[message.length + 2 * GUARD_BYTES];
        Arrays.fill(buffer, guard);
        System.arraycopy(message, 0, buffer, GUARD_BYTES, message.length);
        try {
            PgOutputMessage decoded = decoder.decode(buffer, GUARD_BYTES, message.length, inStreamBlock);
            expectInside(newTuple(decoded), message.length);
            expectInside(oldTuple(decoded), message.length);
            return decoded instanceof LogicalMessage logical
                    ? logical.prefix() + Arrays.toString(logical.content())
                    : decoded.toString();
        } catch (ApplyException e) {
            if (e.kind() != ApplyException.Kind.PROTOCOL_VIOLATION) {
                throw new AssertionError("refused as " + e.kind(), e);
            }
            return e.getMessage();
        }
    }

    private static void expectInside(@Nullable Tuple tuple, int messageLength) {
        if (tuple == null) {
            return;
        }
        for (int column = 0; column < tuple.columnCount(); column++) {
            if (tuple.hasValue(column)) {
                int from = tuple.valueOffset(column);
                int length = tuple.valueLength(column);
                if (length < 0 || from < GUARD_BYTES || from + length > GUARD_BYTES + messageLength) {
                    throw new AssertionError("column " + column + " stands at " + from + " with length " + length);
                }
            }
        }
    }

    private static @Nullable Tuple newTuple(PgOutputMessage message) {
        if (message instanceof Insert insert) {
            return insert.newTuple();
        }
        return message instanceof Update update ? update.newTuple() : null;
    }

    private static @Nullable Tuple oldTuple(PgOutputMessage message) {
        OldTuple old = null;
        if (message instanceof Update update) {
            old = update.oldTuple();
        } else if (message instanceof Delete delete) {
            old = delete.oldTuple();
        }
        return old == null ? null : old.tuple();
    }

    /** Some bytes overwritten, the end cut off or something added: mostly near what a decoder believes. */
    private static byte[] mutate(byte[] valid, Random random) {
        byte[] bytes = valid.clone();
        int changes = random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            bytes[random.nextInt(bytes.length)] = interestingByte(random);
        }
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(bytes, 1 + random.nextInt(bytes.length));
            case 1 -> Arrays.copyOf(bytes, bytes.length + random.nextInt(16));
            default -> bytes;
        };
    }

    private static byte interestingByte(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> (byte) 0xFF;
            case 1 -> (byte) 0x7F;
            case 2 -> (byte) "nutbNKO".charAt(random.nextInt(7));
            default -> (byte) random.nextInt();
        };
    }
}
