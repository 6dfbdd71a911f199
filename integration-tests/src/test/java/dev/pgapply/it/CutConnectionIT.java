package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TcpProxy;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import dev.pgapply.it.support.Workload;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection to the target is lost while its backend goes on: whether it committed is not known, and nothing is doubled. */
class CutConnectionIT {

    @ParameterizedTest
    @EnumSource(TcpProxy.Moment.class)
    void a_connection_cut_around_its_commit_doubles_and_loses_nothing(TcpProxy.Moment moment) {
        try (Scenario scenario = Scenario.shared();
                TcpProxy proxy = throughProxy(scenario)) {
            scenario.onBoth("CREATE TABLE log(v int)").publish("log").start();
            for (int i = 0; i < RunOptions.number(1, 3); i++) {
                int cuts = proxy.cuts();
                // A new session sends its first commits as text, together with the origin's progress; later it names a
                // prepared one.
                proxy.cut();
                proxy.cutAt("pg_replication_origin_xact_setup(", moment);
                for (int sent = 0; proxy.cuts() == cuts && sent < 200; sent++) {
                    scenario.publisher().execute("INSERT INTO log VALUES (" + i + ")");
                    scenario.publisher().execute("SELECT pg_sleep(0.02)");
                }
                assertThat(proxy.cuts()).isEqualTo(cuts + 1);

                scenario.assertSame("log");
            }
        }
    }

    @Test
    void connections_cut_at_random_moments_double_and_lose_nothing() {
        long seed = RunOptions.seed();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (Scenario scenario = Scenario.shared();
                TcpProxy proxy = throughProxy(scenario)) {
            Workload.prepare(scenario.pair());
            scenario.start();
            try (TornReadPoller poller = TornReadPoller.start(scenario.target(), Workload.LEDGER_TOTAL, "0");
                    Workload workload = Workload.start(scenario.publisher(), 2, seed, 1_000)) {
                for (int i = 0; i < RunOptions.number(4, 40); i++) {
                    workload.awaitTransactions(10 + random.nextInt(100));
                    proxy.cut();
                    Wait.until("connections to be made again", () -> proxy.connections() > 0);
                }
                workload.close();
                scenario.assertSame(Workload.names());
                poller.assertNeverTorn();
            }
        }
    }

    private static TcpProxy throughProxy(Scenario scenario) {
        TcpProxy proxy = TcpProxy.to(scenario.target().server().port());
        scenario.targetUrl(scenario.target().libpqUrl(PostgresServer.SUPERUSER, proxy.port()));
        return proxy;
    }
}
