package dev.pgapply.it;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.TableComparison;
import java.util.List;
import org.assertj.core.api.Assertions;

/**
 * CASES.md's BOTHPATHS: the same rows travel once by the initial copy, with ids below 1000, and once by the stream, with ids from 1000
 * on. Both must come out as on the publisher, and like each other.
 */
final class BothPaths {

    private final Scenario scenario;
    private final String table;

    private BothPaths(Scenario scenario, String table) {
        this.scenario = scenario;
        this.table = table;
    }

    /**
     * @param table exists on both sides, is published, and has a first column id
     * @param rows inserts into {@code source}, a table of the same columns on the publisher
     * @param updates statements on the table with {@code :half} where the ids' half belongs
     */
    static void run(Scenario scenario, String table, String rows, String... updates) {
        BothPaths paths = new BothPaths(scenario, table);
        Database publisher = scenario.publisher();
        publisher.execute("CREATE TABLE source (LIKE " + table + ")", rows);
        paths.half("id < 1000", updates);
        scenario.start();
        publisher.execute("UPDATE source SET id = id + 1000");
        paths.half("id >= 1000", updates);
        scenario.assertSame(table);
        paths.assertHalvesAlike();
    }

    private void half(String half, String... updates) {
        scenario.publisher().execute("INSERT INTO " + table + " SELECT * FROM source");
        for (String update : updates) {
            scenario.publisher().execute(update.replace(":half", half));
        }
    }

    private void assertHalvesAlike() {
        String columns = String.valueOf(scenario.target()
                .value(
                        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '"
                                + table + "'::regclass AND attnum > 1 AND NOT attisdropped"));
        List<String> copied = rows(columns, "id < 1000");
        Assertions.assertThat(rows(columns, "id >= 1000")).isEqualTo(copied);
        TableComparison.of(scenario.pair()).assertSameRows("SELECT * FROM " + table + " WHERE id >= 1000");
    }

    private List<String> rows(String columns, String half) {
        return scenario.target()
                .column("SELECT r::text FROM (SELECT id % 1000 AS id, " + columns + " FROM " + table + " WHERE " + half
                        + ") r ORDER BY id");
    }
}
