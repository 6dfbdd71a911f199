package dev.pgapply.it.bench;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/** Times a slot's reader by what the slot itself says. */
final class SlotProgress {

    private SlotProgress() {}

    /** Seconds from the moment the slot has become active until it has confirmed {@code end}; a poll takes 5 ms. */
    static double secondsUntil(Database publisher, String slot, Lsn end, long limitSeconds, Runnable check) {
        long asked = System.nanoTime();
        long begun = 0;
        try (Connection connection = publisher.connect();
                PreparedStatement statement = connection.prepareStatement(
                        "SELECT active, confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = ?")) {
            statement.setString(1, slot);
            while (true) {
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    long now = System.nanoTime();
                    if (begun == 0 && row.getBoolean(1)) {
                        begun = now;
                    }
                    if (begun != 0 && !Lsn.parse(row.getString(2)).isBefore(end)) {
                        return (now - begun) / 1e9;
                    }
                    if (now - asked > TimeUnit.SECONDS.toNanos(limitSeconds)) {
                        throw new IllegalStateException(
                                "slot " + slot + " has only come to " + row.getString(2) + " of " + end);
                    }
                }
                check.run();
                TimeUnit.MILLISECONDS.sleep(5);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
