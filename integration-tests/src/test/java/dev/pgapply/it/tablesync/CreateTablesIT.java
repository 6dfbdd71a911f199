package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.TableComparison;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code create_tables: missing} on real servers: what comes to be on a target that has nothing, or something, of what is published. */
class CreateTablesIT {

    private static void firstStart(DatabasePair pair) {
        try (FirstStart start = FirstStart.of(FirstStart.creatingTables(pair))) {
            assertThat(start.run().consistentPoint()).isNotNull();
        }
    }

    @ParameterizedTest
    @CsvSource({"18, 18", "14, 18", "18, 14"})
    void a_target_without_any_table_becomes_equal_to_the_publisher(int publisherVersion, int targetVersion) {
        try (DatabasePair pair = DatabasePair.shared(publisherVersion, targetVersion)) {
            pair.publisher().execute(RichSchema.STATEMENTS);
            pair.publishAll();

            firstStart(pair);

            SchemaFacts.assertSame(pair);
            TableComparison.of(pair)
                    .assertSame(
                            "\"Sch.ema\".\"select\"",
                            "child",
                            "\"Item\"",
                            "append",
                            "base",
                            "kid",
                            "ev",
                            "seen",
                            "listed",
                            "columnless");
            assertThat(pair.target().column("SELECT table_name FROM pgapply.created_table"))
                    .isEmpty();
        }
    }
}
