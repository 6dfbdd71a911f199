package dev.pgapply.worker;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What apply-worker is: threads and connections, with time and chance given from outside. */
@AnalyzeClasses(packages = "dev.pgapply.worker", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule sql_stays_where_connections_are = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "dev.pgapply.worker.stream..",
                    "dev.pgapply.worker.jdbc..",
                    "dev.pgapply.worker.origin..",
                    "dev.pgapply.worker.tablesync..",
                    "dev.pgapply.worker.publisher..",
                    "dev.pgapply.worker.catalog..",
                    "dev.pgapply.worker.preflight..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..")
            .because(
                    "leader and apply must run in a test without a server: ask core.target, or a class of the packages that"
                            + " have connections, which translate SQLException by PostgresErrors");

    @ArchTest
    static final ArchRule the_worker_takes_time_and_chance_from_outside = noClasses()
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(Clock.class, "systemUTC")
            .orShould()
            .callMethod(Clock.class, "systemDefaultZone")
            .orShould()
            .callConstructor(Random.class)
            .orShould()
            .callMethod(Math.class, "random")
            .orShould()
            .callMethod(ThreadLocalRandom.class, "current")
            .because(
                    "a test must be able to say what time it is and which numbers come: take a Clock, a Ticker or a Random as"
                            + " a constructor argument");

    @ArchTest
    static final ArchRule nobody_sleeps = noClasses()
            .should()
            .callMethod(Thread.class, "sleep", long.class)
            .orShould()
            .callMethod(Thread.class, "sleep", long.class, int.class)
            .orShould()
            .callMethod(TimeUnit.class, "sleep", long.class)
            .because(
                    "a sleeping thread does not hear that it should stop: wait on a condition or a queue with a timeout");

    @ArchTest
    static final ArchRule what_people_see_is_the_launchers = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "picocli..",
                    "io.javalin..",
                    "org.eclipse.jetty..",
                    "com.fasterxml.jackson..",
                    "io.micrometer..",
                    "ch.qos.logback..")
            .because(
                    "the worker offers SubscriptionStatus and counters as values; command line, HTTP, YAML and metrics are made"
                            + " of them in apply-launcher");

    @ArchTest
    static final ArchRule the_worker_prints_nothing = noClasses()
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err")
            .because("what an operator should read goes to the log or into SubscriptionStatus");

    @ArchTest
    static final ArchRule the_worker_knows_no_launcher = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pgapply.launcher..", "dev.pgapply.it..")
            .because("modules depend one way: launcher on worker on core; the launcher hands in what the worker needs");

    @ArchTest
    static final ArchRule packages_are_free_of_cycles = slices().matching("dev.pgapply.worker.(*)..")
            .should()
            .beFreeOfCycles()
            .because(
                    "a package must be readable without those that use it: move the class to the package whose word it is, or"
                            + " let the lower one offer an interface");

    @ArchTest
    static final ArchRule names_say_what_a_class_is = noClasses()
            .should()
            .haveNameMatching(".*\\.[^.]*(Util|Helper|Manager)[^.]*")
            .orShould()
            .haveNameMatching(".*\\.([^.]*Impl|Abstract[^.]*)")
            .because("such a name says nothing: use PostgreSQL's word for it, or the noun of what it holds");
}
