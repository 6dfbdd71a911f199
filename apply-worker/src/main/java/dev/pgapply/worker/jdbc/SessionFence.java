package dev.pgapply.worker.jdbc;

import java.sql.Connection;

/**
 * Lets a new target session in only under the epoch of the current owner: it takes the session-level shared lock on the epoch and
 * then reads the epoch (DESIGN section 7). Called on the thread that opens the session, in autocommit mode, before anything else.
 */
@FunctionalInterface
public interface SessionFence {

    /** @throws dev.pgapply.core.ApplyException of kind OWNERSHIP_LOST if the epoch is no longer the current one */
    void enter(Connection connection);
}
