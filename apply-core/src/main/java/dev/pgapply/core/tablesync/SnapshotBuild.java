package dev.pgapply.core.tablesync;

/**
 * The publisher's snapshot builder, followed from outside while it creates a slot (snapbuild.c, SnapBuildFindSnapshot). Immutable; each
 * look at the running transactions gives the next one.
 *
 * <pre>
 *                 transactions run              all below nextPhaseAt ended           all below nextPhaseAt ended
 *     START ───────────────────────▶ BUILDING_SNAPSHOT ──────────────▶ FULL_SNAPSHOT ──────────────▶ CONSISTENT
 *       └──────────────────────────────────┴────────── none runs ───────────┴──────────────────────────▲
 * </pre>
 *
 * <p>In PostgreSQL's order: with no transaction running it is consistent, whatever the phase; else one look makes one step at most. Each
 * round waits for all transactions below the next xid noted when the round began, so one that begins during the first round holds up the
 * second. It is an estimate: the builder looks when it reads a running-xacts record, which is not when we look.
 *
 * @param nextPhaseAt the next xid when the phase began, a full transaction id; 0 in START and CONSISTENT
 */
public record SnapshotBuild(SnapshotBuildPhase phase, long nextPhaseAt) {

    /** The slot's creation begins. */
    public static final SnapshotBuild START = new SnapshotBuild(SnapshotBuildPhase.START, 0);

    private static final SnapshotBuild CONSISTENT = new SnapshotBuild(SnapshotBuildPhase.CONSISTENT, 0);

    /** The builder after it has seen these. */
    public SnapshotBuild after(RunningTransactions running) {
        if (phase == SnapshotBuildPhase.CONSISTENT || running.oldestRunningXid() == running.nextXid()) {
            return CONSISTENT;
        }
        if (phase == SnapshotBuildPhase.START) {
            return new SnapshotBuild(SnapshotBuildPhase.BUILDING_SNAPSHOT, running.nextXid());
        }
        if (waitsFor(running.oldestRunningXid())) {
            return this;
        }
        return phase == SnapshotBuildPhase.BUILDING_SNAPSHOT
                ? new SnapshotBuild(SnapshotBuildPhase.FULL_SNAPSHOT, running.nextXid())
                : CONSISTENT;
    }

    /** Whether the phase cannot end before that transaction, a full transaction id, has ended. */
    public boolean waitsFor(long xid) {
        return Long.compareUnsigned(xid, nextPhaseAt) < 0;
    }

    /** How many of these the phase waits for. */
    public int waitedFor(RunningTransactions running) {
        return (int) running.xids().stream().filter(this::waitsFor).count();
    }
}
