package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What an applier costs while nothing happens: CPU of its own process and of both servers over a while, after it has settled. */
final class IdleBench {

    /** For {@code -Dbench.only}. */
    static final String NAME = "idle";

    /** What a start leaves to do, such as compiling, is over by then. */
    private static final long SETTLING_SECONDS = 15;

    private static final double SECONDS = 60;

    private final PostgresServer publisherServer;
    private final PostgresServer targetServer;
    private final long seconds;

    IdleBench(PostgresServer publisherServer, PostgresServer targetServer, double scale) {
        this.publisherServer = publisherServer;
        this.targetServer = targetServer;
        this.seconds = Math.max(10, Math.round(SECONDS * scale));
    }

    /**
     * One contestant at rest.
     *
     * @param measurement its seconds are those of the observation
     */
    record Idle(String contestant, Measurement measurement) {

        double percentOfACore(double cpuSeconds) {
            return 100 * cpuSeconds / measurement.seconds();
        }
    }

    List<Idle> run(List<Contestant> contestants) throws InterruptedException {
        List<Idle> all = new ArrayList<>();
        for (Contestant contestant : contestants) {
            all.add(measure(contestant));
        }
        return all;
    }

    private Idle measure(Contestant contestant) throws InterruptedException {
        String name = NAME + "_" + contestant.name();
        Database publisher = publisherServer.createDatabase(name);
        Database target = targetServer.createDatabase(name);
        List.of(publisher, target).forEach(side -> side.execute("CREATE TABLE single(id bigint PRIMARY KEY)"));
        publisher.execute(
                "CREATE PUBLICATION bench FOR ALL TABLES",
                "SELECT pg_create_logical_replication_slot('" + name + "', 'pgoutput')",
                "INSERT INTO single VALUES (1)");
        try (Contestant.Run run = contestant.start(publisher, target, name)) {
            double unused =
                    SlotProgress.secondsUntil(publisher, name, publisher.insertLsn(), SETTLING_SECONDS * 4, run::check);
            TimeUnit.SECONDS.sleep(SETTLING_SECONDS);
            ServerCpu publisherCpu = new ServerCpu(publisherServer);
            ServerCpu targetCpu = new ServerCpu(targetServer);
            double publisherBefore = publisherCpu.seconds();
            double targetBefore = targetCpu.seconds();
            double ownBefore = run.cpuSeconds();
            long begin = System.nanoTime();
            TimeUnit.SECONDS.sleep(seconds);
            Measurement measurement = new Measurement(
                    (System.nanoTime() - begin) / 1e9,
                    publisherCpu.seconds() - publisherBefore,
                    targetCpu.seconds() - targetBefore,
                    run.cpuSeconds() - ownBefore);
            run.check();
            return new Idle(contestant.name(), measurement);
        } finally {
            // With its slot, whose walsender may still be decoding.
            publisher.drop();
            target.drop();
        }
    }
}
