package dev.pgapply.launcher.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.conflict.ConflictType;
import dev.pgapply.core.transaction.TransApplyAction;
import dev.pgapply.worker.stats.SlotStatistics;
import dev.pgapply.worker.stats.StreamProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import dev.pgapply.worker.stats.WorkerProgress;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;

class SubscriptionMetricsTest {

    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());

    @Test
    void every_meter_has_the_prefix_and_its_value() {
        stats.transition(SubscriptionStatus.STREAMING, null);
        stats.setConnected(true);
        stats.setReceivedLsn(new Lsn(1000));
        stats.setFeedback(new Lsn(900), new Lsn(700), new Lsn(800));
        stats.setPublisherFlushLsn(new Lsn(1200));
        stats.setSlot(new Lsn(200), "extended");
        stats.setSlotStatistics(new SlotStatistics(1, 2, 300, 4, 5, 600));
        stats.setWorkers(
                List.of(new WorkerProgress(7, "apply", 100, null), new WorkerProgress(7, "parallel apply", 101, 100)));
        stats.setBusyWorkers(1);
        stats.transactions.add(3);
        stats.inserts.add(5);
        stats.batches.add(2);
        stats.batchRows.add(5);
        stats.conflicts(ConflictType.UPDATE_MISSING).add(4);
        stats.applyErrors.increment();
        stats.streamActions(TransApplyAction.LEADER_SERIALIZE).increment();
        stats.setStream(new StreamProgress(new Xid(731), TransApplyAction.LEADER_SERIALIZE, null, 120, 3, 2));
        stats.setTable(new TableProgress(new QualifiedName("public", "t"), 'd', null, 10, 20, 100, -1, null));

        String text = new SubscriptionMetrics(List.of(stats)).scrape();

        assertThat(text.lines().filter(line -> !line.startsWith("#")))
                .allMatch(line -> line.startsWith("pgapply_"))
                .contains(
                        "pgapply_received_lsn{subscription=\"orders\"} 1000.0",
                        "pgapply_flush_lsn{subscription=\"orders\"} 700.0",
                        "pgapply_apply_lsn{subscription=\"orders\"} 800.0",
                        "pgapply_lag_bytes{subscription=\"orders\"} 500.0",
                        "pgapply_lag_seconds{subscription=\"orders\"} 0.0",
                        "pgapply_connected{subscription=\"orders\"} 1.0",
                        "pgapply_status{status=\"streaming\",subscription=\"orders\"} 1.0",
                        "pgapply_status{status=\"error\",subscription=\"orders\"} 0.0",
                        "pgapply_transactions_total{subscription=\"orders\"} 3.0",
                        "pgapply_rows_total{operation=\"insert\",subscription=\"orders\"} 5.0",
                        "pgapply_batches_total{subscription=\"orders\"} 2.0",
                        "pgapply_rows_per_batch{subscription=\"orders\"} 2.5",
                        "pgapply_exact_fallbacks_total{subscription=\"orders\"} 0.0",
                        "pgapply_conflicts_total{subscription=\"orders\",type=\"update_missing\"} 4.0",
                        "pgapply_errors_total{subscription=\"orders\",worker=\"apply\"} 1.0",
                        "pgapply_retries_total{subscription=\"orders\"} 0.0",
                        "pgapply_tables{state=\"d\",subscription=\"orders\"} 1.0",
                        "pgapply_table_sync_rows{subscription=\"orders\"} 10.0",
                        "pgapply_table_sync_bytes_estimated{subscription=\"orders\"} 0.0",
                        "pgapply_streams_total{action=\"LEADER_SERIALIZE\",subscription=\"orders\"} 1.0",
                        "pgapply_parallel_apply_workers{subscription=\"orders\"} 1.0",
                        "pgapply_parallel_apply_workers_busy{subscription=\"orders\"} 1.0",
                        "pgapply_slot_spill_txns_total{subscription=\"orders\"} 1.0",
                        "pgapply_slot_spill_bytes_total{subscription=\"orders\"} 300.0",
                        "pgapply_slot_stream_txns_total{subscription=\"orders\"} 4.0",
                        "pgapply_slot_stream_count_total{subscription=\"orders\"} 5.0",
                        "pgapply_slot_stream_bytes_total{subscription=\"orders\"} 600.0",
                        "pgapply_spool_bytes{subscription=\"orders\"} 120.0",
                        "pgapply_spool_files{subscription=\"orders\"} 2.0",
                        "pgapply_slot_retained_wal_bytes{subscription=\"orders\"} 1000.0",
                        "pgapply_slot_wal_status{subscription=\"orders\",wal_status=\"extended\"} 1.0");
    }

    @Test
    void what_is_not_known_is_not_a_number() {
        String text = new SubscriptionMetrics(List.of(stats)).scrape();

        assertThat(text)
                .contains("pgapply_lag_bytes{subscription=\"orders\"} NaN")
                .contains("pgapply_lag_seconds{subscription=\"orders\"} NaN")
                .contains("pgapply_slot_stream_txns_total{subscription=\"orders\"} NaN")
                .contains("pgapply_slot_retained_wal_bytes{subscription=\"orders\"} NaN");
    }
}
