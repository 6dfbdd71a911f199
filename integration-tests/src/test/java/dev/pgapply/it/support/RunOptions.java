package dev.pgapply.it.support;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;

/** The choices of one run, given as system properties by integration-tests/pom.xml. Thread-safe. */
public final class RunOptions {

    private static final AtomicInteger COUNTER = new AtomicInteger();

    private RunOptions() {}

    /** Major version of the publisher where a test does not ask for one: {@code pgapply.it.publisher}, 18. */
    public static int publisherVersion() {
        return Integer.getInteger("pgapply.it.publisher", 18);
    }

    /** Major version of the target where a test does not ask for one: {@code pgapply.it.target}, 18. */
    public static int targetVersion() {
        return Integer.getInteger("pgapply.it.target", 18);
    }

    /** Whether servers run as containers ({@code pgapply.it.servers=containers}) and not from the zonky binaries. */
    public static boolean containers() {
        return "containers".equals(System.getProperty("pgapply.it.servers", "embedded"));
    }

    /** Whether this is a run with the full numbers ({@code -Plong}). */
    public static boolean longRun() {
        return Boolean.getBoolean("pgapply.long");
    }

    /** One number of two: the first in {@code mvn verify}, the second with {@code -Plong}. */
    public static int number(int shortRun, int longRun) {
        return longRun() ? longRun : shortRun;
    }

    /** One duration of two: the first in {@code mvn verify}, the second with {@code -Plong}. */
    public static Duration duration(Duration shortRun, Duration longRun) {
        return longRun() ? longRun : shortRun;
    }

    /** Leaves a combination to {@code -Plong}: it differs from its neighbours by less than it costs. */
    public static void takenByLongRunOnly(boolean combination) {
        Assumptions.assumeTrue(longRun() || !combination, "only with -Plong");
    }

    /** How many seeds a randomized test runs: {@code pgapply.seeds}. */
    public static int seeds() {
        return Integer.getInteger("pgapply.seeds", 200);
    }

    /** The seed to start with: {@code pgapply.seed} where one is given, else a new one. Print it. */
    public static long seed() {
        String given = System.getProperty("pgapply.seed", "");
        return given.isBlank() ? new Random().nextInt(Integer.MAX_VALUE) : Long.parseLong(given.trim());
    }

    /** The runnable jar that the reactor has built. */
    public static Path engineJar() {
        return Path.of(System.getProperty("pgapply.jar", "../apply-launcher/target/pgapply.jar"))
                .toAbsolutePath()
                .normalize();
    }

    /** Where the five jars with PostgreSQL's binaries are. */
    static Path binaries() {
        return Path.of(System.getProperty("pgapply.it.binaries", "target/postgres-binaries"))
                .toAbsolutePath();
    }

    /** A directory that no other caller gets, below {@code target/it}; not created yet. */
    public static Path newDirectory(String name) {
        return sharedDirectory(ProcessHandle.current().pid() + "-" + COUNTER.incrementAndGet() + "-" + name);
    }

    /** The directory of that name below {@code target/it}, the same for all JVMs of all runs. */
    static Path sharedDirectory(String name) {
        return Path.of(System.getProperty("pgapply.it.work", "target/it"))
                .toAbsolutePath()
                .resolve(name);
    }

    /** A name that no other caller of this JVM gets, valid for a database, a slot and a subscription. */
    public static String uniqueName(String prefix) {
        return prefix + "_" + COUNTER.incrementAndGet();
    }
}
