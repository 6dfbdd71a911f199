package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.jdbc.PostgresErrors;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the workers of one copy and waits for them; meanwhile it keeps the snapshot's session alive and watches the workers' sessions on
 * the target. Owned by the thread that runs the copy.
 */
final class CopyWorkers {

    private static final long LOOK_AGAIN_MILLIS = 1_000;
    private static final long KEEP_ALIVE_NANOS = 10_000_000_000L;
    private static final long END_PATIENCE_MILLIS = 2_000;

    /** The part of the heap that wide rows may take: one of four. */
    private static final int HEAP_PARTS = 4;

    private final CopyConnections connections;
    private final SnapshotHolder holder;
    private final Connection target;
    private final Ticker ticker;

    private final WideRows wideRows = new WideRows(Runtime.getRuntime().maxMemory() / HEAP_PARTS);
    private final BlockingQueue<News> news = new LinkedBlockingQueue<>();
    private final List<CopyWorker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    /**
     * What a worker tells.
     *
     * @param table the one that has failed; null: the worker has ended
     */
    private record News(@Nullable TableCopy table, @Nullable ApplyException failure) {}

    /** @param target a session that is free while the workers copy */
    CopyWorkers(CopyConnections connections, SnapshotHolder holder, Connection target, Ticker ticker) {
        this.connections = connections;
        this.holder = holder;
        this.target = target;
        this.ticker = ticker;
    }

    /**
     * Copies all the tables. When this returns, every one of them is committed, but for those that have failed.
     *
     * @param failed told of each table that cannot be copied, while the others go on; what it throws ends the copy
     * @throws ApplyException the first failure that has to do with more than a table; all workers are ended by then
     */
    void copy(
            SnapshotCopy snapshot,
            List<TableCopy> copies,
            int workerCount,
            BiConsumer<TableCopy, ApplyException> failed) {
        Queue<CopyPart> parts = new ConcurrentLinkedQueue<>(holder.parts(copies, workerCount));
        for (int i = Math.min(workerCount, parts.size()); i > 0; i--) {
            CopyWorker worker = new CopyWorker(connections, snapshot, parts, wideRows, new Messenger());
            Thread thread = new Thread(worker, "tablesync/" + connections.subscription());
            workers.add(worker);
            threads.add(thread);
            thread.start();
        }
        try {
            awaitAll(failed);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ended(new ApplyException(Kind.CONNECTION, "interrupted while tables were copied", e));
        } catch (ApplyException e) {
            throw ended(e);
        }
    }

    /** Hands what the workers tell over to the copy's thread. */
    private final class Messenger implements CopyWorker.Listener {

        @Override
        public void failed(TableCopy copy, ApplyException reason) {
            news.add(new News(copy, reason));
        }

        @Override
        public void ended(@Nullable ApplyException failure) {
            news.add(new News(null, failure));
        }
    }

    private void awaitAll(BiConsumer<TableCopy, ApplyException> failed) throws InterruptedException {
        long keptAliveAt = ticker.nanos();
        int running = threads.size();
        while (running > 0) {
            News told = news.poll(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            if (told != null) {
                TableCopy table = told.table();
                ApplyException failure = told.failure();
                if (table != null && failure != null) {
                    failed.accept(table, failure);
                } else if (failure != null) {
                    throw failure;
                } else {
                    running--;
                }
                continue;
            }
            lookAfterSessions();
            if (ticker.nanos() - keptAliveAt >= KEEP_ALIVE_NANOS) {
                holder.keepAlive();
                keptAliveAt = ticker.nanos();
            }
        }
    }

    /**
     * A COPY that the target has refused goes on until its end, as the driver does not look for an answer before; the session's state
     * tells it earlier. And a worker that waits for another's transaction must not be waited for.
     */
    private void lookAfterSessions() {
        String sql = "SELECT pid, state = 'idle in transaction (aborted)',"
                + " wait_event_type = 'Lock' AND pg_blocking_pids(pid) && ? FROM pg_stat_activity WHERE pid = ANY (?)";
        try (PreparedStatement statement = target.prepareStatement(sql)) {
            Array pids = target.createArrayOf(
                    "int4", workers.stream().map(CopyWorker::targetPid).toArray());
            statement.setArray(1, pids);
            statement.setArray(2, pids);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    int pid = row.getInt(1);
                    if (row.getBoolean(2)) {
                        workers.stream()
                                .filter(worker -> worker.targetPid() == pid)
                                .forEach(CopyWorker::setTargetRefused);
                    }
                    if (row.getBoolean(3)) {
                        wideRows.letAllPass();
                    }
                }
            }
        } catch (SQLException e) {
            throw PostgresErrors.translate("could not look after the copy's sessions on the target", e);
        }
    }

    private ApplyException ended(ApplyException reason) {
        connections.close();
        @Nullable InterruptedException interrupted = null;
        for (Thread thread : threads) {
            try {
                thread.join(END_PATIENCE_MILLIS);
            } catch (InterruptedException e) {
                interrupted = e;
            }
        }
        if (interrupted != null) {
            Thread.currentThread().interrupt();
        }
        return reason;
    }
}
