package dev.pgapply.core.pgoutput;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes a tuple that no publisher sent, column by column in its wire form. Owned by the thread that made it.
 */
public final class TupleBuilder {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final List<Integer> offsets = new ArrayList<>();

    /** A tuple of text values; null stands for NULL. */
    public static Tuple ofText(@Nullable String... values) {
        TupleBuilder builder = new TupleBuilder();
        for (String value : values) {
            builder.text(value);
        }
        return builder.build();
    }

    /** Adds a text value, or NULL. */
    public TupleBuilder text(@Nullable String value) {
        if (value == null) {
            return status('n');
        }
        return value('t', value.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a value in its type's binary form. */
    public TupleBuilder binary(byte[] value) {
        return value('b', value);
    }

    /** Adds a TOASTed value that was not sent. */
    public TupleBuilder unchanged() {
        return status('u');
    }

    public Tuple build() {
        return new Tuple(
                bytes.toByteArray(),
                offsets.stream().mapToInt(Integer::intValue).toArray());
    }

    private TupleBuilder status(char status) {
        offsets.add(bytes.size());
        bytes.write(status);
        return this;
    }

    private TupleBuilder value(char status, byte[] value) {
        status(status);
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes.write(value.length >>> shift);
        }
        bytes.writeBytes(value);
        return this;
    }
}
