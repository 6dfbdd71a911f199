package dev.pgapply.it.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Workload, comparison, poller and proxy, with PostgreSQL's own subscription in the engine's place. */
class NativeOracleIT {

    @Test
    void a_native_subscription_follows_the_workload_and_is_never_torn() {
        long seed = RunOptions.seed();
        System.out.println("seed " + seed);
        try (DatabasePair pair = DatabasePair.shared()) {
            Workload.prepare(pair);
            try (NativeSubscription subscription = NativeSubscription.create(pair);
                    TornReadPoller poller = TornReadPoller.start(pair.target(), Workload.LEDGER_TOTAL, "0")) {
                subscription.awaitStreaming();
                try (Workload workload = Workload.start(pair.publisher(), 4, seed, 1000)) {
                    workload.awaitTransactions(400);
                }

                subscription.awaitCaughtUp();

                TableComparison.of(pair).assertSame(Workload.names());
                poller.assertNeverTorn();
                assertThat(pair.target().number("SELECT sum(balance) FROM account"))
                        .isEqualTo(100_000);
                assertThat(pair.target().number("SELECT count(*) FROM customer"))
                        .isPositive();
            }
        }
    }

    @Test
    void a_comparison_names_the_rows_that_differ() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t(id int, v text)", "INSERT INTO t VALUES (1, 'a'), (1, 'a')");
            pair.publisher().execute("INSERT INTO t VALUES (2, 'b')");
            pair.target().execute("INSERT INTO t VALUES (1, 'a')");

            assertThatThrownBy(() -> TableComparison.of(pair).assertSame("t"))
                    .hasMessageContaining("1 x (2,b)")
                    .hasMessageContaining("on the target only:\n  1 x (1,a)");
        }
    }

    @Test
    void a_proxy_cuts_before_and_after_a_commit() throws Exception {
        try (DatabasePair pair = DatabasePair.shared();
                TcpProxy proxy = TcpProxy.to(pair.target().server().port())) {
            pair.target().execute("CREATE TABLE t(moment text)");
            for (TcpProxy.Moment moment : TcpProxy.Moment.values()) {
                proxy.cutAt("COMMIT", moment);
                try (var connection = java.sql.DriverManager.getConnection(
                        "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/"
                                + pair.target().name(),
                        PostgresServer.SUPERUSER,
                        PostgresServer.PASSWORD)) {
                    connection.setAutoCommit(false);
                    connection.createStatement().execute("INSERT INTO t VALUES ('" + moment + "')");
                    assertThatThrownBy(connection::commit).isInstanceOf(java.sql.SQLException.class);
                }
            }
            assertThat(proxy.cuts()).isEqualTo(3);
            Wait.until("the old backends to commit", () -> pair.target().number("SELECT count(*) FROM t") == 2);
            assertThat(pair.target().column("SELECT moment FROM t ORDER BY 1"))
                    .containsExactly("AFTER", "AFTER_ANSWER");
        }
    }
}
