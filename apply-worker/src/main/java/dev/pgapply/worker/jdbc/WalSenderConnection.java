package dev.pgapply.worker.jdbc;

import java.sql.Connection;

/**
 * A walsender connection and the raw socket that it stands on.
 *
 * @param connection owned by whoever opened it
 * @param socket for waiting, and for cutting the connection from another thread
 */
public record WalSenderConnection(Connection connection, PatientSocket socket) {}
