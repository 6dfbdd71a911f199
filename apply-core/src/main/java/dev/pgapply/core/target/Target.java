package dev.pgapply.core.target;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.relation.TargetTable;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A target database, as the leader apply worker needs it: it describes tables and opens sessions. Thread-safe.
 */
public interface Target {

    /** The table as the target's catalog has it now, or null if there is none of that name. */
    @Nullable
    TargetTable describe(QualifiedName name);

    /** Those of the tables that the target has, in one round trip where the dialect can. */
    default Map<QualifiedName, TargetTable> describe(Collection<QualifiedName> names) {
        Map<QualifiedName, TargetTable> described = new LinkedHashMap<>();
        for (QualifiedName name : names) {
            TargetTable table = describe(name);
            if (table != null) {
                described.put(name, table);
            }
        }
        return described;
    }

    /**
     * Opens a session under the epoch of the current owner.
     *
     * @param role what the session is for, as the server's activity view shows it: {@code apply}
     * @throws dev.pgapply.core.ApplyException of kind OWNERSHIP_LOST if the epoch is no longer the current one
     */
    TargetSession openSession(String role);

    /**
     * Opens the session of a parallel apply worker, with a progress record of its own.
     *
     * @param applySession the worker's number, from 1
     * @throws dev.pgapply.core.ApplyException of kind OWNERSHIP_LOST if the epoch is no longer the current one
     */
    TargetSession openParallelSession(int applySession);
}
