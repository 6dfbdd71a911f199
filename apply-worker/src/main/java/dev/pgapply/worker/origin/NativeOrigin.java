package dev.pgapply.worker.origin;

import dev.pgapply.core.Lsn;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PostgreSQL's replication origin {@code pgapply_<subid>}, kept beside the row where the role may use it: so that the changes carry an
 * origin in the target's WAL (a publication of the target can leave them out) and {@code pg_replication_origin_status} shows where
 * the subscription stands. Owned by the apply session's thread, on its connection, outside of transactions.
 *
 * <p>It is never trusted. From PostgreSQL 16 on, any abort after {@code pg_replication_origin_xact_setup} moves the origin to a
 * transaction that is not there (xact.c, RecordTransactionAbort). So it is compared with the row each time a session sets it up, and put
 * where the row is. And it never delays applying: up to PostgreSQL 18 only one session can use an origin, and while that is an old one
 * that has not quite ended, transactions are applied without it and it is tried again later.
 */
public final class NativeOrigin {

    private enum State {
        /** The role may not use origins; stays so for this session. */
        NOT_PERMITTED,
        /** Not set up in this session, but may be tried again. */
        DETACHED,
        /** Set up in this session (pg_replication_origin_session_setup). */
        ATTACHED
    }

    private static final Logger log = LoggerFactory.getLogger(NativeOrigin.class);
    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(1);
    private static final String OBJECT_IN_USE = "55006";
    private static final int DROP_TRIES = 50;

    // By name: their arguments differ from release to release.
    private static final String PERMITTED = "SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc"
            + " WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ('pg_replication_origin_create',"
            + " 'pg_replication_origin_oid', 'pg_replication_origin_progress', 'pg_replication_origin_advance',"
            + " 'pg_replication_origin_session_setup', 'pg_replication_origin_xact_setup', 'pg_replication_origin_drop')";

    private final Connection connection;
    private final String name;
    private final Ticker ticker;

    private State state;
    private long lastTryNanos;
    private @Nullable String lastFailure;

    NativeOrigin(Connection connection, String name, Ticker ticker) throws SQLException {
        this.connection = connection;
        this.name = name;
        this.ticker = ticker;
        state = isPermitted(connection) ? State.DETACHED : State.NOT_PERMITTED;
        lastTryNanos = ticker.nanos() - RETRY_INTERVAL.toNanos();
    }

    /** Whether the session's role may use origins. */
    static boolean isPermitted(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PERMITTED)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** The origin's name, known to the whole server. */
    public static String name(int subid) {
        return "pgapply_" + subid;
    }

    /** The origin of an apply session: only one session at a time can use one. */
    static String name(int subid, int applySession) {
        return applySession == OriginStatus.LEADER_SESSION ? name(subid) : name(subid) + "_" + applySession;
    }

    /**
     * Removes a subscription's origins, those there are. Without one it needs no right: PostgreSQL would check it even for no row.
     *
     * @param connection without an open transaction
     */
    public static void drop(Connection connection, int subid) throws SQLException {
        for (String name : existing(connection, subid)) {
            drop(connection, name);
        }
    }

    /** Removes an origin that exists, once no session uses it any more. */
    static void drop(Connection connection, String name) throws SQLException {
        for (int tries = 1; ; tries++) {
            try (PreparedStatement statement = connection.prepareStatement("SELECT pg_replication_origin_drop(?)")) {
                statement.setString(1, name);
                statement.execute();
                return;
            } catch (SQLException e) {
                if (tries == DROP_TRIES || !OBJECT_IN_USE.equals(e.getSQLState())) {
                    throw e;
                }
            }
            // A session that was just ended gives up its locks before its origin (ipc.c, shmem_exit); the server waits
            // for us.
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT pg_sleep(0.1)");
            }
        }
    }

    private static List<String> existing(Connection connection, int subid) throws SQLException {
        List<String> names = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT roname FROM pg_replication_origin WHERE roname = ? OR starts_with(roname, ?) ORDER BY 1")) {
            statement.setString(1, name(subid));
            statement.setString(2, name(subid) + "_");
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
        }
        return names;
    }

    /** Whether the transactions of this session carry the origin. */
    boolean isAttached() {
        return state == State.ATTACHED;
    }

    /**
     * Tries to set the origin up in this session, at the recorded progress, unless that was tried a moment ago. Needs a connection without
     * an open transaction.
     */
    void attachIfDue(Lsn recordedLsn) throws SQLException {
        if (state != State.DETACHED || ticker.nanos() - lastTryNanos < RETRY_INTERVAL.toNanos()) {
            return;
        }
        lastTryNanos = ticker.nanos();
        try {
            createIfMissing();
            putTo(recordedLsn);
            execute("SELECT pg_replication_origin_session_setup(?)", name);
            state = State.ATTACHED;
            if (lastFailure != null) {
                log.info("replication origin \"{}\" is in use now", name);
            }
        } catch (SQLException e) {
            if (isConnectionLost(e)) {
                throw e;
            }
            report(e);
        }
    }

    private static boolean isConnectionLost(SQLException e) {
        String sqlState = e.getSQLState();
        return sqlState == null || sqlState.startsWith("08") || sqlState.startsWith("57P");
    }

    private void report(SQLException e) {
        String failure = String.valueOf(e.getMessage());
        if (failure.equals(lastFailure)) {
            return;
        }
        lastFailure = failure;
        if (OBJECT_IN_USE.equals(e.getSQLState())) {
            log.info("applying without replication origin \"{}\" until its old session has ended: {}", name, failure);
        } else {
            log.warn("applying without replication origin \"{}\", trying again: {}", name, failure);
        }
    }

    private void createIfMissing() throws SQLException {
        execute(
                "SELECT pg_replication_origin_create(name) FROM (SELECT ?::text AS name) AS origin"
                        + " WHERE pg_replication_origin_oid(name) IS NULL",
                name);
    }

    /** Both ways: back after an abort moved it, forward after transactions were applied without it. */
    private void putTo(Lsn recordedLsn) throws SQLException {
        Lsn current = progress();
        if (current.equals(recordedLsn)) {
            return;
        }
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_replication_origin_advance(?, ?::text::pg_lsn)")) {
            statement.setString(1, name);
            statement.setString(2, recordedLsn.toString());
            statement.execute();
        }
        if (current.isAfter(recordedLsn)) {
            log.info(
                    "replication origin \"{}\" was at {}, beyond the last transaction in the target; put back to {}",
                    name,
                    current,
                    recordedLsn);
        }
    }

    private Lsn progress() throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_replication_origin_progress(?, false)::text")) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String lsn = row.getString(1);
                return lsn == null ? Lsn.ZERO : Lsn.parse(lsn);
            }
        }
    }

    private void execute(String sql, String argument) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, argument);
            statement.execute();
        }
    }
}
