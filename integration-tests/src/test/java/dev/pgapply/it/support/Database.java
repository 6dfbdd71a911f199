package dev.pgapply.it.support;

import dev.pgapply.core.Lsn;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One database of a server, with the few commands that tests need. Each call has a session of its own, as good as new (a few wait in
 * {@link IdleSessions} from call to call), so all of it may be called from any thread and none leaves settings, locks or temporary
 * tables behind. An {@link SQLException} comes out wrapped in an {@link IllegalStateException} that quotes the SQL.
 */
public record Database(PostgresServer server, String name) {

    /** What counts only for sessions that begin later, or wants no session in a database. */
    private static final Pattern NEEDS_NEW_SESSIONS =
            Pattern.compile("\\bALTER\\s+(DATABASE|ROLE|USER)\\b|\\bTEMPLATE\\b", Pattern.CASE_INSENSITIVE);

    /** What {@code DISCARD ALL} does not undo: a temporary slot and a session's origin end with the session only. */
    private static final Pattern OUTLASTS_DISCARD =
            Pattern.compile("pg_create_\\w+_slot|pg_replication_origin_session", Pattern.CASE_INSENSITIVE);

    private interface Work<T> {
        T with(Connection connection, Statement statement) throws SQLException;
    }

    /** For the driver, without user and password. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + server.port() + "/" + name;
    }

    /** libpq's URI, as in an engine's configuration. */
    public String libpqUrl() {
        return libpqUrl(PostgresServer.SUPERUSER, server.port());
    }

    /** libpq's URI for another role, or through a proxy's port. */
    public String libpqUrl(String user, int port) {
        return "postgresql://" + user + "@127.0.0.1:" + port + "/" + name;
    }

    /** libpq's keywords, as in CREATE SUBSCRIPTION. */
    public String libpqKeywords() {
        return "host=127.0.0.1 port=" + server.port() + " user=" + PostgresServer.SUPERUSER + " password="
                + PostgresServer.PASSWORD + " dbname='" + name.replace("'", "\\'") + "'";
    }

    /**
     * A new connection of the superuser in autocommit mode, its output settings as CASES.md's SAME wants them. The caller's, who closes
     * it.
     */
    public Connection connect() {
        return connect(new Properties());
    }

    private Connection connect(Properties properties) {
        properties.setProperty("user", PostgresServer.SUPERUSER);
        properties.setProperty("password", PostgresServer.PASSWORD);
        properties.setProperty("ApplicationName", "pgapply-it");
        properties.setProperty("connectTimeout", "10");
        properties.setProperty(
                "options",
                "-c max_parallel_workers_per_gather=0 -c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3 -c bytea_output=hex -c timezone=UTC");
        try {
            return DriverManager.getConnection(url(), properties);
        } catch (SQLException e) {
            throw new IllegalStateException("could not connect to " + this + ": " + e.getMessage(), e);
        }
    }

    private Connection session() {
        Connection idle = server.sessions().take(name);
        if (idle != null) {
            return idle;
        }
        Properties properties = new Properties();
        // A statement that was prepared on the server would not outlive the next DISCARD ALL.
        properties.setProperty("prepareThreshold", "0");
        return connect(properties);
    }

    private <T> T inSession(String[] sql, Work<T> work) {
        boolean needsNewSessions = finds(NEEDS_NEW_SESSIONS, sql);
        if (needsNewSessions) {
            server.sessions().endAll();
        }
        Connection connection = session();
        try (Statement statement = connection.createStatement()) {
            return work.with(connection, statement);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        } finally {
            if (needsNewSessions || finds(OUTLASTS_DISCARD, sql)) {
                server.sessions().endAll();
                IdleSessions.end(connection);
            } else {
                server.sessions().giveBack(name, connection);
            }
        }
    }

    private static boolean finds(Pattern pattern, String... sql) {
        return Arrays.stream(sql).anyMatch(text -> pattern.matcher(text).find());
    }

    /** Runs each statement in a transaction of its own; one text with several statements is one transaction. */
    public void execute(String... statements) {
        boolean unused = inSession(statements, (connection, statement) -> {
            for (String sql : statements) {
                execute(statement, sql);
            }
            return true;
        });
    }

    private void execute(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            throw failed(e, sql);
        }
    }

    private static IllegalStateException failed(SQLException e, String sql) {
        return new IllegalStateException(e.getMessage() + " in: " + abbreviate(sql), e);
    }

    /** Runs all statements in one transaction. */
    public void transaction(String... statements) {
        boolean unused = inSession(statements, (connection, statement) -> {
            connection.setAutoCommit(false);
            for (String sql : statements) {
                execute(statement, sql);
            }
            connection.commit();
            return true;
        });
    }

    /** The rows of a query as text; SQL NULL is null. */
    public List<List<@Nullable String>> query(String sql) {
        return inSession(new String[] {sql}, (connection, statement) -> {
            try (ResultSet result = statement.executeQuery(sql)) {
                return rows(result);
            } catch (SQLException e) {
                throw failed(e, sql);
            }
        });
    }

    private static List<List<@Nullable String>> rows(ResultSet result) throws SQLException {
        List<List<@Nullable String>> rows = new ArrayList<>();
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
            List<@Nullable String> row = new ArrayList<>(columns);
            for (int i = 1; i <= columns; i++) {
                row.add(result.getString(i));
            }
            rows.add(row);
        }
        return rows;
    }

    /** The first column of each row; SQL NULL is {@code <null>}. */
    public List<String> column(String sql) {
        return query(sql).stream()
                .map(row -> row.get(0) == null ? "<null>" : String.valueOf(row.get(0)))
                .toList();
    }

    /** The one value of a query with one row; SQL NULL is null. */
    public @Nullable String value(String sql) {
        List<List<@Nullable String>> rows = query(sql);
        if (rows.size() != 1) {
            throw new IllegalStateException("expected one row, got " + rows.size() + " from: " + abbreviate(sql));
        }
        return rows.get(0).get(0);
    }

    /** The one number of a query with one row. */
    public long number(String sql) {
        String value = value(sql);
        if (value == null) {
            throw new IllegalStateException("expected a number, got NULL from: " + abbreviate(sql));
        }
        return Long.parseLong(value);
    }

    /** Whether a query gives true. */
    public boolean isTrue(String sql) {
        return "t".equals(value(sql));
    }

    /**
     * Where the server's WAL ends now; all that was committed before lies below it. An insert position just behind a page header is
     * given as the page's start: until something is written there, no server ever sends or flushes beyond that (xlog.c,
     * XLogBytePosToRecPtr and XLogBytePosToEndRecPtr).
     */
    public Lsn insertLsn() {
        String text = value("SELECT pg_current_wal_insert_lsn()");
        if (text == null) {
            throw new IllegalStateException("no insert position");
        }
        long value = Lsn.parse(text).value();
        long inPage = value & 8191;
        return new Lsn(inPage == 24 || inPage == 40 ? value - inPage : value);
    }

    /** Drops a slot that nobody is to use any more: a walsender lets go of it a moment after its client is gone. */
    public void dropSlot(String slot) {
        Wait.until(
                "slot \"" + slot + "\" to be free",
                () -> isTrue("SELECT NOT active FROM pg_replication_slots WHERE slot_name = " + literal(slot)));
        execute("SELECT pg_drop_replication_slot(" + literal(slot) + ")");
    }

    /** The position that the slot's reader has confirmed, or ZERO where the slot is missing. */
    public Lsn confirmedFlushLsn(String slot) {
        List<String> rows =
                column("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = " + literal(slot));
        return rows.isEmpty() || rows.get(0).equals("<null>") ? Lsn.ZERO : Lsn.parse(rows.get(0));
    }

    /** Drops the database and whatever holds on to it: sessions, slots; subscriptions lose their slots' names first. */
    public void drop() {
        Database maintenance = server.maintenance();
        for (String subscription : maintenance.column("SELECT subname FROM pg_subscription WHERE subdbid ="
                + " (SELECT oid FROM pg_database WHERE datname = " + literal(name) + ")")) {
            String quoted = quote(subscription);
            execute(
                    "ALTER SUBSCRIPTION " + quoted + " DISABLE",
                    "ALTER SUBSCRIPTION " + quoted + " SET (slot_name = NONE)",
                    "DROP SUBSCRIPTION " + quoted);
        }
        server.sessions().end(name);
        String slots = " FROM pg_replication_slots WHERE database = " + literal(name);
        maintenance.execute("SELECT pg_terminate_backend(active_pid)" + slots + " AND active");
        Wait.until(
                "slots of " + name + " to be inactive",
                () -> maintenance.number("SELECT count(*)" + slots + " AND active") == 0);
        maintenance.execute("SELECT pg_drop_replication_slot(slot_name)" + slots);
        maintenance.execute("DROP DATABASE " + quote(name) + " WITH (FORCE)");
    }

    /** An SQL identifier. */
    public static String quote(String identifier) {
        return "\"" + identifier.replace("\"", "\"\"") + "\"";
    }

    /** An SQL string constant. */
    public static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    private static String abbreviate(String sql) {
        return sql.length() <= 500 ? sql : sql.substring(0, 500) + "...";
    }

    @Override
    public String toString() {
        return "database \"" + name + "\" of " + server;
    }
}
