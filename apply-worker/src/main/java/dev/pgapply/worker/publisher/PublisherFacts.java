package dev.pgapply.worker.publisher;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.time.Duration;

/**
 * What a publisher says of itself at one moment.
 *
 * @param serverVersionNum as in server_version_num: 180004 is 18.4
 * @param walSenderTimeout zero: the walsender waits for ever
 * @param synchronousStandbyNames empty where no commit waits for a standby
 * @param inRecovery whether the publisher is a standby
 * @param replicationSlots how many slots exist, of {@code maxReplicationSlots}
 * @param walSenders how many walsenders run, of {@code maxWalSenders}
 */
public record PublisherFacts(
        int serverVersionNum,
        String serverVersion,
        String walLevel,
        Duration walSenderTimeout,
        String synchronousStandbyNames,
        boolean inRecovery,
        int replicationSlots,
        int maxReplicationSlots,
        int walSenders,
        int maxWalSenders) {

    /** The oldest server that pgapply speaks to, and the newest one whose rules it knows. */
    public static final int OLDEST_MAJOR = 14;

    public static final int NEWEST_MAJOR = 18;

    private static final int FIRST_MAJOR_WITH_TWO_PHASE = 15;

    /** The release whose rules apply: a server newer than the newest known one is treated as that. */
    public int major() {
        return Math.min(serverVersionNum / 10_000, NEWEST_MAJOR);
    }

    public boolean isTooOld() {
        return serverVersionNum / 10_000 < OLDEST_MAJOR;
    }

    /** Whether the server is newer than what pgapply was tested with: worth a warning, no more. */
    public boolean isNewerThanKnown() {
        return serverVersionNum / 10_000 > NEWEST_MAJOR;
    }

    /** @throws ApplyException of kind PRECONDITION if the server cannot send prepared transactions (pgoutput.c, 15) */
    public void requireTwoPhase() {
        if (major() < FIRST_MAJOR_WITH_TWO_PHASE) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "publisher runs PostgreSQL " + serverVersion + ", which does not send prepared transactions",
                    "set two_phase: false: they are applied at COMMIT PREPARED then; two_phase needs a publisher from PostgreSQL "
                            + FIRST_MAJOR_WITH_TWO_PHASE + " on");
        }
    }

    /** @throws ApplyException of kind PRECONDITION if the server is too old or writes no logical WAL */
    public void requireUsable() {
        if (isTooOld()) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "publisher runs PostgreSQL " + serverVersion + ", which is older than " + OLDEST_MAJOR,
                    "publishers from PostgreSQL " + OLDEST_MAJOR + " on are supported");
        }
        if (!walLevel.equals("logical")) {
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "publisher's wal_level is \"" + walLevel + "\", it must be \"logical\"",
                    "ALTER SYSTEM SET wal_level = logical, then restart the publisher");
        }
    }
}
