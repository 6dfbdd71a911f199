package dev.pgapply.worker.stream;

import dev.pgapply.core.ApplyException;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PatientSocket;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.WalSenderConnection;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The walsender's stream over pgjdbc's public CopyDual. PGReplicationStream, built on the same, hides keepalives and send times, lets
 * the write position go back, and may confirm what is not applied (SEMANTICS 1.7, fact 2).
 */
final class CopyDualStream implements WalSenderStream {

    private static final Logger log = LoggerFactory.getLogger(CopyDualStream.class);

    private final Connection connection;
    private final PatientSocket socket;
    private final CopyDual copy;
    private final Duration walSenderTimeout;

    private CopyDualStream(WalSenderConnection walSender, CopyDual copy, Duration walSenderTimeout) {
        this.connection = walSender.connection();
        this.socket = walSender.socket();
        this.copy = copy;
        this.walSenderTimeout = walSenderTimeout;
    }

    /** Connects and starts the replication; when this returns, the publisher streams. */
    static CopyDualStream start(PostgresConnections publisher, ReceiverOptions options) {
        WalSenderConnection walSender = publisher.openWalSender(options.subscription());
        boolean started = false;
        try {
            Duration timeout = walSenderTimeout(walSender.connection());
            CopyDual copy = startReplication(walSender.connection(), options);
            started = true;
            return new CopyDualStream(walSender, copy, timeout);
        } finally {
            if (!started) {
                close(walSender.connection());
            }
        }
    }

    private static CopyDual startReplication(Connection connection, ReceiverOptions options) {
        String command = "START_REPLICATION SLOT " + Identifiers.quote(options.slotName()) + " LOGICAL "
                + options.startLsn() + " " + options.pgOutput().toOptionList();
        try {
            CopyDual copy = connection.unwrap(PGConnection.class).getCopyAPI().copyDual(command);
            // From here on the receiver keeps time; the driver's timeout would end a read in the middle of a message.
            connection.setNetworkTimeout(Runnable::run, 0);
            return copy;
        } catch (SQLException e) {
            throw ReplicationErrors.atStart(options.slotName(), e);
        }
    }

    /** As this connection has it: a role or database may have a value of its own. */
    private static Duration walSenderTimeout(Connection connection) throws ApplyException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'")) {
            return row.next() ? Duration.ofMillis(row.getLong(1)) : Duration.ZERO;
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read wal_sender_timeout of the publisher", e);
        }
    }

    /** The publisher's wal_sender_timeout for this connection; zero: it has none. */
    Duration walSenderTimeout() {
        return walSenderTimeout;
    }

    @Override
    public byte @Nullable [] read(boolean wait) throws SQLException {
        return copy.readFromCopy(wait);
    }

    @Override
    public boolean awaitReadable(Duration atMost) throws SQLException {
        try {
            return socket.awaitReadable(atMost);
        } catch (IOException e) {
            throw new SQLException(e.getMessage(), "08006", e);
        }
    }

    @Override
    public void setWaiter(Waiter waiter, Duration period) {
        socket.setWaiter(
                () -> {
                    boolean keepWaiting;
                    try {
                        keepWaiting = waiter.keepWaiting();
                    } catch (SQLException e) {
                        throw new IOException(e.getMessage(), e);
                    }
                    if (!keepWaiting) {
                        throw new IOException("the receiver stops reading");
                    }
                },
                period);
    }

    @Override
    public void send(byte[] payload) throws SQLException {
        copy.writeToCopy(payload, 0, payload.length);
        copy.flushCopy();
    }

    @Override
    public long bytesReceived() {
        return socket.bytesReceived();
    }

    @Override
    public @Nullable SQLWarning takeWarnings() throws SQLException {
        SQLWarning warnings = connection.getWarnings();
        if (warnings != null) {
            connection.clearWarnings();
        }
        return warnings;
    }

    @Override
    public byte[] lastBytes() {
        return socket.lastGulp();
    }

    @Override
    public void finish(Duration linger) {
        // CopyDone is of no use: endCopy() collects what a busy walsender still sends. Terminate ends the walsender as
        // well.
        socket.lingerOnClose(linger);
        close(connection);
    }

    @Override
    public void abort() {
        try {
            socket.abort();
        } catch (IOException e) {
            log.debug("could not close the walsender connection's socket", e);
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            log.debug("could not close the walsender connection", e);
        }
    }
}
