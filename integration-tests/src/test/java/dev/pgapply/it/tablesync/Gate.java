package dev.pgapply.it.tablesync;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.Wait;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Holds up the copy of a table in its middle: on the target a row of it waits for as long as the gate is there. {@link #close} opens it.
 */
final class Gate implements AutoCloseable {

    private final Database target;
    private final Connection connection;

    private Gate(Database target, Connection connection) {
        this.target = target;
        this.connection = connection;
    }

    /** Has the insert of the row with this id into the table wait while a gate is closed. The table has a column id. */
    static void prepare(Database target, String table, long id) {
        target.execute(
                "CREATE TABLE IF NOT EXISTS public.gate (id int)",
                """
            CREATE OR REPLACE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.id = TG_ARGV[0]::bigint THEN PERFORM count(*) FROM public.gate; END IF; RETURN NEW; END $$""",
                "CREATE TRIGGER gate BEFORE INSERT ON " + table + " FOR EACH ROW EXECUTE FUNCTION public.wait_at_gate("
                        + id + ")",
                "ALTER TABLE " + table + " ENABLE ALWAYS TRIGGER gate");
    }

    static Gate closed(Database target) {
        Connection connection = target.connect();
        try {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("LOCK TABLE public.gate");
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return new Gate(target, connection);
    }

    /** Waits until a copy stands there. */
    void awaitCopy() {
        Wait.until(
                "a copy to stand at the gate",
                () -> target.number("SELECT count(*) FROM pg_locks WHERE NOT granted"
                                + " AND relation = 'public.gate'::regclass")
                        > 0);
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
