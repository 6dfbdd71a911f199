package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who owns a subscription: whoever holds its main advisory lock, on a session of its own that does nothing else.
 *
 * <pre>
 * open → tryAcquire: a holder is named     (standby: try again)
 *      → tryAcquire: null → takeOver → check, check, … → close
 * </pre>
 *
 * <p>Called by one thread at a time; {@link #close} may be called by any thread at any time and cuts a takeover that waits.
 */
public final class Ownership implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Ownership.class);

    /** The upper half of the main lock's key: "pgap" in ASCII. */
    private static final int MAIN_LOCK = 0x70676170;

    /** How long one round of a takeover waits for the older sessions' locks, before it looks again who holds them. */
    private static final String ROUND = "1s";

    /** Without an answer for so long the lock session counts as lost. The fence protects the target; this only ends a zombie's work. */
    private static final int ANSWER_MILLIS = 30_000;

    private static final String LOCK_NOT_AVAILABLE = "55P03";
    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    // lockfuncs.c: a bigint key is (upper half, lower half, 1), two int keys are (first, second, 2).
    private static final String HOLDERS =
            "SELECT l.pid, a.application_name, host(a.client_addr), l.objid::bigint AS objid"
                    + " FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.granted"
                    + " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";

    private static final String MAIN_LOCK_HOLDER = HOLDERS + " AND l.classid = ? AND l.objid = ? AND l.objsubid = 1";

    private static final String STALE_SESSIONS = HOLDERS
            + " AND l.classid = ? AND l.objid <> ? AND l.objsubid = 2 AND l.pid <> pg_backend_pid() ORDER BY l.pid";

    private final Connection connection;
    private final int subid;
    private final int backendPid;
    private final Runnable whenLost;

    private Ownership(Connection connection, int subid, int backendPid, Runnable whenLost) {
        this.connection = connection;
        this.subid = subid;
        this.backendPid = backendPid;
        this.whenLost = whenLost;
    }

    /**
     * Opens the lock session. It changes nothing.
     *
     * @param whenLost called by {@link #check}, on its thread, when the lock session turns out to be gone: closes all target sessions at once
     */
    public static Ownership open(PostgresConnections target, String applicationName, int subid, Runnable whenLost) {
        Connection connection = target.openTarget(applicationName);
        try {
            connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS);
            return new Ownership(connection, subid, backendPid(connection), whenLost);
        } catch (SQLException e) {
            ApplyException failure = PostgresErrors.translate("could not open the lock session", e);
            try {
                connection.close();
            } catch (SQLException second) {
                failure.addSuppressed(second);
            }
            throw failure;
        }
    }

    /**
     * Tries to get the main lock.
     *
     * @return who has it, or null if it is ours now
     */
    public @Nullable LockHolder tryAcquire() {
        try {
            if (tryLock()) {
                return null;
            }
            try (PreparedStatement statement = connection.prepareStatement(MAIN_LOCK_HOLDER)) {
                statement.setInt(1, MAIN_LOCK);
                statement.setInt(2, subid);
                try (ResultSet row = statement.executeQuery()) {
                    // It may have gone in between: then the next try gets the lock.
                    return row.next() ? holder(row) : new LockHolder(0, "a session that has just ended", null);
                }
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not try the subscription's lock", e);
        }
    }

    private boolean tryLock() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_try_advisory_lock(?)")) {
            statement.setLong(1, (long) MAIN_LOCK << 32 | subid);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    /**
     * Makes sure that no session of an earlier owner can commit any more, its own earlier sessions included: raises the epoch, ends the
     * sessions of older epochs and waits until they are gone. Only what is read after this returns is the truth, and it is durable.
     *
     * @param waitingFor called about every second while sessions of an earlier owner are still there, with these sessions
     */
    public EpochFence takeOver(Consumer<List<LockHolder>> waitingFor) {
        try {
            int epoch = DurableTransaction.commit(connection, this::raiseEpoch);
            endOlderSessions(epoch, waitingFor);
            // They may have committed after the epoch was raised, without waiting for the disk: what is read next must
            // be durable, too.
            DurableTransaction.commit(
                    connection, () -> execute("UPDATE pgapply.epoch SET epoch = epoch WHERE subid = " + subid));
            return new EpochFence(subid, epoch);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not take the subscription over", e);
        }
    }

    private int raiseEpoch() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE pgapply.epoch SET epoch = epoch + 1 WHERE subid = ? RETURNING epoch")) {
            statement.setInt(1, subid);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new ApplyException(
                            Kind.OWNERSHIP_LOST, "subscription id " + subid + " was dropped from the target");
                }
                return row.getInt(1);
            }
        }
    }

    private void endOlderSessions(int epoch, Consumer<List<LockHolder>> waitingFor) throws SQLException {
        // A takeover that was broken off may have left sessions of an epoch before the last one.
        List<StaleSession> stale = StaleSession.list(connection, STALE_SESSIONS, subid, epoch);
        for (StaleSession session : stale) {
            if (terminate(session.holder())) {
                log.info("ended a session of the subscription's earlier owner: {}", session.holder());
            } else {
                log.warn(
                        "the role may not end a session of the subscription's earlier owner, waiting for it: {}",
                        session.holder());
            }
        }
        for (long older : StaleSession.epochs(stale, epoch - 1)) {
            while (!lockedOnce(older)) {
                List<StaleSession> left = StaleSession.list(connection, STALE_SESSIONS, subid, epoch);
                waitingFor.accept(left.stream().map(StaleSession::holder).toList());
                for (StaleSession session : left) {
                    terminate(session.holder());
                }
            }
        }
    }

    /** False if the role may not: that takes the same role, or pg_signal_backend and no superuser's session. */
    private boolean terminate(LockHolder holder) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_terminate_backend(?)")) {
            statement.setInt(1, holder.pid());
            statement.execute();
            return true;
        } catch (SQLException e) {
            if (INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** Waits a while for all sessions of an epoch to be gone; true if they are. */
    private boolean lockedOnce(long older) throws SQLException {
        try {
            execute("SET lock_timeout = '" + ROUND + "'");
            execute("SELECT pg_advisory_lock(" + subid + ", " + (int) older + ")");
            execute("SELECT pg_advisory_unlock(" + subid + ", " + (int) older + ")");
            return true;
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        } finally {
            if (!connection.isClosed()) {
                execute("SET lock_timeout = 0");
            }
        }
    }

    /**
     * Asks the server whether the lock session still lives; called every second or so by the owner.
     *
     * @throws ApplyException of kind OWNERSHIP_LOST if it does not; the target sessions were closed before
     */
    public void check() {
        String lost;
        Exception cause = null;
        try {
            int pid = backendPid(connection);
            if (pid == backendPid) {
                return;
            }
            lost = "the lock session moved from pid " + backendPid + " to pid " + pid
                    + ": a connection pooler stands between, and a lock needs a session of its own";
        } catch (SQLException e) {
            lost = "the session that holds the subscription's lock was lost: " + e.getMessage();
            cause = e;
        }
        close();
        whenLost.run();
        throw new ApplyException(Kind.OWNERSHIP_LOST, lost, cause);
    }

    /** Gives the subscription up by ending the lock session. Harmless when repeated. */
    @Override
    public void close() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("could not close the lock session", e);
        }
    }

    private static int backendPid(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        }
    }

    static LockHolder holder(ResultSet row) throws SQLException {
        return new LockHolder(row.getInt(1), row.getString(2), row.getString(3));
    }

    private boolean execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.execute(sql);
        }
    }
}
