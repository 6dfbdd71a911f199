package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.Tuple;
import java.util.List;

/** Writes tuples in a format of COPY, straight from the received bytes. Stateless. */
interface CopyEncoder {

    /** COPY's FORMAT option. */
    String format();

    default void begin(CopyBuffer out) {}

    void append(Tuple row, List<BoundColumn> columns, CopyBuffer out);

    default void end(CopyBuffer out) {}
}
