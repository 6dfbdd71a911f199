package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.RetryWait;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.worker.apply.TableHold;
import dev.pgapply.worker.catalog.SubscriptionTable;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Sees to it, while a subscription streams, that every table of it gets in step (tablesync.c, process_syncing_tables_for_apply): starts a
 * {@link TableSyncWorker} for each that is not, a few at a time, tries failed ones again with waits, and does what operators ask:
 * {@link #refresh} and {@link #resync}. One broken table never stops the others, nor the stream.
 *
 * <p>It has a thread of its own, {@code tablesync/<subscription>}, which owns everything here; {@link #refresh}, {@link #resync} and
 * {@link #close} come from others.
 */
public final class TableSync implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(TableSync.class);

    private static final Duration LOOK_AGAIN = Duration.ofMillis(200);

    /** With every table ready only operators' requests bring work, and these do not wait. */
    private static final Duration LOOK_AGAIN_WHEN_READY = Duration.ofSeconds(1);

    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);
    private static final Duration END_PATIENCE = Duration.ofSeconds(2);

    /** What an operator has asked for, and the answer that is waited for. */
    private record Command(Runnable work, CompletableFuture<Boolean> answer) {}

    private final TableSyncContext context;
    private final TableStates states;
    private final PublisherTables published;
    private final LateForeignKeys foreignKeys;
    private final CopyConnections control;
    private final Connection target;
    private final BlockingQueue<Command> commands = new LinkedBlockingQueue<>();
    private final Thread thread;

    private final Map<QualifiedName, TableSyncWorker> workers = new HashMap<>();
    private final Map<QualifiedName, RetryWait> waits = new HashMap<>();

    /** Tables that are not tried again before they are resynchronised. */
    private final Set<QualifiedName> parked = new HashSet<>();

    /** Tables that are not tried again before a refresh: the publications do not send them. */
    private final Set<QualifiedName> unpublished = new HashSet<>();

    private volatile boolean closing;

    private TableSync(TableSyncContext context) {
        this.context = context;
        this.states = new TableStates(context.options().name(), context.subid());
        this.published = new PublisherTables(context);
        this.foreignKeys = new LateForeignKeys(context, () -> closing);
        this.control = context.connections();
        this.target = control.openTarget();
        states.load(target);
        this.thread = new Thread(this::run, "tablesync/" + context.options().name());
    }

    /** Opens a session on the target, and starts the thread. */
    public static TableSync start(TableSyncContext context) {
        TableSync started = new TableSync(context);
        started.thread.setDaemon(true);
        started.thread.start();
        return started;
    }

    /**
     * Takes up tables that were added to the publications, and lets go of those that have left. When this returns the new ones are part of the
     * subscription; they are copied afterwards. Any thread.
     *
     * @throws ApplyException of kind PRECONDITION if that is not allowed now; of other kinds if it failed, and nothing has changed
     */
    public void refresh() {
        ask(() -> {
            if (context.options().copyData()) {
                requireNoTwoPhase("refresh");
            }
            refreshTables();
        });
    }

    /**
     * Redoes one table: it is emptied and copied again. When this returns that is recorded; the copy comes afterwards. Any thread.
     *
     * @throws ApplyException of kind PRECONDITION if that is not allowed now, or there is no such table
     */
    public void resync(QualifiedName table) {
        ask(() -> {
            requireNoTwoPhase("resync");
            redo(table);
        });
    }

    private void ask(Runnable work) {
        Command command = new Command(work, new CompletableFuture<>());
        commands.add(command);
        if (closing) {
            refuseAll();
        }
        try {
            boolean unused = command.answer().get(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ApplyException failure) {
                throw failure;
            }
            throw new ApplyException(Kind.INTERNAL, "the request failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new ApplyException(
                    Kind.TRANSIENT,
                    "subscription \"" + context.options().name() + "\" has not answered within "
                            + ANSWER_WITHIN.toSeconds() + " s; the request stands",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.TRANSIENT, "interrupted while waiting for the subscription", e);
        }
    }

    private void refuseAll() {
        for (Command command = commands.poll(); command != null; command = commands.poll()) {
            command.answer()
                    .completeExceptionally(new ApplyException(
                            Kind.TRANSIENT, "the subscription has stopped streaming; try again when it streams"));
        }
    }

    private void run() {
        MDC.put("subscription", context.options().name());
        try {
            while (!closing) {
                Command command = commands.poll(lookAgain().toMillis(), TimeUnit.MILLISECONDS);
                if (command != null) {
                    execute(command);
                }
                attend();
            }
        } catch (ApplyException e) {
            fail(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            fail(new ApplyException(Kind.INTERNAL, "the synchronisation of tables failed: " + e, e));
        } finally {
            closing = true;
            refuseAll();
            endWorkers();
            published.close();
            control.finish();
        }
    }

    /** What reaches this has to do with the subscription as a whole: its life ends, and the next one goes on from the record. */
    private void fail(ApplyException failure) {
        if (!closing) {
            context.failed().accept(failure);
        }
    }

    private static void execute(Command command) {
        try {
            command.work().run();
            command.answer().complete(true);
        } catch (ApplyException e) {
            command.answer().completeExceptionally(e);
        }
    }

    private Duration lookAgain() {
        boolean ready =
                workers.isEmpty() && states.all().stream().allMatch(table -> table.state() == TableSyncState.READY);
        return ready ? LOOK_AGAIN_WHEN_READY : LOOK_AGAIN;
    }

    private void attend() {
        endAttempts();
        setReady();
        parkBroken();
        startWorkers();
        foreignKeys.attend(states.all());
    }

    /** Where fewer tables are to be copied than there may be workers, a large one is copied by several sessions. */
    private void startWorkers() {
        long now = context.ticker().nanos();
        int most = context.options().maxSyncWorkers();
        long toBeCopied =
                states.all().stream().filter(table -> !table.isCopied()).count();
        for (SubscriptionTable table : states.all()) {
            if (workers.size() >= most) {
                return;
            }
            QualifiedName name = table.table();
            if (!table.isCopied()
                    && !workers.containsKey(name)
                    && !parked.contains(name)
                    && !unpublished.contains(name)
                    && waits.getOrDefault(name, RetryWait.none(now)).isDue(now)) {
                workers.put(name, TableSyncWorker.start(context, states, name, (int) Math.max(1, most / toBeCopied)));
            }
        }
    }

    private void endAttempts() {
        for (Map.Entry<QualifiedName, TableSyncWorker> running : List.copyOf(workers.entrySet())) {
            QualifiedName name = running.getKey();
            TableSyncWorker worker = running.getValue();
            if (worker.holdFailure() != null && !worker.isDone()) {
                worker.stop();
            }
            if (!worker.isDone()) {
                continue;
            }
            workers.remove(name);
            ApplyException failure = worker.failure();
            if (failure == null) {
                waits.remove(name);
                foreignKeys.expect();
            } else if (!closing && !context.holds().isEnded()) {
                failed(name, worker, failure);
            }
        }
    }

    private void failed(QualifiedName name, TableSyncWorker worker, ApplyException failure) {
        boolean ofTheSubscription = failure.kind() == Kind.OWNERSHIP_LOST
                || (context.options().disableOnError() && failure.kind().remedy() == Remedy.RETRY_OR_DISABLE);
        if (ofTheSubscription) {
            throw failure;
        }
        long now = context.ticker().nanos();
        RetryWait wait = waits.getOrDefault(name, RetryWait.none(now)).failed(now);
        waits.put(name, wait);
        if (worker.isUnpublished()) {
            unpublished.add(name);
        }
        context.stats().setTable(states.recordFailed(target, name, failure).progress());
        if (Integer.bitCount(wait.failures()) == 1) {
            log.warn(
                    "subscription \"{}\": table \"{}\" could not be synchronised, {}: {}",
                    context.options().name(),
                    name,
                    worker.isUnpublished() ? "it is left alone" : "it is tried again",
                    TableStates.sentence(failure));
        }
    }

    private void show(SubscriptionTable table) {
        states.record(target, table);
        context.stats().setTable(table.progress());
    }

    /** s becomes r once the subscription's progress has passed the table's sync LSN. */
    private void setReady() {
        Lsn applied = context.positions().appliedLsn();
        for (SubscriptionTable table : states.all()) {
            Lsn syncLsn = table.syncLsn();
            if (table.state() == TableSyncState.SYNCDONE && (syncLsn == null || !applied.isBefore(syncLsn))) {
                show(new SubscriptionTable(
                        table.table(), TableSyncState.READY, syncLsn, table.rowsCopied(), table.bytesCopied(), null));
                leader(table.table()).set(new SubscribedTables.Entry(TableSyncState.READY, syncLsn));
            }
        }
    }

    private TableHold leader(QualifiedName table) {
        return new TableHold(context.holds(), table, () -> closing);
    }

    /** A table that has not been published all the time since its copy misses changes: it takes no more until it is redone. */
    private void parkBroken() {
        for (Map.Entry<QualifiedName, String> broken :
                published.interrupted(target, states.all()).entrySet()) {
            QualifiedName name = broken.getKey();
            String reason = broken.getValue();
            log.warn("subscription \"{}\": table \"{}\": {}", context.options().name(), name, reason);
            show(new SubscriptionTable(name, TableSyncState.INIT, null, 0, 0, reason));
            parked.add(name);
            leader(name).set(new SubscribedTables.Entry(TableSyncState.INIT, null));
        }
    }

    private void refreshTables() {
        Set<QualifiedName> now = published.names();
        List<QualifiedName> added = new ArrayList<>(now);
        states.all().forEach(table -> added.remove(table.table()));
        for (SubscriptionTable known : states.all()) {
            if (!now.contains(known.table())) {
                leave(known.table());
            }
        }
        for (QualifiedName name : added) {
            SubscriptionTable table =
                    context.options().copyData() ? SubscriptionTable.init(name) : SubscriptionTable.ready(name);
            show(table);
            leader(name).set(new SubscribedTables.Entry(table.state(), null));
            log.info(
                    "subscription \"{}\": table \"{}\" is part of it now",
                    context.options().name(),
                    name);
        }
        waits.clear();
        unpublished.clear();
    }

    private void leave(QualifiedName name) {
        end(workers.remove(name));
        states.remove(target, name);
        leader(name).remove();
        context.stats().removeTable(name);
        waits.remove(name);
        parked.remove(name);
        unpublished.remove(name);
        log.info(
                "subscription \"{}\": table \"{}\" has left it",
                context.options().name(),
                name);
    }

    private void redo(QualifiedName name) {
        SubscriptionTable known = states.find(name);
        if (known == null) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "table \"" + name + "\" is not part of subscription \""
                            + context.options().name() + "\"",
                    "name a table that status shows, as schema.table; refresh takes up tables added to the publications");
        }
        end(workers.remove(name));
        // Recorded before the leader holds it: from here on a crash redoes the table, so that changes which the leader
        // holds back then are not missed.
        show(new SubscriptionTable(name, TableSyncState.DATASYNC, null, 0, 0, null));
        waits.remove(name);
        parked.remove(name);
        unpublished.remove(name);
    }

    private void requireNoTwoPhase(String what) {
        if (context.twoPhase()) {
            // subscriptioncmds.c, AlterSubscription_refresh: "... with copy_data is not allowed when two_phase is
            // enabled"
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    what + " with a copy is not allowed when two_phase is enabled",
                    "copy the table by hand with copy_data: false, or drop the subscription and make it anew");
        }
    }

    private static void end(@Nullable TableSyncWorker worker) {
        if (worker == null) {
            return;
        }
        worker.stop();
        try {
            worker.join(END_PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void endWorkers() {
        workers.values().forEach(TableSyncWorker::stop);
        workers.values().forEach(TableSync::end);
        workers.clear();
    }

    /** Ends all attempts within about two seconds; what is unfinished is redone by the next life. */
    @Override
    public void close() {
        closing = true;
        try {
            thread.join(END_PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
