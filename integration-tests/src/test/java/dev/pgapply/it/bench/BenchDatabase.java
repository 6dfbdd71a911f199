package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** The publisher's database of one workload. */
record BenchDatabase(Database database) {

    void execute(String... statements) {
        database.execute(statements);
    }

    /**
     * Runs the statements as so many transactions, in the server, which is much faster than any client. They may use {@code r}, a random
     * number of each transaction from 0 (inclusive) to 1: a variable, so that it can be looked up in an index.
     */
    void transactions(long count, String statements) throws SQLException {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE PROCEDURE bench_load(n bigint) LANGUAGE plpgsql AS $$"
                    + " DECLARE r float8; BEGIN FOR i IN 1..n LOOP r := random(); " + statements
                    + "; COMMIT; END LOOP; END $$");
            statement.execute("CALL bench_load(" + count + ")");
            statement.execute("DROP PROCEDURE bench_load");
        }
    }
}
