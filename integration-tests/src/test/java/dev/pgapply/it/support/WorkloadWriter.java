package dev.pgapply.it.support;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * One writer of a {@link Workload}: its own connection, and its own rows in all tables but account, so that the sequence of its
 * statements depends on its seed alone. Owned by its thread.
 */
final class WorkloadWriter implements AutoCloseable {

    /** Each writer's keys begin at its number times this. */
    private static final long RANGE = 1_000_000_000L;

    private final Database publisher;
    private final int writer;
    private final int largeRows;
    private final Random random;
    private long next;
    private @Nullable Connection connection;

    WorkloadWriter(Database publisher, int writer, long seed, int largeRows) {
        this.publisher = publisher;
        this.writer = writer;
        this.largeRows = largeRows;
        this.random = new Random(seed);
        this.next = writer * RANGE;
    }

    void connect() {
        Connection opened = publisher.connect();
        connection = opened;
        // A second workload on the same tables goes on behind the first one's keys.
        next = Math.max(
                next,
                publisher.number("SELECT coalesce(max(k), 0) + 1 FROM (SELECT max(id) AS k FROM ledger WHERE id"
                        + inRange() + " UNION ALL SELECT max(id) FROM customer WHERE id" + inRange()
                        + " UNION ALL SELECT max(no) FROM line WHERE no" + inRange() + ") m"));
    }

    private String inRange() {
        return " BETWEEN " + writer * RANGE + " AND " + ((writer + 1) * RANGE - 1);
    }

    /** One transaction, committed; one in eight holds a savepoint that is rolled back. */
    void transaction() throws SQLException {
        Connection open = connection;
        if (open == null) {
            throw new IllegalStateException("not connected");
        }
        open.setAutoCommit(false);
        try (Statement statement = open.createStatement()) {
            int changes = random.nextInt(50) == 0 ? 0 : 1 + random.nextInt(6);
            if (changes == 0) {
                large(statement);
            }
            for (int i = 0; i < changes; i++) {
                small(statement);
            }
            if (random.nextInt(8) == 0) {
                statement.execute("SAVEPOINT s");
                small(statement);
                statement.execute("ROLLBACK TO s");
            }
            move(statement);
            open.commit();
        }
    }

    private void small(Statement statement) throws SQLException {
        switch (random.nextInt(9)) {
            case 0, 1 -> insertCustomer(statement, key());
            case 2 ->
                statement.execute("UPDATE customer SET changes = changes + 1, name = 'n" + random.nextInt(1000)
                        + "' WHERE id = " + oldKey());
            case 3 -> statement.execute("UPDATE customer SET id = " + key() + " WHERE id = " + oldKey());
            case 4 -> {
                long old = oldKey();
                statement.execute("DELETE FROM customer WHERE id = " + old);
                if (random.nextBoolean()) {
                    insertCustomer(statement, old);
                }
            }
            case 5 ->
                statement.execute("INSERT INTO line VALUES (" + writer + ", " + key() + ", " + random.nextInt(9999)
                        + ".5, " + (random.nextInt(4) == 0 ? "NULL" : "'l'") + ", repeat(md5('" + next + "'), "
                        + random.nextInt(120) + "))");
            case 6 ->
                statement.execute(
                        "UPDATE line SET quantity = quantity + 1 WHERE no = " + oldKey() + " AND region = " + writer);
            case 7 -> statement.execute("DELETE FROM line WHERE region = " + writer + " AND no = " + oldKey());
            default ->
                statement.execute("INSERT INTO event VALUES (clock_timestamp(), " + writer + ", 'k" + random.nextInt(5)
                        + "', '{\"n\": " + random.nextInt(3) + "}')");
        }
    }

    /** Keys that a deletion has freed are inserted again, hence ON CONFLICT: an insert of a key that is there changes nothing. */
    private void insertCustomer(Statement statement, long id) throws SQLException {
        statement.execute("INSERT INTO customer VALUES (" + id + ", 'c" + id + "', 'name', 0) ON CONFLICT DO NOTHING");
    }

    private void large(Statement statement) throws SQLException {
        long first = next;
        next += largeRows;
        String keys = " FROM generate_series(" + first + ", " + (next - 1) + ") g";
        statement.execute("INSERT INTO customer SELECT g, 'c' || g, 'bulk', 0" + keys);
        statement.execute("INSERT INTO event SELECT clock_timestamp(), " + writer + ", 'bulk', NULL" + keys);
        statement.execute("UPDATE customer SET changes = changes + 1 WHERE id BETWEEN " + first + " AND "
                + (first + largeRows / 2));
        statement.execute("DELETE FROM customer WHERE id BETWEEN " + first + " AND " + (first + largeRows / 4));
    }

    /** Money from one account to another; accounts in the order of their ids, so that writers do not deadlock. */
    private void move(Statement statement) throws SQLException {
        int one = 1 + random.nextInt(Workload.ACCOUNTS - 1);
        int other = one + 1 + random.nextInt(Workload.ACCOUNTS - one);
        long amount = random.nextInt(100) - 50L;
        statement.execute("INSERT INTO ledger VALUES (" + key() + ", " + one + ", " + -amount + ", NULL)");
        statement.execute("UPDATE account SET balance = balance - " + amount + " WHERE id = " + one);
        statement.execute("UPDATE account SET balance = balance + " + amount + " WHERE id = " + other);
        statement.execute("INSERT INTO ledger VALUES (" + key() + ", " + other + ", " + amount + ", 'to')");
    }

    private long key() {
        return next++;
    }

    /** A key that this writer has used lately; what became of it is not known. */
    private long oldKey() {
        return Math.max(writer * RANGE, next - 1 - random.nextInt(400));
    }

    @Override
    public void close() throws SQLException {
        if (connection != null) {
            connection.close();
        }
    }
}
