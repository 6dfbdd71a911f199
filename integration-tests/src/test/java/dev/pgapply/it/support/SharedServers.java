package dev.pgapply.it.support;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One publisher and one target of each version for all tests of this JVM, started when first asked for. A test on them has databases
 * of its own and leaves the servers running and as they are. Thread-safe.
 */
public final class SharedServers {

    private static final Map<Integer, PostgresServer> PUBLISHERS = new ConcurrentHashMap<>();
    private static final Map<Integer, PostgresServer> TARGETS = new ConcurrentHashMap<>();

    private SharedServers() {}

    public static PostgresServer publisher(int version) {
        return PUBLISHERS.computeIfAbsent(
                version, wanted -> PostgresServer.publisher(wanted).start());
    }

    public static PostgresServer target(int version) {
        return TARGETS.computeIfAbsent(
                version, wanted -> PostgresServer.target(wanted).start());
    }
}
