package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.ConnectionUrl;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.SharedServers;
import dev.pgapply.worker.preflight.Finding;
import dev.pgapply.worker.preflight.Finding.Severity;
import dev.pgapply.worker.preflight.Preflight;
import java.util.List;
import org.junit.jupiter.api.Test;

class PreflightIT {

    private static List<String> lines(List<Finding> findings, Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .map(Finding::message)
                .toList();
    }

    @Test
    void a_pair_that_is_as_it_should_be_has_neither_error_nor_warning() {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY, v text)").publish("t");

            List<Finding> findings = Preflight.run(FirstStart.options(pair));

            assertThat(lines(findings, Severity.ERROR)).isEmpty();
            assertThat(lines(findings, Severity.WARNING)).isEmpty();
            assertThat(lines(findings, Severity.OK))
                    .contains(
                            "publication \"pb\" has 1 table",
                            "replication slot \"" + pair.name() + "\" will be created");
            assertThat(pair.target().isTrue("SELECT to_regnamespace('pgapply') IS NULL"))
                    .isTrue();
        }
    }

    @Test
    void all_problems_of_both_sides_are_found_at_once() {
        try (DatabasePair pair = DatabasePair.shared()) {
            String role = RunOptions.uniqueName("engine");
            String onPublisher = role + "_p";
            String onTarget = role + "_t";
            pair.onBoth(
                    "CREATE TABLE rls (id int PRIMARY KEY, owner text)",
                    "CREATE TABLE guarded (id int PRIMARY KEY)",
                    "CREATE TABLE filled (id int PRIMARY KEY)",
                    "CREATE TABLE keyless (id int)",
                    "CREATE TABLE other (id int PRIMARY KEY, v int)");
            pair.publisher()
                    .execute(
                            "CREATE TABLE absent (id int PRIMARY KEY)",
                            "CREATE TABLE shorter (id int PRIMARY KEY, v text)",
                            "CREATE ROLE " + onPublisher + " LOGIN",
                            "ALTER TABLE rls ENABLE ROW LEVEL SECURITY",
                            "ALTER TABLE keyless REPLICA IDENTITY FULL",
                            "GRANT SELECT ON rls, filled, keyless, other, absent, shorter TO " + onPublisher);
            pair.publish("rls", "guarded", "filled", "keyless", "other", "absent", "shorter");
            pair.target()
                    .execute(
                            "CREATE TABLE shorter (id int PRIMARY KEY)",
                            "CREATE ROLE " + onTarget + " LOGIN",
                            "GRANT ALL ON rls, filled, keyless, other, shorter TO " + onTarget,
                            "GRANT SELECT ON guarded TO " + onTarget,
                            "ALTER TABLE other ALTER v TYPE bigint",
                            "INSERT INTO filled VALUES (1), (2)",
                            "CREATE PUBLICATION down FOR ALL TABLES",
                            "CREATE FUNCTION noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                            "CREATE TRIGGER stmt AFTER INSERT ON filled EXECUTE FUNCTION noop()");
            SubscriptionOptions options = FirstStart.options(
                    FirstStart.url(pair.publisher(), onPublisher),
                    FirstStart.url(pair.target(), onTarget),
                    pair.name(),
                    true,
                    true,
                    List.of("pb", "nowhere"));

            List<Finding> findings = Preflight.run(options);

            assertThat(lines(findings, Severity.ERROR))
                    .anyMatch(line ->
                            line.startsWith("role \"" + onPublisher + "\" cannot open a replication connection"))
                    .contains(
                            "publication \"nowhere\" does not exist on the publisher",
                            "row-level security of table \"public.rls\" would hide rows from role \"" + onPublisher
                                    + "\" in the initial copy",
                            "role \"" + onPublisher
                                    + "\" lacks SELECT to copy table \"public.guarded\" from the publisher",
                            "role \"" + onTarget
                                    + "\" may not create schema \"pgapply\" in the target, where the subscription's"
                                    + " state lives",
                            "role \"" + onTarget
                                    + "\" lacks INSERT, UPDATE, DELETE, TRUNCATE on target table \"public.guarded\"",
                            "logical replication target relation \"public.absent\" does not exist",
                            "logical replication target relation \"public.shorter\" is missing replicated column: \"v\"",
                            "target is not empty: table \"public.filled\" has 2 rows");
            assertThat(lines(findings, Severity.WARNING))
                    .anyMatch(line -> line.contains("may not set session_replication_role"))
                    .anyMatch(line -> line.contains("may not use replication origins"))
                    .anyMatch(line -> line.contains("publication \"down\" of the target is FOR ALL TABLES"))
                    .anyMatch(line ->
                            line.contains("rows of target table \"public.keyless\" are found by all their columns"))
                    .anyMatch(line -> line.contains("target table \"public.other\" has other types for \"v\" (integer"))
                    .anyMatch(line -> line.contains("\"public.filled\" would fire") && line.endsWith("stmt"));
            assertThat(findings).allMatch(finding -> !finding.toString().contains("\n"));
            pair.publisher().execute("DROP OWNED BY " + onPublisher, "DROP ROLE " + onPublisher);
            pair.target().execute("DROP OWNED BY " + onTarget, "DROP ROLE " + onTarget);
        }
    }

    @Test
    void a_server_that_cannot_be_reached_does_not_hide_what_is_wrong_with_the_other() {
        try (DatabasePair pair = DatabasePair.shared()) {
            ConnectionUrl nowhere = ConnectionUrl.parse("postgresql://u@127.0.0.1:1/x", "s3cret", "u");
            SubscriptionOptions options = FirstStart.options(
                    nowhere, FirstStart.url(pair.target(), null), pair.name(), true, true, List.of("pb"));

            List<Finding> findings = Preflight.run(options);

            assertThat(findings)
                    .filteredOn(finding -> finding.severity() == Severity.ERROR)
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.code()).isEqualTo("publisher_connection");
                        assertThat(finding.kind()).isEqualTo(Kind.CONNECTION);
                        assertThat(finding.toString())
                                .contains("connection refused")
                                .doesNotContain("s3cret");
                    });
            assertThat(findings).anyMatch(finding -> finding.code().equals("target_version"));
        }
    }

    @Test
    void a_slot_in_use_by_somebody_else_is_named_and_the_subscriptions_own_engine_is_not() throws Exception {
        try (DatabasePair pair = DatabasePair.shared()) {
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)").publish("t");
            try (FirstStart start = FirstStart.of(FirstStart.options(pair))) {
                assertThat(start.run().slotName()).isEqualTo(pair.name());
            }

            try (var own = FirstStart.stream(pair, pair.name())) {
                assertThat(lines(Preflight.run(FirstStart.options(pair)), Severity.ERROR))
                        .isEmpty();
            }
            try (var other = FirstStart.stream(pair, "somebody")) {
                assertThat(lines(Preflight.run(FirstStart.options(pair)), Severity.ERROR))
                        .singleElement()
                        .asString()
                        .contains("is active for pid")
                        .contains("\"somebody\"");
            }
            pair.publisher().dropSlot(pair.name());
            assertThat(lines(Preflight.run(FirstStart.options(pair)), Severity.ERROR))
                    .containsExactly("replication slot \"" + pair.name()
                            + "\" does not exist on the publisher any more: what it would have sent is lost");
        }
    }

    @Test
    void a_publisher_without_logical_wal_is_told_what_to_change() {
        try (PostgresServer publisher = PostgresServer.target(14).start()) {
            DatabasePair pair = DatabasePair.on(publisher, SharedServers.target(18));
            pair.onBoth("CREATE TABLE t (id int PRIMARY KEY)").publish("t");

            List<Finding> findings = Preflight.run(FirstStart.options(pair));

            assertThat(lines(findings, Severity.ERROR))
                    .containsExactly("publisher's wal_level is \"replica\", it must be \"logical\"");
            pair.close();
        }
    }
}
