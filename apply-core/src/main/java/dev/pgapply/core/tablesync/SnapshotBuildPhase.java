package dev.pgapply.core.tablesync;

/** How far the publisher's snapshot builder is while a slot is created (snapbuild.h, SnapBuildState). */
public enum SnapshotBuildPhase {
    /** Nothing is known yet. */
    START,
    /** First round: changes of the catalogs are collected; the transactions that ran when it began must end. */
    BUILDING_SNAPSHOT,
    /** Second round: whatever begins now can be decoded; the transactions that ran when it began must end. */
    FULL_SNAPSHOT,
    /** Every transaction that commits from here on can be decoded. */
    CONSISTENT
}
