package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationStream;

/** pgjdbc's own replication stream, read to the end and acknowledged, with nothing applied: what reading alone costs. */
record BareReader() implements Contestant {

    @Override
    public String name() {
        return "bare_reader";
    }

    @Override
    public boolean applies() {
        return false;
    }

    @Override
    public Run start(Database publisher, Database target, String slot) {
        Reader reader = new Reader(publisher, slot);
        reader.thread.start();
        return reader;
    }

    private static final class Reader implements Run {
        private final Database publisher;
        private final String slot;
        private final Thread thread = new Thread(this::read, "bare-reader");
        private volatile boolean closing;
        private volatile @Nullable Exception failure;

        Reader(Database publisher, String slot) {
            this.publisher = publisher;
            this.slot = slot;
        }

        private void read() {
            Properties properties = new Properties();
            properties.setProperty("user", PostgresServer.SUPERUSER);
            properties.setProperty("password", PostgresServer.PASSWORD);
            properties.setProperty("replication", "database");
            properties.setProperty("preferQueryMode", "simple");
            properties.setProperty("assumeMinServerVersion", "14");
            try (Connection connection = DriverManager.getConnection(publisher.url(), properties);
                    PGReplicationStream stream = connection
                            .unwrap(PGConnection.class)
                            .getReplicationAPI()
                            .replicationStream()
                            .logical()
                            .withSlotName(slot)
                            .withSlotOption("proto_version", 1)
                            .withSlotOption("publication_names", "bench")
                            .withStatusInterval(200, TimeUnit.MILLISECONDS)
                            .start()) {
                while (!closing) {
                    ByteBuffer message = stream.readPending();
                    LogSequenceNumber received = stream.getLastReceiveLSN();
                    stream.setFlushedLSN(received);
                    stream.setAppliedLSN(received);
                    if (message == null) {
                        stream.forceUpdateStatus();
                        TimeUnit.MILLISECONDS.sleep(1);
                    }
                }
            } catch (SQLException | InterruptedException e) {
                failure = e;
            }
        }

        @Override
        public double cpuSeconds() {
            return 0;
        }

        @Override
        public void check() {
            if (failure != null) {
                throw new IllegalStateException("the bare reader failed", failure);
            }
        }

        @Override
        public void close() {
            closing = true;
            try {
                thread.join(5000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
