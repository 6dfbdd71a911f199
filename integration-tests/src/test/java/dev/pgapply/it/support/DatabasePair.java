package dev.pgapply.it.support;

/**
 * An empty database on a publisher and one on a target, with names that nothing else on those servers has. Closing it drops both, with
 * slots and subscriptions in them.
 *
 * @param name valid as the name of a subscription, slot or database; both databases are called so
 */
public record DatabasePair(String name, Database publisher, Database target) implements AutoCloseable {

    /** The publication that {@link #publish} creates. */
    public static final String PUBLICATION = "pb";

    /** On the shared servers of the run's versions. */
    public static DatabasePair shared() {
        return shared(RunOptions.publisherVersion(), RunOptions.targetVersion());
    }

    /** On the shared servers of these versions. */
    public static DatabasePair shared(int publisherVersion, int targetVersion) {
        return on(SharedServers.publisher(publisherVersion), SharedServers.target(targetVersion));
    }

    /** On servers of the caller's own. */
    public static DatabasePair on(PostgresServer publisher, PostgresServer target) {
        String name = RunOptions.uniqueName("it");
        return new DatabasePair(name, publisher.createDatabase(name), target.createDatabase(name));
    }

    /** Runs the same statements on both sides. */
    public DatabasePair onBoth(String... statements) {
        publisher.execute(statements);
        target.execute(statements);
        return this;
    }

    /** {@code CREATE PUBLICATION pb FOR TABLE ...}; the tables as SQL wants them. */
    public DatabasePair publish(String... tables) {
        publisher.execute("CREATE PUBLICATION " + PUBLICATION + " FOR TABLE " + String.join(", ", tables));
        return this;
    }

    /** {@code CREATE PUBLICATION pb FOR ALL TABLES}. */
    public DatabasePair publishAll() {
        publisher.execute("CREATE PUBLICATION " + PUBLICATION + " FOR ALL TABLES");
        return this;
    }

    /** The configuration of an engine with one subscription of this pair, named {@link #name()}, to publication {@code pb}. */
    public EngineConfig config() {
        return EngineConfig.subscription(name)
                .from(publisher)
                .to(target)
                .publications(PUBLICATION)
                .build();
    }

    @Override
    public void close() {
        publisher.drop();
        target.drop();
    }
}
