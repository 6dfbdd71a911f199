package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.pgoutput.ReplicaIdentity;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.PublisherFacts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The publisher's half of a preflight. Owned by the thread that runs it. */
final class PublisherCheck {

    private final SubscriptionOptions options;
    private final PostgresConnections publisher;
    private final Connection connection;
    private final PublisherCatalog catalog;
    private final Findings findings;

    PublisherCheck(
            SubscriptionOptions options, PostgresConnections publisher, Connection connection, Findings findings) {
        this.options = options;
        this.publisher = publisher;
        this.connection = connection;
        this.catalog = new PublisherCatalog(connection);
        this.findings = findings;
    }

    /**
     * @param row the subscription as the target knows it, null if there is none yet or the target cannot be asked
     * @return the published tables, as far as they can be read
     */
    List<PublishedTable> run(@Nullable SubscriptionRow row) {
        List<PublishedTable> tables = new ArrayList<>();
        findings.check("publisher_version", () -> {
            PublisherFacts facts = catalog.facts();
            checkVersion(facts);
            if (facts.isTooOld()) {
                return;
            }
            checkWalLevel(facts);
            checkStreaming(facts);
            if (options.twoPhase()) {
                findings.check("publisher_two_phase", facts::requireTwoPhase);
            }
            findings.check("publisher_replication", this::checkReplicationConnection);
            findings.check("slot", () -> new SlotCheck(options, publisher, catalog, findings).run(row, facts));
            findings.check("publications", this::checkPublications);
            findings.check("publications", () -> tables.addAll(readTables(facts.major())));
            findings.check("published_identity", () -> checkIdentities(tables));
            boolean copied = row != null && row.slotState() == SlotState.READY;
            if (options.copyData() && !copied) {
                findings.check("published_privilege", () -> checkReadable(tables));
            }
        });
        return tables;
    }

    private void checkVersion(PublisherFacts facts) {
        if (facts.isTooOld()) {
            findings.error(
                    "publisher_version",
                    "publisher runs PostgreSQL " + facts.serverVersion() + ", which is older than "
                            + PublisherFacts.OLDEST_MAJOR,
                    "publishers from PostgreSQL " + PublisherFacts.OLDEST_MAJOR + " on are supported");
            return;
        }
        if (facts.isNewerThanKnown()) {
            findings.warning(
                    "publisher_version",
                    "publisher runs PostgreSQL " + facts.serverVersion()
                            + ", which is newer than this pgapply knows; it is treated as "
                            + PublisherFacts.NEWEST_MAJOR,
                    "look for a newer pgapply");
            return;
        }
        findings.ok(
                "publisher_version",
                "publisher " + publisher.url().display() + " runs PostgreSQL " + facts.serverVersion());
    }

    private void checkWalLevel(PublisherFacts facts) {
        if (facts.walLevel().equals("logical")) {
            findings.ok("publisher_wal_level", "publisher's wal_level is logical");
            return;
        }
        findings.error(
                "publisher_wal_level",
                "publisher's wal_level is \"" + facts.walLevel() + "\", it must be \"logical\"",
                "ALTER SYSTEM SET wal_level = logical, then restart the publisher");
    }

    /** Less than was asked for is no problem, as in PostgreSQL; but it is said. */
    private void checkStreaming(PublisherFacts facts) {
        String less = options.streaming().lessOffered(facts.serverVersionNum());
        if (less != null) {
            findings.ok("publisher_streaming", less);
        }
    }

    /** The attribute, or what a managed service has in its place, and pg_hba.conf: only such a connection shows all of it. */
    private void checkReplicationConnection() {
        String role = CatalogQuestions.role(connection);
        try (Connection replication = publisher.openReplication(options.name())) {
            if (replication.isValid(0)) {
                findings.ok("publisher_replication", "role \"" + role + "\" may replicate from the publisher");
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not close a replication connection", e);
        } catch (ApplyException e) {
            findings.error(
                    "publisher_replication",
                    "role \"" + role + "\" cannot open a replication connection to the publisher: " + e.getMessage(),
                    "42501".equals(e.sqlState())
                            ? "ALTER ROLE \"" + role + "\" REPLICATION on the publisher"
                            : e.hint());
        }
    }

    private void checkPublications() {
        for (String missing : catalog.missingPublications(options.publications())) {
            findings.error(
                    "publications",
                    "publication \"" + missing + "\" does not exist on the publisher",
                    "create it there, or correct publications");
        }
    }

    private List<PublishedTable> readTables(int major) {
        List<PublishedTable> tables = catalog.tables(options.publications(), major);
        String names = String.join("\", \"", options.publications());
        if (tables.isEmpty()) {
            findings.warning(
                    "publications", "publication \"" + names + "\" has no table", "ALTER PUBLICATION … ADD TABLE …");
        } else {
            findings.ok(
                    "publications",
                    "publication \"" + names + "\" has " + tables.size() + (tables.size() == 1 ? " table" : " tables"));
        }
        return tables;
    }

    private void checkIdentities(List<PublishedTable> tables) {
        for (PublishedTable table : tables) {
            boolean identified = table.replicaIdentity() == ReplicaIdentity.FULL
                    || table.columns().stream().anyMatch(PublishedColumn::key);
            if (!identified && !table.partitioned() && (table.updates() || table.deletes())) {
                findings.warning(
                        "published_identity",
                        "table \"" + table.name()
                                + "\" has no replica identity: the publisher itself refuses UPDATE and DELETE on it"
                                + " while it is published",
                        "give it a primary key, or ALTER TABLE … REPLICA IDENTITY FULL");
            }
        }
    }

    private void checkReadable(List<PublishedTable> tables) {
        String role = CatalogQuestions.role(connection);
        String sql = "SELECT has_schema_privilege(c.relnamespace, 'USAGE'), row_security_active(c.oid),"
                + " EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = ANY (?)"
                + " AND NOT has_column_privilege(c.oid, a.attnum, 'SELECT'))"
                + " FROM pg_class c WHERE c.oid = ?::text::oid";
        for (PublishedTable table : tables) {
            List<String> columns =
                    table.columns().stream().map(PublishedColumn::name).toList();
            for (List<@Nullable String> row :
                    CatalogQuestions.query(connection, sql, columns, table.oid().toString())) {
                if ("f".equals(row.get(0))) {
                    lacks(role, "USAGE on schema \"" + table.name().schema() + "\"", table);
                }
                if ("t".equals(row.get(2))) {
                    lacks(role, "SELECT", table);
                }
                if ("t".equals(row.get(1))) {
                    findings.error(
                            "published_row_security",
                            "row-level security of table \"" + table.name() + "\" would hide rows from role \"" + role
                                    + "\" in the initial copy",
                            "ALTER ROLE \"" + role + "\" BYPASSRLS on the publisher, or connect as the table's owner");
                }
            }
        }
    }

    private void lacks(String role, String privilege, PublishedTable table) {
        findings.error(
                "published_privilege",
                "role \"" + role + "\" lacks " + privilege + " to copy table \"" + table.name()
                        + "\" from the publisher",
                "grant it on the publisher");
    }
}
