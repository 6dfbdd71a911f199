package dev.pgapply.worker.jdbc;

import dev.pgapply.core.Oid;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * The target's types as one session knows them, read once each. Owned by the session's thread. Forgotten after every error, as all
 * that a session remembers of the target's catalogs.
 */
final class TypeCatalog {

    /**
     * A cast function from text that does what the input function does: "char", name and xml. For other types it need not: regclass'
     * refuses numbers.
     *
     * <p>The binary form of text, varchar, bpchar, name, json, xml, unknown and of enums is their text; and citext's, which has a cast
     * without function.
     */
    private static final String QUERY = """
            WITH RECURSIVE base AS (
                SELECT t.oid AS asked, t.oid, t.typtype, t.typbasetype FROM pg_type t WHERE t.oid = ANY (?::oid[])
                UNION ALL
                SELECT b.asked, t.oid, t.typtype, t.typbasetype FROM base b JOIN pg_type t ON t.oid = b.typbasetype
                WHERE b.typtype = 'd')
            SELECT b.asked, b.oid, format_type(b.oid, -1),
                b.oid IN (18, 19, 142) OR NOT EXISTS (
                    SELECT FROM pg_cast c WHERE c.castsource = 'text'::regtype AND c.casttarget = b.oid AND c.castmethod = 'f'),
                b.typtype = 'e' OR b.oid IN (19, 25, 114, 142, 705, 1042, 1043) OR EXISTS (
                    SELECT FROM pg_cast c WHERE c.castsource = b.oid AND c.casttarget = 'text'::regtype AND c.castmethod = 'b'),
                (SELECT 'OPERATOR(' || quote_ident(n.nspname) || '.' || o.oprname || ')'
                    FROM pg_opclass oc
                    JOIN pg_am m ON m.oid = oc.opcmethod AND m.amname = 'btree'
                    JOIN pg_amop ao ON ao.amopfamily = oc.opcfamily AND ao.amoplefttype = oc.opcintype
                        AND ao.amoprighttype = oc.opcintype AND ao.amopstrategy = 3
                    JOIN pg_operator o ON o.oid = ao.amopopr
                    JOIN pg_namespace n ON n.oid = o.oprnamespace
                    WHERE oc.opcintype = b.oid AND oc.opcdefault AND n.nspname <> 'pg_catalog' LIMIT 1),
                quote_ident(tn.nspname) || '.' || quote_ident(t.typname),
                CASE WHEN b.typtype <> 'c' AND t.typcategory <> 'A'
                    THEN quote_ident(an.nspname) || '.' || quote_ident(a.typname) END
            FROM base b
            JOIN pg_type t ON t.oid = b.oid
            JOIN pg_namespace tn ON tn.oid = t.typnamespace
            LEFT JOIN pg_type a ON a.oid = t.typarray
            LEFT JOIN pg_namespace an ON an.oid = a.typnamespace
            WHERE b.typtype <> 'd'
            """;

    private final Connection connection;
    private final Map<Oid, TypeFacts> known = new HashMap<>();
    private final Set<String> registered = new HashSet<>();

    TypeCatalog(Connection connection) {
        this.connection = connection;
    }

    /** Reads those that are not known yet in one query. */
    void load(Collection<Oid> types) {
        Set<Oid> missing = new HashSet<>(types);
        missing.removeAll(known.keySet());
        if (missing.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(QUERY)) {
            statement.setString(1, missing.stream().map(Oid::toString).collect(Collectors.joining(",", "{", "}")));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    String operator = rows.getString(6);
                    known.put(
                            new Oid((int) rows.getLong(1)),
                            new TypeFacts(
                                    (int) rows.getLong(2),
                                    rows.getString(3),
                                    rows.getBoolean(4),
                                    rows.getBoolean(5),
                                    operator == null ? "=" : operator,
                                    rows.getString(7),
                                    rows.getString(8)));
                }
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the target's types", e);
        }
    }

    /** What is known of a type, or null if the target has none of that oid. */
    @Nullable
    TypeFacts facts(Oid type) {
        load(Set.of(type));
        return known.get(type);
    }

    /** Tells the driver that values of this type are sent in binary form. */
    void registerBinary(String driverName) {
        if (!registered.add(driverName)) {
            return;
        }
        try {
            connection.unwrap(PGConnection.class).addDataType(driverName, ValueParameter.class);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not look up type " + driverName, e);
        }
    }

    void forget() {
        known.clear();
    }
}
