package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.TargetTable;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SubscriptionTable;
import dev.pgapply.worker.publisher.PublishedTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a first start copies. Immutable.
 *
 * @param published all tables of the publications
 * @param copies largest first, so that the last worker to end does not end long after the others
 * @param refused tables that the target cannot take now, and why: they are tried again beside the stream
 */
record FirstCopyPlan(
        List<PublishedTable> published, List<TableCopy> copies, Map<PublishedTable, ApplyException> refused) {

    /**
     * @throws ApplyException if a table has rows already, naming every one; for a table that the target cannot take, where no copy is wanted
     *     or {@code disable_on_error} says so
     */
    static FirstCopyPlan of(SubscriptionOptions options, TargetTables tables, List<PublishedTable> published) {
        List<TableCopy> copies = new ArrayList<>();
        Map<PublishedTable, ApplyException> refused = new LinkedHashMap<>();
        Map<QualifiedName, TargetTable> described = tables.describe(published);
        for (PublishedTable table : published) {
            try {
                copies.add(tables.plan(table, described.get(table.name())));
            } catch (ApplyException e) {
                if (!options.copyData() || options.disableOnError() || e.kind().remedy() != Remedy.RETRY_OR_DISABLE) {
                    throw e;
                }
                refused.put(table, e);
            }
        }
        copies.sort(
                Comparator.comparingLong((TableCopy copy) -> copy.published().bytesEstimated())
                        .reversed());
        if (options.copyData()) {
            tables.requireEmpty(copies);
        }
        return new FirstCopyPlan(published, copies, refused);
    }

    /** As they are recorded before the first of them is copied. */
    List<SubscriptionTable> registered() {
        List<SubscriptionTable> tables = new ArrayList<>();
        copies.forEach(copy -> tables.add(SubscriptionTable.init(copy.name())));
        refused.forEach((table, reason) ->
                tables.add(SubscriptionTable.init(table.name()).withError(TableStates.sentence(reason))));
        return tables;
    }
}
