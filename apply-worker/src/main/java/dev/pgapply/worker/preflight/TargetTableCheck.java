package dev.pgapply.worker.preflight;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.relation.BinaryAgreement;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.relation.RelationMapping;
import dev.pgapply.core.relation.SearchKey;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.worker.jdbc.Identifiers;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.jdbc.TableDescriber;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.tablesync.TargetTables;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Whether a table of the target can take what is published: it asks what the first change would ask. Owned by the thread that runs the
 * preflight.
 */
final class TargetTableCheck {

    private final Connection connection;
    private final Map<QualifiedName, TargetTable> described;
    private final boolean mustBeEmpty;
    private final BinaryMode binary;
    private final Findings findings;

    private TargetTableCheck(
            Connection connection,
            Map<QualifiedName, TargetTable> described,
            boolean mustBeEmpty,
            BinaryMode binary,
            Findings findings) {
        this.connection = connection;
        this.described = described;
        this.mustBeEmpty = mustBeEmpty;
        this.binary = binary;
        this.findings = findings;
    }

    /**
     * @param tables those that {@link #run} will be asked about
     * @param mustBeEmpty whether a first copy is still to come
     */
    static TargetTableCheck on(
            Connection connection,
            List<PublishedTable> tables,
            boolean mustBeEmpty,
            BinaryMode binary,
            Findings findings) {
        boolean replica = CatalogQuestions.value(connection, "SELECT current_setting('session_replication_role')")
                .equals("replica");
        try {
            Map<QualifiedName, TargetTable> described = new TableDescriber(connection, replica)
                    .describe(tables.stream().map(PublishedTable::name).toList());
            return new TargetTableCheck(connection, described, mustBeEmpty, binary, findings);
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not read the target's tables", e);
        }
    }

    void run(PublishedTable published) {
        QualifiedName name = published.name();
        RelationMapEntry entry = RelationMapping.map(published.toRelation(), described.get(name), name);
        checkPrivileges(published);
        checkKey(published, entry);
        checkTriggers(entry.target());
        checkTypes(published, entry.target());
        checkBinary(published, entry.target());
        if (mustBeEmpty) {
            checkEmpty(entry.target());
        }
    }

    private void checkPrivileges(PublishedTable published) {
        List<String> needed = new ArrayList<>(List.of("SELECT", "INSERT"));
        if (published.updates()) {
            needed.add("UPDATE");
        }
        if (published.deletes()) {
            needed.add("DELETE");
        }
        if (published.truncates()) {
            needed.add("TRUNCATE");
        }
        List<String> missing = new ArrayList<>();
        CatalogQuestions.query(
                        connection,
                        "SELECT p.name FROM unnest(?::text[]) WITH ORDINALITY p(name, n)"
                                + " WHERE has_table_privilege(to_regclass(?)::oid, p.name) IS NOT TRUE"
                                + " UNION ALL SELECT 'USAGE on its schema' WHERE NOT has_schema_privilege(?, 'USAGE')",
                        needed,
                        Identifiers.quote(published.name()),
                        published.name().schema())
                .forEach(row -> missing.add(String.valueOf(row.get(0))));
        if (!missing.isEmpty()) {
            findings.error(
                    "target_privilege",
                    "role \"" + CatalogQuestions.role(connection) + "\" lacks " + String.join(", ", missing)
                            + " on target table \"" + published.name() + "\"",
                    "grant it on the target");
        }
    }

    private void checkKey(PublishedTable published, RelationMapEntry entry) {
        if ((!published.updates() && !published.deletes()) || isAppendOnly(published)) {
            return;
        }
        if (published.isInsertOnly()) {
            findings.warning(
                    "publisher_identity",
                    "published table \"" + published.name()
                            + "\" has no replica identity: the publisher refuses UPDATE and"
                            + " DELETE on it, only its inserts can be replicated",
                    "if rows change, give it a primary key or REPLICA IDENTITY FULL on the publisher");
            return;
        }
        if (entry.key().kind() == SearchKey.Kind.NONE) {
            findings.error(
                    "target_identity",
                    "rows of target table \"" + published.name() + "\" cannot be found for UPDATE and DELETE: "
                            + (entry.target().identity() == null
                                    ? "it has neither a replica identity index nor a primary key nor a unique index of the"
                                            + " publisher's identity columns"
                                    : "the publisher does not send its key \""
                                            + String.join(
                                                    "\", \"", entry.target().identity()) + "\"")
                            + ", and the published table does not have REPLICA IDENTITY FULL",
                    "give both tables the same primary key, or set REPLICA IDENTITY FULL on the publisher");
        }
        if (entry.key().kind() == SearchKey.Kind.FULL_ROW) {
            findings.warning(
                    "target_identity",
                    "rows of target table \"" + published.name()
                            + "\" are found by all their columns: each batch of UPDATE and DELETE reads the whole table",
                    "give it a primary key");
        }
    }

    /** Without a replica identity the publisher itself refuses UPDATE and DELETE (execReplication.c, CheckCmdReplicaIdentity). */
    private static boolean isAppendOnly(PublishedTable published) {
        return published.replicaIdentity() != ReplicaIdentity.FULL
                && published.columns().stream().noneMatch(PublishedColumn::key);
    }

    private void checkTriggers(TargetTable table) {
        if (!table.triggers().row().isEmpty()) {
            findings.warning(
                    "target_trigger",
                    "triggers of target table \"" + table.name() + "\" will fire for each change: "
                            + String.join(", ", table.triggers().row()),
                    "such a table is applied row by row; ENABLE the trigger for ordinary sessions only, if that is not meant");
        }
        if (!table.triggers().statement().isEmpty()) {
            findings.warning(
                    "target_trigger",
                    "statement triggers or rules of target table \"" + table.name()
                            + "\" would fire, which they never do in PostgreSQL's own subscription: "
                            + String.join(", ", table.triggers().statement()),
                    "ALTER TABLE … ENABLE TRIGGER (or RULE) without ALWAYS or REPLICA");
        }
    }

    private void checkTypes(PublishedTable published, TargetTable table) {
        List<String> different = new ArrayList<>();
        for (PublishedColumn remote : published.columns()) {
            TargetColumn local = table.column(remote.name());
            if (local != null && !local.generated() && isOtherType(remote, local)) {
                different.add("\"" + remote.name() + "\" (" + remote.typeName() + " on the publisher)");
            }
        }
        if (!different.isEmpty()) {
            findings.warning(
                    "target_type",
                    "target table \"" + published.name() + "\" has other types for " + String.join(", ", different)
                            + ": each value must be one that its own type can read",
                    null);
        }
    }

    private void checkBinary(PublishedTable published, TargetTable table) {
        if (binary != BinaryMode.TRUE) {
            return;
        }
        for (PublishedColumn remote : published.columns()) {
            TargetColumn local = table.column(remote.name());
            if (local != null && !local.generated() && BinaryAgreement.isRefused(remote.type(), local)) {
                findings.error(
                        "target_binary",
                        "column \"" + remote.name() + "\" of target table \"" + published.name() + "\" is "
                                + local.typeName() + " and cannot take " + remote.typeName() + " in binary form",
                        "give it the same type on both sides, or set binary: auto or false");
            }
        }
    }

    /** Types made by users have another oid on every server; then nothing can be said by the number. */
    private static boolean isOtherType(PublishedColumn remote, TargetColumn local) {
        return (remote.type().isBuiltIn() || local.type().isBuiltIn())
                && !remote.type().equals(local.type());
    }

    private void checkEmpty(TargetTable table) {
        String rows = TargetTables.describeRows(connection, table);
        if (!rows.isEmpty()) {
            findings.error(
                    "target_not_empty",
                    "target is not empty: table \"" + table.name() + "\" has " + rows,
                    "empty it (TRUNCATE), or set copy_data: false to keep its rows and begin with the changes from now on");
        }
    }
}
