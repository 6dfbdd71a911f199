package dev.pgapply.it.support;

import dev.pgapply.core.Lsn;
import java.time.Duration;

/** PostgreSQL's own subscription on the target: the oracle of differential tests. */
public final class NativeSubscription implements Subscriber {

    private static final Duration CATCH_UP = RunOptions.duration(Duration.ofMinutes(2), Duration.ofMinutes(15));

    private final String name;
    private final Database publisher;
    private final Database target;

    private NativeSubscription(String name, Database publisher, Database target) {
        this.name = name;
        this.publisher = publisher;
        this.target = target;
    }

    /**
     * {@code CREATE SUBSCRIPTION} and the start of its copy.
     *
     * @param options what goes into WITH (...), such as {@code "streaming = off"}
     */
    public static NativeSubscription create(DatabasePair pair, String... options) {
        return create("native_" + pair.name(), pair.publisher(), pair.target(), options);
    }

    public static NativeSubscription create(String name, Database publisher, Database target, String... options) {
        target.execute("CREATE SUBSCRIPTION " + Database.quote(name) + " CONNECTION "
                + Database.literal(publisher.libpqKeywords()) + " PUBLICATION " + DatabasePair.PUBLICATION
                + (options.length == 0 ? "" : " WITH (" + String.join(", ", options) + ")"));
        return new NativeSubscription(name, publisher, target);
    }

    @Override
    public void awaitStreaming() {
        Wait.until(
                "native subscription to be synchronised",
                CATCH_UP,
                () -> target.number("SELECT count(*) FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')") == 0,
                () -> target.server().log());
    }

    @Override
    public void awaitCaughtUp() {
        Lsn end = publisher.insertLsn();
        Wait.until(
                "native subscription to have flushed " + end,
                CATCH_UP,
                () -> !publisher.confirmedFlushLsn(name).isBefore(end),
                () -> target.server().log());
    }

    @Override
    public void stop() {
        target.execute("ALTER SUBSCRIPTION " + Database.quote(name) + " DISABLE");
        Wait.until(
                "native apply worker to end",
                () -> publisher.number("SELECT count(*) FROM pg_replication_slots WHERE active AND slot_name = "
                                + Database.literal(name))
                        == 0);
    }

    @Override
    public void start() {
        target.execute("ALTER SUBSCRIPTION " + Database.quote(name) + " ENABLE");
    }

    @Override
    public void close() {
        target.execute("DROP SUBSCRIPTION " + Database.quote(name));
    }
}
