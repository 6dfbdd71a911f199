package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Foreign keys on the target under a role for which they fire: case R04, run B. */
class ForeignKeysIT {

    private static final String[] TABLES = {"par", "chi", "c1", "c2"};

    @Test
    void r04_b_a_role_that_may_not_turn_foreign_keys_off_gets_the_same_rows() {
        try (Scenario scenario = Scenario.shared()) {
            String role = prepare(scenario, "DEFERRABLE");
            scenario.start();

            scenario.publisher()
                    .execute(
                            "INSERT INTO par VALUES (2,1),(1,NULL),(3,2)",
                            "INSERT INTO chi VALUES (1,1),(2,2),(3,3)",
                            "INSERT INTO par VALUES (4,NULL)",
                            "INSERT INTO chi VALUES (4,4)");
            scenario.publisher().transaction("INSERT INTO c1 VALUES (1,1)", "INSERT INTO c2 VALUES (1,1)");
            scenario.publisher()
                    .execute(
                            "UPDATE par SET boss = NULL",
                            "UPDATE par SET id = 10 WHERE id = 1",
                            "DELETE FROM par WHERE id = 3");

            scenario.assertSame(TABLES);
            assertThat(scenario.engine().log()).doesNotContain("ERROR");
            dropRole(scenario, role);
        }
    }

    @Test
    void r04_b_a_key_that_cannot_wait_for_the_commit_stops_with_what_would_help() {
        try (Scenario scenario = Scenario.shared()) {
            String role = prepare(scenario, "NOT DEFERRABLE");
            scenario.start();

            scenario.publisher().execute("INSERT INTO par VALUES (2,1),(1,NULL)");

            assertThat(scenario.engine().awaitError("par_boss_fkey").toString())
                    .contains("GRANT SET ON PARAMETER session_replication_role");
            scenario.target().execute("ALTER TABLE par ALTER CONSTRAINT par_boss_fkey DEFERRABLE");
            scenario.assertSame(TABLES);
            dropRole(scenario, role);
        }
    }

    /** The role owns the tables on the target, and has no other rights there. */
    private static String prepare(Scenario scenario, String selfReference) {
        scenario.onBoth(
                        "CREATE TABLE par(id int PRIMARY KEY, boss int REFERENCES par " + selfReference + ")",
                        "CREATE TABLE chi(id int PRIMARY KEY, p int REFERENCES par ON DELETE CASCADE ON UPDATE CASCADE)",
                        "CREATE TABLE c1(id int PRIMARY KEY, o int)",
                        "CREATE TABLE c2(id int PRIMARY KEY, o int REFERENCES c1 DEFERRABLE INITIALLY DEFERRED)",
                        "ALTER TABLE c1 ADD FOREIGN KEY(o) REFERENCES c2 DEFERRABLE INITIALLY DEFERRED")
                .publish(TABLES);
        Database target = scenario.target();
        String role = "owner_" + scenario.slot();
        List<String> statements = new ArrayList<>();
        statements.add("CREATE ROLE " + role + " LOGIN PASSWORD " + Database.literal(PostgresServer.PASSWORD));
        statements.add("GRANT CREATE ON DATABASE " + Database.quote(target.name()) + " TO " + role);
        for (String table : TABLES) {
            statements.add("ALTER TABLE " + table + " OWNER TO " + role);
        }
        target.execute(statements.toArray(String[]::new));
        scenario.targetUrl(target.libpqUrl(role, target.server().port()));
        return role;
    }

    private static void dropRole(Scenario scenario, String role) {
        scenario.stop();
        scenario.target()
                .execute(
                        "REASSIGN OWNED BY " + role + " TO CURRENT_USER", "DROP OWNED BY " + role, "DROP ROLE " + role);
    }
}
