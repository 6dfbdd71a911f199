package dev.pgapply.core.subscription;

import dev.pgapply.core.batch.BatchLimits;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What an operator says of a subscription, validated once. Names and defaults are PostgreSQL's (CREATE SUBSCRIPTION); the option
 * reference is in the README.
 *
 * @param name 1 to 63 bytes of UTF-8, unique within one target database
 * @param publications names as in the publisher's catalog
 * @param createSlot whether the first start creates the slot; false: it must exist
 * @param copyData whether the first start copies the tables' rows
 * @param createTables which published tables are created on the target
 * @param streaming whether transactions are sent before they commit
 * @param twoPhase whether a prepared transaction is prepared on the target too, instead of applied when it commits
 * @param binary whether values are asked for in binary form
 * @param synchronousCommit the value for the apply session, as PostgreSQL writes it
 * @param maxParallelApplyWorkers how many streamed transactions may be applied while in progress; 0: all are spooled
 * @param streamSendTimeout after this long a parallel apply worker's full queue makes the rest of its transaction go to the spool
 * @param slotCreateTimeout how long the publisher may take to create the slot; zero: as long as it needs
 * @param walReceiverStatusInterval at least this often a status goes to the publisher
 * @param walReceiverTimeout this long without a byte from the publisher ends the connection; zero: never
 * @param receiveQueueBytes how much may wait between the receiver and the leader
 * @param spoolMaxBytes what the files of all streamed transactions may take together; 0: no limit but the disk
 */
public record SubscriptionOptions(
        String name,
        ConnectionUrl publisher,
        ConnectionUrl target,
        List<String> publications,
        String slotName,
        boolean enabled,
        boolean createSlot,
        boolean copyData,
        CreateTables createTables,
        StreamingMode streaming,
        boolean twoPhase,
        BinaryMode binary,
        Origin origin,
        String synchronousCommit,
        boolean disableOnError,
        int maxSyncWorkers,
        int maxParallelApplyWorkers,
        Duration streamSendTimeout,
        Duration slotCreateTimeout,
        Duration walReceiverStatusInterval,
        Duration walReceiverTimeout,
        long receiveQueueBytes,
        BatchLimits batch,
        long spoolMaxBytes) {

    /** Which changes the publisher sends, by where they came from (PostgreSQL 16 and later). */
    public enum Origin {
        ANY,
        NONE
    }

    /** A valid replication slot name (slot.c, ReplicationSlotValidateName). */
    public static final Pattern SLOT_NAME = Pattern.compile("[a-z0-9_]{1,63}");

    public SubscriptionOptions {
        publications = List.copyOf(publications);
        if (publications.isEmpty()) {
            throw new IllegalArgumentException("publications must name at least one publication");
        }
        if (!SLOT_NAME.matcher(slotName).matches()) {
            throw new IllegalArgumentException("slot_name \"" + slotName
                    + "\" is no valid slot name: 1 to 63 characters of a to z, 0 to 9 and underscore");
        }
    }
}
