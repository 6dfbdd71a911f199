package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.BinaryAgreement;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.ControlSession;
import dev.pgapply.worker.catalog.TargetColumnType;
import dev.pgapply.worker.publisher.PublishedColumn;
import dev.pgapply.worker.publisher.PublishedTable;
import dev.pgapply.worker.publisher.PublisherCatalog;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the publisher is asked for values in binary form, decided over the tables as they are when the stream starts. Used by the
 * leader's thread. What differs later is found when its relation opens.
 */
final class BinaryChoice {

    private static final Logger log = LoggerFactory.getLogger(BinaryChoice.class);

    private BinaryChoice() {}

    static boolean make(
            SubscriptionOptions options,
            StreamFallback fallback,
            Lsn startLsn,
            PublisherCatalog publisher,
            int major,
            ControlSession control) {
        return switch (options.binary()) {
            case TRUE -> true;
            case FALSE -> false;
            case AUTO -> !fallback.isTextNeeded(startLsn) && agree(options, publisher, major, control);
        };
    }

    private static boolean agree(
            SubscriptionOptions options, PublisherCatalog publisher, int major, ControlSession control) {
        List<PublishedTable> tables;
        try {
            tables = publisher.tables(options.publications(), major);
        } catch (ApplyException e) {
            if (e.kind() != Kind.PRECONDITION) {
                throw e;
            }
            // Publications that disagree on a table: its first change will say so, the others' need not wait for it.
            return false;
        }
        Map<QualifiedName, Map<String, TargetColumnType>> types =
                control.columnTypes(tables.stream().map(PublishedTable::name).toList());
        for (PublishedTable table : tables) {
            Map<String, TargetColumnType> target = types.getOrDefault(table.name(), Map.of());
            for (PublishedColumn column : table.columns()) {
                TargetColumnType local = target.get(column.name());
                if (local != null && !local.generated() && !agrees(column, local)) {
                    log.info(
                            "values are asked for as text: column \"{}\" of \"{}\" ({} on the publisher) has no binary form"
                                    + " that is the same on both sides",
                            column.name(),
                            table.name(),
                            column.typeName());
                    return false;
                }
            }
        }
        return true;
    }

    /** A column that is missing on the target stops at its first change anyway. */
    private static boolean agrees(PublishedColumn column, TargetColumnType local) {
        return (column.binary() || column.enumType())
                && BinaryAgreement.agrees(column.type(), local.type(), local.enumType());
    }
}
