package dev.pgapply.it.support;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The superuser's sessions on one server that wait for the next command of a {@link Database}: most commands cost less than the
 * backend that a session of their own would begin and end. A session comes back as new: {@code DISCARD ALL} leaves nothing of its
 * settings, temporary tables, locks and statements, and one on which that fails, be it for an open transaction, ends instead.
 *
 * <p>Thread-safe; a session that was taken belongs to its taker alone.
 */
final class IdleSessions {

    /** More than that are used at one time only by tests that wait in many threads. */
    private static final int KEPT = 3;

    private static final int SECONDS_TO_ANSWER = 10;

    private final Map<String, Deque<Connection>> idle = new HashMap<>();
    private boolean kept = true;

    /** A session that answers, or null where a new one is needed. */
    @Nullable
    Connection take(String database) {
        while (true) {
            Connection session = poll(database);
            if (session == null || answers(session)) {
                return session;
            }
            end(session);
        }
    }

    private synchronized @Nullable Connection poll(String database) {
        Deque<Connection> sessions = idle.get(database);
        return sessions == null ? null : sessions.pollLast();
    }

    private static boolean answers(Connection session) {
        try {
            // It may have been terminated since, together with all others of its database.
            return session.isValid(SECONDS_TO_ANSWER);
        } catch (SQLException e) {
            return false;
        }
    }

    /** Keeps the session for the next command, or ends it. */
    void giveBack(String database, Connection session) {
        if (!isAsNew(session) || !keep(database, session)) {
            end(session);
        }
    }

    private static boolean isAsNew(Connection session) {
        try (Statement statement = session.createStatement()) {
            if (!session.getAutoCommit()) {
                session.rollback();
                session.setAutoCommit(true);
            }
            statement.execute("DISCARD ALL");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    private synchronized boolean keep(String database, Connection session) {
        Deque<Connection> sessions = idle.computeIfAbsent(database, name -> new ArrayDeque<>());
        return kept && sessions.size() < KEPT && sessions.add(session);
    }

    /** Ends those of one database, which is about to go. */
    synchronized void end(String database) {
        Deque<Connection> sessions = idle.remove(database);
        if (sessions != null) {
            sessions.forEach(IdleSessions::end);
        }
    }

    /** Ends all, so that what comes next finds none that began before. */
    synchronized void endAll() {
        idle.values().forEach(sessions -> sessions.forEach(IdleSessions::end));
        idle.clear();
    }

    /** Ends all and keeps none: the server stops to answer. */
    synchronized void keepNone() {
        kept = false;
        endAll();
    }

    /** Keeps them again. */
    synchronized void keep() {
        kept = true;
    }

    /** Ends one that nobody is to have again. */
    static void end(Connection session) {
        try {
            session.close();
        } catch (SQLException e) {
            // Its backend is gone.
        }
    }
}
