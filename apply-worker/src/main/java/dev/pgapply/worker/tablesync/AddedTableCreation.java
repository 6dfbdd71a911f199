package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import java.sql.Connection;
import java.util.List;

/**
 * {@code create_tables: missing} for a table that is copied beside the stream. Its foreign keys come later ({@link LateForeignKeys}): they
 * would see two tables at two moments. Owned by the table sync worker's thread.
 */
final class AddedTableCreation {

    private final TableSyncContext context;
    private final MissingTables missing;
    private final List<PublishedTable> published;
    private final SchemaSteps steps;

    /** @param target in autocommit mode */
    AddedTableCreation(TableSyncContext context, Connection publisher, int major, Connection target) {
        this.context = context;
        this.missing = new MissingTables(context.options(), publisher, major, target);
        this.published =
                new PublisherCatalog(publisher).tables(context.options().publications(), major);
        this.steps = SchemaSteps.beside(context.stats(), context.ticker());
    }

    private boolean isWanted() {
        return context.options().createTables() == CreateTables.MISSING;
    }

    /** Before the copy: the table, if it is absent. */
    void create(PublishedTable table) {
        if (isWanted()) {
            List<QualifiedName> unused = missing.create(context.subid(), List.of(table), steps);
        }
    }

    /** After the copy, while the changes since are still held back: its indexes, if it was created. */
    void addIndexes(QualifiedName table) {
        if (isWanted()) {
            missing.addIndexes(context.subid(), published, List.of(table), steps);
        }
    }
}
