package dev.pgapply.it.tablesync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a database's catalogs say of its users' tables and all that belongs to them, one line a fact, for comparing two databases. Schema
 * {@code gate} is the tests' own.
 */
final class SchemaFacts {

    private static final String OURS =
            "n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'pgapply', 'gate') AND n.nspname NOT LIKE 'pg_temp%'";

    private static final List<String> QUERIES = List.of(
            "SELECT 'schema ' || nspname FROM pg_namespace n WHERE %s",
            "SELECT concat_ws(' ', 'table', c.oid::regclass, c.relkind, c.relreplident, c.reloptions::text, pg_get_partkeydef(c.oid),"
                    + " pg_get_expr(c.relpartbound, c.oid), (SELECT string_agg(i.inhparent::regclass::text, ',' ORDER BY i.inhseqno)"
                    + " FROM pg_inherits i WHERE i.inhrelid = c.oid))"
                    + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND %s",
            "SELECT concat_ws(' ', 'column', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation,"
                    + " a.attnotnull, a.attidentity, a.attgenerated, a.attstorage, pg_get_expr(d.adbin, d.adrelid),"
                    + " pg_get_serial_sequence(c.oid::regclass::text, a.attname))"
                    + " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
                    + " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
                    + " WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND %s",
            "SELECT concat_ws(' ', 'constraint', o.conrelid::regclass, o.conname, pg_get_constraintdef(o.oid), o.convalidated)"
                    + " FROM pg_constraint o JOIN pg_namespace n ON n.oid = o.connamespace WHERE o.conrelid <> 0 AND o.contype <> 'n'"
                    + " AND NOT (o.contype = 'f' AND o.conparentid <> 0) AND %s",
            "SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisreplident,"
                    + " (SELECT h.inhparent::regclass FROM pg_inherits h WHERE h.inhrelid = i.indexrelid))"
                    + " FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE %s",
            "SELECT concat_ws(' ', 'sequence', c.oid::regclass, q.seqtypid::regtype, q.seqstart, q.seqincrement, q.seqmin, q.seqmax,"
                    + " q.seqcache, q.seqcycle) FROM pg_sequence q JOIN pg_class c ON c.oid = q.seqrelid"
                    + " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE %s",
            "SELECT concat_ws(' ', 'type', t.oid::regtype, t.typtype, (SELECT string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder)"
                    + " FROM pg_enum e WHERE e.enumtypid = t.oid), t.typnotnull, t.typdefault, t.typcollation::regcollation,"
                    + " CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END,"
                    + " (SELECT string_agg(o.conname || ' ' || pg_get_constraintdef(o.oid), ',' ORDER BY o.conname)"
                    + " FROM pg_constraint o WHERE o.contypid = t.oid AND o.contype = 'c'),"
                    + " (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ',' ORDER BY a.attnum)"
                    + " FROM pg_attribute a WHERE a.attrelid = t.typrelid AND t.typtype = 'c'),"
                    + " (SELECT concat_ws(' ', r.rngsubtype::regtype, r.rngsubdiff, r.rngmultitypid::regtype)"
                    + " FROM pg_range r WHERE r.rngtypid = t.oid))"
                    + " FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype <> 'b' AND %s"
                    + " AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind <> 'c')");

    private SchemaFacts() {}

    /** Fails with the facts that only one side has. */
    static void assertSame(DatabasePair pair) {
        List<String> onPublisher = of(pair.publisher());
        List<String> onTarget = of(pair.target());
        List<String> missing = new ArrayList<>(onPublisher);
        missing.removeAll(onTarget);
        List<String> unwanted = new ArrayList<>(onTarget);
        unwanted.removeAll(onPublisher);
        assertThat(String.join("\n", missing)).as("only on the publisher").isEmpty();
        assertThat(String.join("\n", unwanted)).as("only on the target").isEmpty();
    }

    /** Sorted; names qualified wherever PostgreSQL would. */
    static List<String> of(Database database) {
        List<String> facts = new ArrayList<>();
        for (String query : QUERIES) {
            facts.addAll(database.column("SELECT f FROM (" + query.formatted(OURS) + ") q(f)"));
        }
        return facts.stream().sorted().collect(Collectors.toList());
    }
}
