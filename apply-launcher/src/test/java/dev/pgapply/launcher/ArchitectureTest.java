package dev.pgapply.launcher;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What apply-launcher is: the process and what people see of it. */
@AnalyzeClasses(packages = "dev.pgapply.launcher", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchRule the_launcher_has_no_sql = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..")
            .because("connections belong to apply-worker: ask SubscriptionWorker, Preflight or SubscriptionCatalog");

    @ArchTest
    static final ArchRule the_launcher_knows_no_tests = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pgapply.it..")
            .because("modules depend one way: integration-tests on launcher on worker on core");

    @ArchTest
    static final ArchRule http_is_in_rest_only = noClasses()
            .that()
            .resideOutsideOfPackage("dev.pgapply.launcher.rest..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.javalin..", "org.eclipse.jetty..", "jakarta.servlet..")
            .because("what an answer says is decided without the server that sends it: hand rest a value");

    @ArchTest
    static final ArchRule metrics_are_in_metrics_only = noClasses()
            .that()
            .resideOutsideOfPackage("dev.pgapply.launcher.metrics..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "io.prometheus..")
            .because("counters are the worker's values; metrics alone gives them names and text");

    @ArchTest
    static final ArchRule the_command_line_is_in_cli_only = noClasses()
            .that()
            .resideOutsideOfPackages("dev.pgapply.launcher", "dev.pgapply.launcher.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("picocli..")
            .because("whatever a command does must run without a command line: cli hands on what was said as values");

    @ArchTest
    static final ArchRule packages_are_free_of_cycles = slices().matching("dev.pgapply.launcher.(*)..")
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
