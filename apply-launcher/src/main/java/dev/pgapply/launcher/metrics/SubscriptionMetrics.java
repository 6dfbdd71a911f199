package dev.pgapply.launcher.metrics;

import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.core.transaction.TransApplyAction;
import dev.pgapply.launcher.text.CopyProgress;
import dev.pgapply.worker.stats.SlotStatistics;
import dev.pgapply.worker.stats.StreamProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Meters over the subscriptions' statistics, read when Prometheus asks and at no other time; label {@code subscription}. What is not
 * known is NaN.
 *
 * <pre>
 * pgapply_received_lsn, _write_lsn, _flush_lsn, _apply_lsn     positions as byte offsets
 * pgapply_lag_bytes, pgapply_lag_seconds
 * pgapply_connected, pgapply_status{status}                    1 or 0
 * pgapply_transactions_total, pgapply_skipped_transactions_total
 * pgapply_skipped_changes_total                                of tables that are published and not part of the subscription
 * pgapply_rows_total{operation}                                insert, update, delete; truncate counts commands
 * pgapply_batches_total, pgapply_batch_rows_total, pgapply_rows_per_batch
 * pgapply_exact_fallbacks_total
 * pgapply_conflicts_total{type}                                PostgreSQL's labels
 * pgapply_errors_total{worker}                                 apply, table_sync
 * pgapply_retries_total
 * pgapply_tables{state}                                        srsubstate's letters
 * pgapply_table_sync_rows, _rows_estimated, _bytes, _bytes_estimated
 * pgapply_table_sync_progress_ratio                            of all tables together, 0 to 1
 * pgapply_table_sync_rows_per_second, _bytes_per_second, _remaining_seconds   while a first copy runs, else NaN
 * pgapply_slot_wait_transactions                               how many transactions the slot's creation waits for
 * pgapply_streams_total{action}                                streamed transactions, by TransApplyAction; LEADER_PARTIAL_SERIALIZE
 *                                                              counts those that a worker's full queue sent to the spool
 * pgapply_wait_cycles_total
 * pgapply_parallel_apply_workers, _busy
 * pgapply_spool_bytes, pgapply_spool_files
 * pgapply_slot_spill_txns_total, _count_total, _bytes_total    the publisher's own counters (pg_stat_replication_slots), asked every
 * pgapply_slot_stream_txns_total, _count_total, _bytes_total   10 s; they start again where its statistics are reset
 * pgapply_slot_retained_wal_bytes, pgapply_slot_wal_status{wal_status}
 * </pre>
 */
public final class SubscriptionMetrics {

    private static final String SUBSCRIPTION = "subscription";
    private static final List<String> TABLE_STATES = List.of("i", "d", "f", "s", "r");
    private static final List<TransApplyAction> STREAM_ACTIONS = List.of(
            TransApplyAction.LEADER_SERIALIZE,
            TransApplyAction.LEADER_SEND_TO_PARALLEL,
            TransApplyAction.LEADER_PARTIAL_SERIALIZE);
    private static final List<String> WAL_STATUSES = List.of("reserved", "extended", "unreserved", "lost");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    public SubscriptionMetrics(List<SubscriptionStats> subscriptions) {
        for (SubscriptionStats stats : subscriptions) {
            new Meters(registry, stats).register();
        }
    }

    /** Prometheus' text format; any thread. */
    public String scrape() {
        return registry.scrape();
    }

    /** The meters of one subscription. */
    private record Meters(MeterRegistry registry, SubscriptionStats stats) {

        void register() {
            positions();
            counters();
            tables();
            streams();
            gauge("connected", null, s -> s.isConnected() ? 1 : 0);
            for (SubscriptionStatus status : SubscriptionStatus.values()) {
                gauge("status", Tag.of("status", status.label()), s -> s.status() == status ? 1 : 0);
            }
            slotCounter("spill.txns", SlotStatistics::spillTxns);
            slotCounter("spill.count", SlotStatistics::spillCount);
            slotCounter("spill.bytes", SlotStatistics::spillBytes);
            slotCounter("stream.txns", SlotStatistics::streamTxns);
            slotCounter("stream.count", SlotStatistics::streamCount);
            slotCounter("stream.bytes", SlotStatistics::streamBytes);
            gaugeOf("slot.retained.wal", "bytes", s -> orNaN(s.slotRetainedBytes()));
            for (String walStatus : WAL_STATUSES) {
                gauge(
                        "slot.wal.status",
                        Tag.of("wal_status", walStatus),
                        s -> walStatus.equals(s.slotWalStatus()) ? 1 : 0);
            }
        }

        private void positions() {
            gauge("received.lsn", null, s -> s.receivedLsn().value());
            gauge("write.lsn", null, s -> s.writeLsn().value());
            gauge("flush.lsn", null, s -> s.flushLsn().value());
            gauge("apply.lsn", null, s -> s.applyLsn().value());
            gaugeOf("lag", "bytes", s -> orNaN(s.lagBytes()));
            gaugeOf("lag", "seconds", s -> seconds(s.lag()));
        }

        private void counters() {
            counter("transactions", null, s -> s.transactions);
            counter("skipped.transactions", null, s -> s.skippedTransactions);
            counter("skipped.changes", null, s -> s.skippedChanges);
            counter("rows", Tag.of("operation", "insert"), s -> s.inserts);
            counter("rows", Tag.of("operation", "update"), s -> s.updates);
            counter("rows", Tag.of("operation", "delete"), s -> s.deletes);
            counter("rows", Tag.of("operation", "truncate"), s -> s.truncates);
            counter("batches", null, s -> s.batches);
            counter("batch.rows", null, s -> s.batchRows);
            gauge(
                    "rows.per.batch",
                    null,
                    s -> s.batches.sum() == 0 ? Double.NaN : (double) s.batchRows.sum() / s.batches.sum());
            counter("exact.fallbacks", null, s -> s.exactFallbacks);
            counter("errors", Tag.of("worker", "apply"), s -> s.applyErrors);
            counter("errors", Tag.of("worker", "table_sync"), s -> s.syncTableErrors);
            counter("retries", null, s -> s.retries);
            for (ConflictType type : ConflictType.values()) {
                counter("conflicts", Tag.of("type", type.label()), s -> s.conflicts(type));
            }
        }

        private void tables() {
            for (String state : TABLE_STATES) {
                gauge(
                        "tables",
                        Tag.of("state", state),
                        s -> s.tables().stream()
                                .filter(table -> table.state() == state.charAt(0))
                                .count());
            }
            gauge("table.sync.rows", null, s -> sum(s, TableProgress::rowsCopied));
            gauge("table.sync.rows.estimated", null, s -> sum(s, TableProgress::rowsEstimated));
            gauge("table.sync.bytes", null, s -> sum(s, TableProgress::bytesCopied));
            gauge("table.sync.bytes.estimated", null, s -> sum(s, TableProgress::bytesEstimated));
            gauge("table.sync.progress.ratio", null, s -> CopyProgress.of(s).fraction());
            gauge("table.sync.rows.per.second", null, s -> pace(s, CopyProgress::rows));
            gauge("table.sync.bytes.per.second", null, s -> pace(s, CopyProgress::bytes));
            gauge(
                    "table.sync.remaining.seconds",
                    null,
                    s -> seconds(CopyProgress.of(s).remaining(orZero(pace(s, CopyProgress::rows)))));
            gauge("slot.wait.transactions", null, s -> waitedFor(s.slotWait()));
        }

        private void streams() {
            for (TransApplyAction action : STREAM_ACTIONS) {
                counter("streams", Tag.of("action", action.name()), s -> s.streamActions(action));
            }
            counter("wait.cycles", null, s -> s.waitCycles);
            gauge(
                    "parallel.apply.workers",
                    null,
                    s -> s.workers().stream()
                            .filter(worker -> worker.leaderPid() != null)
                            .count());
            gauge("parallel.apply.workers.busy", null, SubscriptionStats::busyWorkers);
            gaugeOf(
                    "spool",
                    "bytes",
                    s -> s.streams().stream()
                            .mapToLong(StreamProgress::spooledBytes)
                            .sum());
            gauge(
                    "spool.files",
                    null,
                    s -> s.streams().stream()
                            .mapToInt(StreamProgress::spoolFiles)
                            .sum());
        }

        private void gauge(String name, @Nullable Tag tag, ToDoubleFunction<SubscriptionStats> value) {
            Gauge.builder("pgapply." + name, stats, value).tags(tags(tag)).register(registry);
        }

        private void gaugeOf(String name, String unit, ToDoubleFunction<SubscriptionStats> value) {
            Gauge.builder("pgapply." + name + "." + unit, stats, value)
                    .tags(tags(null))
                    .register(registry);
        }

        private interface Adder {
            LongAdder of(SubscriptionStats stats);
        }

        private void counter(String name, @Nullable Tag tag, Adder adder) {
            FunctionCounter.builder("pgapply." + name, stats, s -> adder.of(s).sum())
                    .tags(tags(tag))
                    .register(registry);
        }

        private void slotCounter(String name, ToLongFunction<SlotStatistics> count) {
            FunctionCounter.builder("pgapply.slot." + name, stats, s -> {
                        SlotStatistics counted = s.slotStatistics();
                        return counted == null ? Double.NaN : count.applyAsLong(counted);
                    })
                    .tags(tags(null))
                    .register(registry);
        }

        private Tags tags(@Nullable Tag tag) {
            Tags tags = Tags.of(SUBSCRIPTION, stats.subscription());
            return tag == null ? tags : tags.and(tag);
        }
    }

    /** Unknown estimates count as nothing. */
    private static long sum(SubscriptionStats stats, ToLongFunction<TableProgress> amount) {
        return stats.tables().stream()
                .mapToLong(amount)
                .filter(value -> value > 0)
                .sum();
    }

    /** Since the copy began; NaN while none runs. */
    private static double pace(SubscriptionStats stats, ToLongFunction<CopyProgress> amount) {
        return stats.status() == SubscriptionStatus.COPYING
                ? amount.applyAsLong(CopyProgress.of(stats))
                        * 1000.0
                        / Math.max(1, stats.sinceStatus().toMillis())
                : Double.NaN;
    }

    private static double orZero(double value) {
        return Double.isNaN(value) ? 0 : value;
    }

    private static int waitedFor(@Nullable SlotWaitState wait) {
        return wait == null ? 0 : wait.waitedFor();
    }

    private static double orNaN(@Nullable Long value) {
        return value == null ? Double.NaN : value;
    }

    private static double seconds(@Nullable Duration duration) {
        return duration == null ? Double.NaN : duration.toMillis() / 1000.0;
    }
}
