package dev.pgapply.worker.jdbc;

import dev.pgapply.core.pgoutput.ColumnStatus;
import dev.pgapply.core.pgoutput.Tuple;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Inserts many rows by COPY: the server's shortest way into a table, with an exchange of its own before the rows and one behind them.
 * It runs no rule, takes any value for an identity column, and reads each value by the column type's input or receive function with
 * the column's modifier. Owned by the session's thread.
 */
final class CopyInsert {

    /** What goes to the server at once. */
    private static final int CHUNK_LENGTH = 64 * 1024;

    private final Connection connection;
    private final CopyBuffer buffer = new CopyBuffer(CHUNK_LENGTH + CHUNK_LENGTH / 2);

    CopyInsert(Connection connection) {
        this.connection = connection;
    }

    /**
     * How the rows can be copied: as text if all values are text, in binary form if all are and their types are the columns' own;
     * null if they are mixed.
     */
    static @Nullable CopyEncoder encoderFor(BoundRelation relation, List<Tuple> rows) {
        boolean text = false;
        boolean binary = false;
        for (Tuple row : rows) {
            for (BoundColumn column : relation.columns()) {
                ColumnStatus status = row.status(column.remote());
                text |= status == ColumnStatus.TEXT;
                binary |= status == ColumnStatus.BINARY;
            }
        }
        if (!binary) {
            return new CopyTextEncoder();
        }
        if (text) {
            return null;
        }
        for (BoundColumn column : relation.columns()) {
            if (column.binaryType().value() != column.facts().baseOid()) {
                return null;
            }
        }
        return new CopyBinaryEncoder();
    }

    void insert(BoundRelation relation, List<Tuple> rows, CopyEncoder encoder) throws SQLException {
        List<BoundColumn> columns = relation.columns();
        String names = columns.stream().map(BoundColumn::quoted).collect(Collectors.joining(", "));
        CopyIn copy = connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn("COPY " + relation.table() + " (" + names + ") FROM STDIN (FORMAT " + encoder.format() + ")");
        try {
            buffer.clear();
            encoder.begin(buffer);
            for (Tuple row : rows) {
                encoder.append(row, columns, buffer);
                if (buffer.length() >= CHUNK_LENGTH) {
                    send(copy);
                }
            }
            encoder.end(buffer);
            send(copy);
            copy.endCopy();
        } finally {
            if (copy.isActive()) {
                copy.cancelCopy();
            }
        }
    }

    private void send(CopyIn copy) throws SQLException {
        copy.writeToCopy(buffer.bytes(), 0, buffer.length());
        buffer.clear();
    }
}
