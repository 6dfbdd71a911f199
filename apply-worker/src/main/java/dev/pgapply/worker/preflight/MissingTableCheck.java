package dev.pgapply.worker.preflight;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.tablesync.MissingTables;
import dev.pgapply.worker.tablesync.MissingTables.Absent;
import java.sql.Connection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What {@code create_tables: missing} will make, and what stands against it. Owned by the thread that runs the preflight. */
final class MissingTableCheck {

    private final MissingTables missing;
    private final Findings findings;

    MissingTableCheck(SubscriptionOptions options, Connection publisher, Connection target, Findings findings) {
        this.missing = new MissingTables(options, publisher, PostgresConnections.serverMajorVersion(publisher), target);
        this.findings = findings;
    }

    /** @return the tables that are there */
    List<PublishedTable> run(List<PublishedTable> published) {
        Absent absent = missing.plan(published);
        for (QualifiedName table : absent.tables()) {
            findings.ok("target_table", "table \"" + table + "\" is not on the target and will be created");
        }
        for (Problem problem : absent.plan().problems()) {
            if (problem.fatal()) {
                findings.error("create_tables", problem.message(), problem.hint());
            } else {
                findings.warning("create_tables", problem.message(), problem.hint());
            }
        }
        Set<QualifiedName> created = new HashSet<>(absent.tables());
        return published.stream()
                .filter(table -> !created.contains(table.name()))
                .toList();
    }
}
