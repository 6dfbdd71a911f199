package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.schema.ObjectIdentity;
import dev.pgapply.worker.schema.PublisherSchema;
import dev.pgapply.worker.schema.TableDefinition;
import dev.pgapply.worker.schema.TargetInventory;
import dev.pgapply.worker.schema.TargetInventory.Relation;
import dev.pgapply.worker.schema.TargetInventory.TableConstraint;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads what the target has, of all that a creation asks for. It changes nothing. Owned by the thread that owns the connection. */
final class TargetInventoryReader {

    private static final String SCHEMAS = """
            SELECT nspname, has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = ANY (?)
            """;

    private static final String RELATIONS = """
            SELECT n.nspname, c.relname, c.relkind::text, tn.nspname, t.relname,
                CASE WHEN c.relkind = 'p' THEN pg_get_partkeydef(c.oid) END
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_index i ON i.indexrelid = c.oid
            LEFT JOIN pg_class t ON t.oid = i.indrelid
            LEFT JOIN pg_namespace tn ON tn.oid = t.relnamespace
            WHERE n.nspname = ANY (?)
            """;

    private static final String TYPES = """
            SELECT n.nspname, t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname = ANY (?)
            """;

    private static final String CONSTRAINTS = """
            SELECT n.nspname, c.relname, o.conname FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ANY (?)
            """;

    private static final String OBJECTS = """
            SELECT i.type, i.identity FROM pg_namespace n CROSS JOIN LATERAL (
                SELECT 'pg_type'::regclass AS classid, oid FROM pg_type WHERE typnamespace = n.oid
                UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE pronamespace = n.oid
                UNION ALL SELECT 'pg_operator'::regclass, oid FROM pg_operator WHERE oprnamespace = n.oid
                UNION ALL SELECT 'pg_collation'::regclass, oid FROM pg_collation WHERE collnamespace = n.oid
                    AND collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
                UNION ALL SELECT 'pg_opclass'::regclass, oid FROM pg_opclass WHERE opcnamespace = n.oid
                UNION ALL SELECT 'pg_opfamily'::regclass, oid FROM pg_opfamily WHERE opfnamespace = n.oid
                UNION ALL SELECT 'pg_ts_config'::regclass, oid FROM pg_ts_config WHERE cfgnamespace = n.oid
                UNION ALL SELECT 'pg_ts_dict'::regclass, oid FROM pg_ts_dict WHERE dictnamespace = n.oid) o
            CROSS JOIN LATERAL pg_identify_object(o.classid, o.oid, 0) i
            WHERE n.nspname = ANY (?)
            """;

    private interface RowTaker {
        void take(ResultSet row) throws SQLException;
    }

    private final Connection connection;

    TargetInventoryReader(Connection connection) {
        this.connection = connection;
    }

    /** Those of the names that are no relation of the target, in the order given. */
    List<QualifiedName> absent(Collection<QualifiedName> names) {
        Set<QualifiedName> present = new HashSet<>();
        query(
                "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                        + " WHERE n.nspname = ANY (?)",
                schemasOf(names),
                row -> present.add(new QualifiedName(row.getString(1), row.getString(2))));
        return names.stream().filter(name -> !present.contains(name)).toList();
    }

    TargetInventory read(PublisherSchema schema) {
        Set<String> schemas = schemasOf(names(schema));
        Map<String, Boolean> mayCreate = new HashMap<>();
        query(SCHEMAS, schemas, row -> mayCreate.put(row.getString(1), row.getBoolean(2)));
        Map<QualifiedName, Relation> relations = new HashMap<>();
        query(RELATIONS, schemas, row -> relations.put(name(row), relation(row)));
        Set<QualifiedName> types = new HashSet<>();
        query(TYPES, schemas, row -> types.add(name(row)));
        Set<TableConstraint> constraints = new HashSet<>();
        query(CONSTRAINTS, schemas, row -> constraints.add(new TableConstraint(name(row), row.getString(3))));
        Set<String> objects = new HashSet<>();
        query(
                OBJECTS,
                needed(schema),
                row -> objects.add(new ObjectIdentity(row.getString(1), null, row.getString(2), null, null).key()));
        List<String> role = new ArrayList<>();
        query(
                "SELECT current_user, has_database_privilege(current_database(), 'CREATE') WHERE cardinality(?::text[]) >= 0",
                schemas,
                row -> {
                    role.add(row.getString(1));
                    role.add(row.getString(2));
                });
        return new TargetInventory(
                PostgresConnections.serverMajorVersion(connection),
                role.get(0),
                role.get(1).equals("t"),
                mayCreate,
                relations,
                types,
                constraints,
                objects);
    }

    private static QualifiedName name(ResultSet row) throws SQLException {
        return new QualifiedName(row.getString(1), row.getString(2));
    }

    private static Relation relation(ResultSet row) throws SQLException {
        String table = row.getString(5);
        @Nullable QualifiedName indexed = table == null ? null : new QualifiedName(row.getString(4), table);
        return new Relation(row.getString(3).charAt(0), indexed, row.getString(6));
    }

    /** Everything that is created or has a place of its own. */
    private static List<QualifiedName> names(PublisherSchema schema) {
        List<QualifiedName> names = new ArrayList<>();
        for (TableDefinition table : schema.tables()) {
            names.add(table.name());
            names.addAll(table.parents());
            table.constraints().forEach(constraint -> {
                if (constraint.referenced() != null) {
                    names.add(constraint.referenced());
                }
            });
        }
        schema.types().forEach(type -> names.add(type.name()));
        schema.sequences().forEach(sequence -> names.add(sequence.name()));
        schema.needs().forEach(need -> {
            if (need.relation() != null) {
                names.add(need.relation());
            }
        });
        return names;
    }

    private static Set<String> schemasOf(Collection<QualifiedName> names) {
        Set<String> schemas = new HashSet<>();
        names.forEach(name -> schemas.add(name.schema()));
        return schemas;
    }

    private static Set<String> needed(PublisherSchema schema) {
        Set<String> schemas = new HashSet<>();
        schema.needs().forEach(need -> {
            if (need.schema() != null) {
                schemas.add(need.schema());
            }
        });
        return schemas;
    }

    private void query(String sql, Collection<String> schemas, RowTaker taker) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Array array = connection.createArrayOf("text", schemas.toArray());
            statement.setArray(1, array);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    taker.take(row);
                }
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read what the target has", e);
        }
    }
}
