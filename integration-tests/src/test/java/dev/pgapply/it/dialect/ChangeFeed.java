package dev.pgapply.it.dialect;

import dev.pgapply.core.pgoutput.PgOutputDecoder;
import dev.pgapply.core.pgoutput.PgOutputMessage;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What a publisher sends for publication {@code pb}, read from a slot by SQL: real messages without a walsender. */
final class ChangeFeed implements AutoCloseable {

    private final Connection connection;
    private final String slot;
    private final boolean binary;

    private ChangeFeed(Connection connection, String slot, boolean binary) {
        this.connection = connection;
        this.slot = slot;
        this.binary = binary;
    }

    /** From now on. The database's end drops the slot. */
    static ChangeFeed open(Database publisher, String name, boolean binary) {
        String slot = name + (binary ? "_b" : "_t");
        publisher.execute("SELECT pg_create_logical_replication_slot('" + slot + "', 'pgoutput')");
        Connection connection = publisher.connect();
        try (Statement statement = connection.createStatement()) {
            // The slot is read up to where WAL is flushed, and the servers of tests commit asynchronously.
            statement.execute("SET synchronous_commit = on");
            statement.execute("SET search_path = ''");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return new ChangeFeed(connection, slot, binary);
    }

    /** The messages of what was committed since the last call. */
    List<PgOutputMessage> next() {
        PgOutputDecoder decoder = new PgOutputDecoder();
        List<PgOutputMessage> messages = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_logical_emit_message(true, 'flush', '')");
            try (ResultSet rows = statement.executeQuery("SELECT data FROM pg_logical_slot_get_binary_changes('" + slot
                    + "', NULL, NULL, 'proto_version', '1'," + " 'publication_names', '" + DatabasePair.PUBLICATION
                    + "', 'binary', '" + binary + "')")) {
                while (rows.next()) {
                    byte[] data = rows.getBytes(1);
                    messages.add(decoder.decode(data, 0, data.length, false));
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return messages;
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
