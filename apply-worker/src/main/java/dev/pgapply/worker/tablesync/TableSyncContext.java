package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.relation.RelationMapEntry;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.core.target.Target;
import dev.pgapply.worker.apply.AppliedPositions;
import dev.pgapply.worker.apply.TableHolds;
import dev.pgapply.worker.jdbc.PostgresConnections;
import dev.pgapply.worker.jdbc.PostgresTarget;
import dev.pgapply.worker.jdbc.SessionFence;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.time.Clock;
import java.util.function.Consumer;

/**
 * What the synchronisation of tables has of the life that it belongs to. Immutable.
 *
 * @param originName how errors name where the changes come from
 * @param twoPhase whether prepared transactions are asked for as such
 * @param fence lets each session on the target in under the owner's epoch
 * @param pace of the copies beside the stream
 * @param opened is told of each relation before its first change is applied, and may refuse it by throwing
 * @param failed told what must end the life
 */
public record TableSyncContext(
        SubscriptionOptions options,
        int subid,
        String originName,
        boolean twoPhase,
        PostgresConnections publisher,
        PostgresConnections target,
        SessionFence fence,
        TableHolds holds,
        AppliedPositions positions,
        CopyPace pace,
        Consumer<RelationMapEntry> opened,
        Consumer<ApplyException> failed,
        SubscriptionStats stats,
        Ticker ticker,
        Clock clock) {

    /** Connections for one copy. */
    CopyConnections connections() {
        return new CopyConnections(options.name(), publisher, target, fence);
    }

    /** The target for replays, whose sessions leave the subscription's progress alone; the caller closes it. */
    PostgresTarget replayTarget() {
        return new PostgresTarget(
                target,
                options.name(),
                options.synchronousCommit(),
                fence,
                (connection, pipeline, applySession) -> new ReplayCommit(connection, pipeline));
    }

    /** Describes the target's tables. */
    TargetTables tables(Connection connection, Target describer) {
        return new TargetTables(connection, describer);
    }
}
