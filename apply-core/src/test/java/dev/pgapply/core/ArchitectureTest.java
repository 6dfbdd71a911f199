package dev.pgapply.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;
import java.util.Random;

/** What apply-core is: pure logic that every test can run without a server, a thread or a clock. */
@AnalyzeClasses(packages = "dev.pgapply.core", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule core_touches_no_network_and_no_database = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.net..", "java.sql..", "javax.sql..", "org.postgresql..", "java.nio.channels..")
            .because("core has bytes and values only; what connects belongs to apply-worker, behind core.target");

    @ArchTest
    static final ArchRule core_has_no_threads = noClasses()
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Thread.class)
            .orShould()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.concurrent..")
            .because(
                    "each mutable class of core is owned by one thread of apply-worker, which does the waiting and locking");

    @ArchTest
    static final ArchRule core_takes_time_and_chance_from_outside = noClasses()
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
            .because(
                    "a test must be able to say what time it is and which numbers come: take a Clock, a ticker or a Random"
                            + " as a constructor argument");

    @ArchTest
    static final ArchRule core_does_not_log = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.slf4j..", "java.util.logging..", "java.lang.System$Logger")
            .because(
                    "core returns what happened or throws an ApplyException; the worker's loop knows who wants to read it");

    @ArchTest
    static final ArchRule core_prints_nothing = noClasses()
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err")
            .because("results go to the caller");

    @ArchTest
    static final ArchRule core_knows_no_other_module = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pgapply.worker..", "dev.pgapply.launcher..", "dev.pgapply.it..")
            .because("modules depend one way: launcher on worker on core");

    @ArchTest
    static final ArchRule the_values_at_the_top_know_no_package_below = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.core")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pgapply.core.*..")
            .because("Lsn, Xid, Oid and their like are used everywhere and use nothing");

    @ArchTest
    static final ArchRule packages_are_free_of_cycles = slices().matching("dev.pgapply.core.(*)..")
            .should()
            .beFreeOfCycles()
            .because(
                    "target needs batch, batch needs relation, relation needs pgoutput: move the class to the package whose"
                            + " word it is, or pass what it needs as a value");

    @ArchTest
    static final ArchRule names_say_what_a_class_is = noClasses()
            .should()
            .haveNameMatching(".*\\.[^.]*(Util|Helper|Manager)[^.]*")
            .orShould()
            .haveNameMatching(".*\\.([^.]*Impl|Abstract[^.]*)")
            .because("such a name says nothing: use PostgreSQL's word for it, or the noun of what it holds");
}
