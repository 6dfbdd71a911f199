package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Oid;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.CreatedTables;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.SchemaReader;
import dev.pgapply.worker.schema.CreationPlanner;
import dev.pgapply.worker.schema.DeferredPlanner;
import dev.pgapply.worker.schema.DeferredPlanner.Part;
import dev.pgapply.worker.schema.PublisherSchema;
import dev.pgapply.worker.schema.SchemaPlan;
import dev.pgapply.worker.schema.SchemaPlan.Problem;
import dev.pgapply.worker.schema.TableDefinition;
import java.sql.Connection;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * {@code create_tables: missing}: makes the published tables that the target lacks, as the publisher's catalogs have them. What exists is
 * used as it is, never altered and never dropped. Owned by the thread that owns the connections.
 *
 * <pre>
 * create:    schemas and types → each table with its sequences, key, conditions and partitions    before its copy
 * complete:  secondary indexes and unique constraints → foreign keys                              after its copy
 * </pre>
 *
 * <p>A table is made in one transaction together with its record in {@code pgapply.created_table}, which goes when the table is complete.
 * So a crash at any point leaves nothing half made, and the next start goes on with what is absent.
 */
public final class MissingTables {

    /**
     * What a creation would do.
     *
     * @param tables those that it would create, partitions among them
     */
    public record Absent(List<QualifiedName> tables, SchemaPlan plan) {}

    private final SubscriptionOptions options;
    private final SchemaReader publisher;
    private final Connection target;
    private final TargetInventoryReader inventory;

    /**
     * @param publisher an ordinary connection, which may be in a transaction
     * @param target in autocommit mode
     */
    public MissingTables(SubscriptionOptions options, Connection publisher, int publisherMajor, Connection target) {
        this.options = options;
        this.publisher = new SchemaReader(publisher, publisherMajor);
        this.target = target;
        this.inventory = new TargetInventoryReader(target);
    }

    /** Changes nothing. */
    public Absent plan(Collection<PublishedTable> published) {
        Map<QualifiedName, Oid> oids = new HashMap<>();
        published.forEach(table -> oids.put(table.name(), table.oid()));
        List<QualifiedName> absent =
                inventory.absent(published.stream().map(PublishedTable::name).toList());
        if (absent.isEmpty()) {
            return new Absent(List.of(), new SchemaPlan(List.of(), List.of()));
        }
        Set<Oid> wanted = new LinkedHashSet<>();
        absent.forEach(name -> wanted.add(oids.get(name)));
        wanted.addAll(absentOf(publisher.publishedRoots(wanted, options.publications())));
        wanted.addAll(absentOf(publisher.partitions(wanted)));
        PublisherSchema schema = publisher.read(wanted);
        PublisherSchema sent = schema.withColumns(sentColumns(schema, published));
        SchemaPlan plan = CreationPlanner.plan(sent, inventory.read(sent), filtered(published));
        return new Absent(sent.tables().stream().map(TableDefinition::name).toList(), plan);
    }

    private List<Oid> absentOf(Map<Oid, QualifiedName> tables) {
        Set<QualifiedName> absent = new HashSet<>(inventory.absent(tables.values()));
        return tables.entrySet().stream()
                .filter(table -> absent.contains(table.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * Creates those of the tables that the target lacks, with their partitions. When this returns they are committed, without secondary
     * indexes and foreign keys, and recorded as such.
     *
     * @return what was created
     * @throws ApplyException before anything is created if a table cannot be, saying for each why; later if the target refuses a statement:
     *     then what is committed stays, and the next call goes on
     */
    public List<QualifiedName> create(int subid, Collection<PublishedTable> published, SchemaSteps steps) {
        Absent absent = plan(published);
        List<Problem> obstacles = absent.plan().obstacles();
        if (!obstacles.isEmpty()) {
            Problem first = obstacles.get(0);
            throw new ApplyException(
                    Kind.SCHEMA_MISMATCH,
                    obstacles.stream().map(Problem::message).collect(Collectors.joining("; ")),
                    obstacles.size() == 1 ? first.hint() : "pgapply check tells what to do about each",
                    null,
                    null,
                    null);
        }
        steps.run(target, absent.plan(), table -> CreatedTables.add(target, subid, table));
        return absent.tables();
    }

    /**
     * Gives created tables what they still lack. An index or key that the target refuses is told once, with the statement to run by hand,
     * and does not stop the others.
     *
     * @param published all tables of the publications
     * @param copied those whose rows are there; they are completed with their partitions
     */
    public void complete(
            int subid, Collection<PublishedTable> published, Collection<QualifiedName> copied, SchemaSteps steps) {
        complete(subid, published, copied, steps, Part.ALL);
    }

    /** As {@link #complete}, but without foreign keys, so that the tables stay recorded for a call of that. */
    public void addIndexes(
            int subid, Collection<PublishedTable> published, Collection<QualifiedName> copied, SchemaSteps steps) {
        complete(subid, published, copied, steps, Part.WITHOUT_FOREIGN_KEYS);
    }

    private void complete(
            int subid,
            Collection<PublishedTable> published,
            Collection<QualifiedName> copied,
            SchemaSteps steps,
            Part part) {
        Set<QualifiedName> recorded = new LinkedHashSet<>(CreatedTables.read(target, subid));
        if (recorded.isEmpty()) {
            return;
        }
        Map<Oid, QualifiedName> found = new LinkedHashMap<>(publisher.find(copied));
        found.putAll(publisher.partitions(found.keySet()));
        found.putAll(publisher.publishedRoots(found.keySet(), options.publications()));
        found.values().retainAll(recorded);
        found.values().removeAll(inventory.absent(found.values()));
        PublisherSchema schema = publisher.read(found.keySet());
        PublisherSchema sent = schema.withColumns(sentColumns(schema, published));
        steps.run(target, DeferredPlanner.plan(sent, inventory.read(sent), filtered(published), part), table -> {});
        if (part == Part.WITHOUT_FOREIGN_KEYS) {
            return;
        }
        // One that is gone from either side has nothing to come any more.
        Set<QualifiedName> done = new LinkedHashSet<>(found.values());
        done.addAll(inventory.absent(recorded));
        Set<QualifiedName> gone = new LinkedHashSet<>(recorded);
        gone.removeAll(publisher.find(recorded).values());
        done.addAll(gone);
        done.forEach(table -> CreatedTables.remove(target, subid, table));
    }

    private static Set<QualifiedName> filtered(Collection<PublishedTable> published) {
        return published.stream()
                .filter(table -> !table.rowFilters().isEmpty())
                .map(PublishedTable::name)
                .collect(Collectors.toSet());
    }

    /** A partition has the columns that its published root sends; a root those of a published partition. */
    private static Map<QualifiedName, Set<String>> sentColumns(
            PublisherSchema schema, Collection<PublishedTable> published) {
        Map<QualifiedName, Set<String>> sent = new HashMap<>();
        for (PublishedTable table : published) {
            sent.put(
                    table.name(),
                    table.columns().stream().map(PublishedColumn::name).collect(Collectors.toSet()));
        }
        Map<QualifiedName, QualifiedName> parents = new HashMap<>();
        for (TableDefinition table : schema.tables()) {
            if (table.isPartition()) {
                parents.put(table.name(), table.parents().get(0));
            }
        }
        for (TableDefinition table : schema.tables()) {
            for (QualifiedName at = table.name(); parents.containsKey(at); at = parents.get(at)) {
                QualifiedName parent = parents.get(at);
                Set<String> own = sent.get(at);
                if (own != null) {
                    sent.putIfAbsent(parent, own);
                }
            }
        }
        for (TableDefinition table : schema.tables()) {
            QualifiedName at = table.name();
            while (!sent.containsKey(at) && parents.containsKey(at)) {
                at = parents.get(at);
            }
            Set<String> columns = sent.get(at);
            if (columns != null) {
                sent.putIfAbsent(table.name(), columns);
            }
        }
        return sent;
    }
}
