package dev.pgapply.launcher.rest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.tablesync.BlockingTransaction;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.launcher.supervise.SubscriptionSupervisor;
import dev.pgapply.launcher.text.CopyProgress;
import dev.pgapply.launcher.text.LagExplanation;
import dev.pgapply.worker.stats.CreationProgress;
import dev.pgapply.worker.stats.LastError;
import dev.pgapply.worker.stats.StreamProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStats.OriginSnapshot;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import dev.pgapply.worker.stats.WorkerProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A subscription as JSON. Names are PostgreSQL's; LSNs are {@code X/Y}, times ISO 8601 in UTC; what is not known (yet) is null. No
 * secret is in what it reads.
 */
final class SubscriptionJson {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private SubscriptionJson() {}

    static ObjectNode subscription(SubscriptionSupervisor supervisor) {
        SubscriptionStats stats = supervisor.stats();
        ObjectNode json = JSON.objectNode();
        json.put("name", supervisor.options().name());
        json.put("enabled", supervisor.isEnabled());
        json.put("status", stats.status().label());
        json.put("status_reason", stats.statusReason());
        json.put("publisher", supervisor.options().publisher().display());
        json.put("target", supervisor.options().target().display());
        json.put("received_lsn", lsn(stats.receivedLsn()));
        json.put("write_lsn", lsn(stats.writeLsn()));
        json.put("flush_lsn", lsn(stats.flushLsn()));
        json.put("apply_lsn", lsn(stats.applyLsn()));
        json.put("latest_end_lsn", lsn(stats.latestEndLsn()));
        json.put("last_msg_send_time", time(stats.lastMessageSendTime()));
        json.put("last_msg_receipt_time", time(stats.lastMessageReceiptTime()));
        json.set("lag", lag(stats));
        if (stats.status() == SubscriptionStatus.COPYING) {
            json.set("copy", copy(stats));
        } else {
            json.putNull("copy");
        }
        SlotWaitState slotWait = stats.slotWait();
        if (slotWait == null) {
            json.putNull("slot_wait");
        } else {
            json.set("slot_wait", slotWait(slotWait));
        }
        json.set("create_tables", creation(stats.creation()));
        LastError error = stats.lastError();
        if (error == null) {
            json.putNull("last_error");
        } else {
            json.set("last_error", error(error));
        }
        return json;
    }

    private static ObjectNode creation(CreationProgress progress) {
        ObjectNode json = JSON.objectNode();
        json.put("steps", progress.total());
        json.put("steps_done", progress.done());
        json.put("step", progress.step());
        ArrayNode notCreated = json.putArray("not_created");
        progress.notCreated().forEach(notCreated::add);
        return json;
    }

    private static ObjectNode lag(SubscriptionStats stats) {
        ObjectNode json = JSON.objectNode();
        json.put("bytes", stats.lagBytes());
        json.put("seconds", seconds(stats.lag()));
        json.put("explanation", LagExplanation.of(stats));
        return json;
    }

    /** All tables together, at the pace since the copy began, and those under way. */
    private static ObjectNode copy(SubscriptionStats stats) {
        ObjectNode json = JSON.objectNode();
        CopyProgress progress = CopyProgress.of(stats);
        double seconds = Math.max(1, stats.sinceStatus().toMillis()) / 1000.0;
        json.put("tables_copied", progress.tablesDone());
        json.put("tables", progress.tables());
        json.put("rows_copied", progress.rows());
        json.put("rows_estimated", progress.rowsEstimated());
        json.put("bytes_copied", progress.bytes());
        json.put("bytes_estimated", progress.bytesEstimated());
        json.put("fraction", Math.round(progress.fraction() * 1000) / 1000.0);
        json.put("rows_per_second", Math.round(progress.rows() / seconds));
        json.put("bytes_per_second", Math.round(progress.bytes() / seconds));
        json.put("remaining_seconds", seconds(progress.remaining(progress.rows() / seconds)));
        json.set(
                "under_way",
                tables(stats.tables().stream()
                        .filter(table -> table.state() == 'd')
                        .toList()));
        return json;
    }

    private static @Nullable Double seconds(@Nullable Duration duration) {
        return duration == null ? null : (Double) (duration.toMillis() / 1000.0);
    }

    private static ObjectNode slotWait(SlotWaitState state) {
        ObjectNode json = JSON.objectNode();
        QualifiedName table = state.table();
        json.put("table", table == null ? null : table.toString());
        json.put("phase", state.phase().name());
        json.put("waited_for", state.waitedFor());
        ArrayNode transactions = json.putArray("transactions");
        for (BlockingTransaction transaction : state.oldest()) {
            ObjectNode one = transactions.addObject();
            one.put("xid", transaction.xid() & 0xFFFF_FFFFL);
            one.put("pid", transaction.pid());
            one.put("gid", transaction.gid());
            one.put("user", transaction.user());
            one.put("database", transaction.database());
            one.put("age_seconds", seconds(transaction.age()));
            one.put("query", transaction.shownQuery());
        }
        return json;
    }

    private static ObjectNode error(LastError error) {
        ObjectNode json = JSON.objectNode();
        json.put("message", error.message());
        json.put("context", error.context());
        json.put("relation", error.relation());
        Xid xid = error.xid();
        json.put("xid", xid == null ? null : (Long) Integer.toUnsignedLong(xid.value()));
        json.put("finish_lsn", lsn(error.finishLsn()));
        json.put("at", time(error.at()));
        json.put("count", error.count());
        json.put("hint", error.hint());
        return json;
    }

    static ObjectNode origin(@Nullable OriginSnapshot origin) {
        ObjectNode json = JSON.objectNode();
        json.put("origin_name", origin == null ? null : origin.originName());
        json.put("native", origin == null ? null : (Boolean) origin.nativeOrigin());
        json.put("remote_lsn", origin == null ? null : lsn(origin.remoteLsn()));
        json.put("local_lsn", origin == null ? null : lsn(origin.localLsn()));
        json.put("remote_commit_time", origin == null ? null : time(origin.remoteCommitTime()));
        ArrayNode sessions = json.putArray("sessions");
        if (origin != null) {
            for (OriginSnapshot.Session session : origin.sessions()) {
                ObjectNode one = sessions.addObject();
                one.put("session", session.session());
                one.put("remote_lsn", lsn(session.remoteLsn()));
                one.put("local_lsn", lsn(session.localLsn()));
            }
        }
        return json;
    }

    static ArrayNode tables(List<TableProgress> tables) {
        ArrayNode json = JSON.arrayNode();
        for (TableProgress table : tables) {
            ObjectNode one = json.addObject();
            one.put("schema", table.table().schema());
            one.put("table", table.table().name());
            one.put("state", String.valueOf(table.state()));
            one.put("sync_lsn", lsn(table.syncLsn()));
            one.put("rows_copied", table.rowsCopied());
            one.put("rows_estimated", estimate(table.rowsEstimated()));
            one.put("bytes_copied", table.bytesCopied());
            one.put("bytes_estimated", estimate(table.bytesEstimated()));
            one.put("rows_per_second", Math.round(table.rowsPerSecond()));
            one.put("bytes_per_second", Math.round(table.bytesPerSecond()));
            one.put("remaining_seconds", seconds(table.remaining()));
            one.put("error", table.error());
        }
        return json;
    }

    /** {@code worker} is the number of a parallel apply worker, null where the leader spools. */
    static ArrayNode streams(List<StreamProgress> streams) {
        ArrayNode json = JSON.arrayNode();
        for (StreamProgress stream : streams) {
            ObjectNode one = json.addObject();
            one.put("xid", Integer.toUnsignedLong(stream.xid().value()));
            one.put("action", stream.action().name());
            one.put("worker", stream.worker());
            one.put("spooled_bytes", stream.spooledBytes());
            one.put("segments", stream.segments());
            one.put("subxacts", stream.subxacts());
        }
        return json;
    }

    /** pg_stat_subscription's columns; positions and times are the leader's, as there. */
    static ArrayNode workers(SubscriptionStats stats) {
        ArrayNode json = JSON.arrayNode();
        for (WorkerProgress worker : stats.workers()) {
            boolean leader = worker.leaderPid() == null;
            ObjectNode one = json.addObject();
            one.put("subid", worker.subid());
            one.put("subname", stats.subscription());
            one.put("worker_type", worker.workerType());
            one.put("pid", worker.pid());
            one.put("leader_pid", worker.leaderPid());
            one.putNull("relid");
            one.put("received_lsn", leader ? lsn(stats.receivedLsn()) : null);
            one.put("last_msg_send_time", leader ? time(stats.lastMessageSendTime()) : null);
            one.put("last_msg_receipt_time", leader ? time(stats.lastMessageReceiptTime()) : null);
            one.put("latest_end_lsn", leader ? lsn(stats.latestEndLsn()) : null);
            one.put("latest_end_time", leader ? time(stats.lastMessageSendTime()) : null);
        }
        return json;
    }

    private static @Nullable Long estimate(long estimated) {
        return estimated < 0 ? null : estimated;
    }

    /** Null for a position that is not known, as in PostgreSQL's views. */
    private static @Nullable String lsn(@Nullable Lsn lsn) {
        return lsn == null || lsn.equals(Lsn.ZERO) ? null : lsn.toString();
    }

    private static @Nullable String time(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }
}
