package dev.pgapply.it.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.TcpProxy;
import org.junit.jupiter.api.Test;

/** How many round trips to the target a batch takes, and that the commit behind the rows depends on them all the same. */
class CommitExchangesIT {

    /** A publisher, and a target behind a proxy that counts. */
    private static final class Counted implements AutoCloseable {
        private final DatabasePair pair = DatabasePair.shared()
                .onBoth("CREATE TABLE m(id int PRIMARY KEY, v text)", "CREATE TABLE n(id int PRIMARY KEY, v text)")
                .publishAll();
        private final ChangeFeed feed = ChangeFeed.open(pair.publisher(), pair.name(), false);
        private final TcpProxy proxy = TcpProxy.to(pair.target().server().port());
        private final DialectTarget target =
                new DialectTarget(pair.target(), DialectTarget.Path.FAST, PostgresServer.SUPERUSER, proxy.port());

        /** How many exchanges it took to apply and commit what the statements changed, as one batch. */
        int exchanges(String... statements) {
            pair.publisher().execute(statements);
            var messages = feed.next();
            int before = proxy.exchanges();
            target.apply(messages);
            return proxy.exchanges() - before;
        }

        long count(String where) {
            return pair.target().number("SELECT count(*) FROM m WHERE " + where);
        }

        @Override
        public void close() {
            target.close();
            feed.close();
            proxy.close();
            pair.close();
        }
    }

    /** Whose statements are prepared and whose tables are described. */
    private static Counted warm() {
        Counted counted = new Counted();
        for (int i = 1; i <= 3; i++) {
            counted.exchanges("INSERT INTO m VALUES (" + -i + ", 'a')", "INSERT INTO n VALUES (" + -i + ", 'a')");
            counted.exchanges("INSERT INTO m VALUES (" + i + ", 'a')");
            counted.exchanges("UPDATE m SET v = 'b' WHERE id = " + i);
            counted.exchanges("UPDATE m SET v = 'c' WHERE id = " + i, "UPDATE m SET v = 'd' WHERE id = " + i);
            counted.exchanges("DELETE FROM m WHERE id = " + -i);
        }
        return counted;
    }

    @Test
    void rows_and_commit_are_one_exchange_where_no_row_can_forbid_the_commit() {
        try (Counted counted = warm()) {
            assertThat(counted.exchanges("INSERT INTO m VALUES (11, 'a')")).isOne();
            assertThat(counted.exchanges("UPDATE m SET v = 'b' WHERE id = 11")).isOne();
            assertThat(counted.exchanges("INSERT INTO m VALUES (12, 'a')", "INSERT INTO n VALUES (12, 'a')"))
                    .isOne();
            assertThat(counted.exchanges("DELETE FROM m WHERE id = 12")).isOne();
            assertThat(counted.count("id = 11 AND v = 'b'")).isOne();
            assertThat(counted.count("id = 12")).isZero();
        }
    }

    @Test
    void a_missing_row_that_is_one_conflict_costs_no_exchange() {
        try (Counted counted = warm()) {
            counted.pair.target().execute("DELETE FROM m WHERE id = 1");

            assertThat(counted.exchanges("UPDATE m SET v = 'x' WHERE id = 1")).isOne();
            assertThat(counted.target.missing()).isOne();
            assertThat(counted.target.replays()).isZero();
        }
    }

    @Test
    void a_row_that_must_be_found_is_waited_for_before_the_commit() {
        try (Counted counted = warm()) {
            assertThat(counted.exchanges("UPDATE m SET v = 'x' WHERE id = 2", "UPDATE m SET v = 'y' WHERE id = 2"))
                    .isEqualTo(2);
            assertThat(counted.count("id = 2 AND v = 'y'")).isOne();

            counted.pair.target().execute("DELETE FROM m WHERE id = 2");
            counted.exchanges("UPDATE m SET v = 'x' WHERE id = 2", "UPDATE m SET v = 'y' WHERE id = 2");
            assertThat(counted.target.replays()).isOne();
            assertThat(counted.target.missing()).isEqualTo(2);
        }
    }

    @Test
    void a_row_that_is_refused_takes_the_commit_behind_it_along() {
        try (Counted counted = warm()) {
            counted.pair.target().execute("INSERT INTO m VALUES (22, 'local')");

            assertThatThrownBy(
                            () -> counted.exchanges("INSERT INTO m VALUES (21, 'a')", "INSERT INTO m VALUES (22, 'a')"))
                    .isInstanceOfSatisfying(
                            ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFLICT));

            // The first of them by itself, by its replay.
            assertThat(counted.target.replays()).isOne();
            assertThat(counted.count("id = 21")).isOne();
            assertThat(counted.count("id = 22 AND v = 'local'")).isOne();
            assertThat(counted.exchanges("DELETE FROM m WHERE id = 3")).isGreaterThanOrEqualTo(1);
            assertThat(counted.count("id = 3")).isZero();
        }
    }
}
