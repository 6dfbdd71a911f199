package dev.pgapply.worker.catalog;

import static dev.pgapply.worker.catalog.CatalogStatements.lsn;
import static dev.pgapply.worker.catalog.CatalogStatements.prepare;
import static dev.pgapply.worker.catalog.CatalogStatements.run;
import static dev.pgapply.worker.catalog.CatalogStatements.update;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.tablesync.Publishing;
import dev.pgapply.worker.origin.NativeOrigin;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.publisher.PublisherIdentity;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What the target knows of its subscriptions: schema {@code pgapply}. Thread-safe; every method works on the connection it is given, which
 * stays the caller's. Methods that say "commits" need it in autocommit mode and commit durably by themselves; the others run one
 * statement, in the caller's transaction where there is one.
 */
public final class SubscriptionCatalog {

    // By its name in the row: whoever only reads may meet a schema that was not migrated yet.
    private static final String SELECT = "SELECT subid, name, enabled, disabled_reason, slot_state, slot_name,"
            + " publisher_system_identifier, publisher_timeline, publisher_database, target_system_identifier,"
            + " target_database_oid::bigint, coalesce(to_jsonb(s) ->> 'two_phase_state', 'd'), consistent_point::text, created_at"
            + " FROM pgapply.subscription AS s";

    private final RandomGenerator random;

    /** @param random draws subids */
    public SubscriptionCatalog(RandomGenerator random) {
        this.random = random;
    }

    /** Creates the schema or brings it to this version. Commits, if there is anything to do. */
    public void migrate(Connection connection) {
        run("could not create or migrate schema pgapply in the target", () -> {
            CatalogSchema.migrate(connection);
            return true;
        });
    }

    /** The subscription of that name, or null if there is none; writes nothing, not even the schema. */
    public @Nullable SubscriptionRow find(Connection connection, String name) {
        List<SubscriptionRow> rows = run(
                "could not read pgapply.subscription",
                () -> CatalogSchema.exists(connection)
                        ? select(connection, SELECT + " WHERE name = ?", name)
                        : List.<SubscriptionRow>of());
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** The subscription that has this slot of this publisher, or null. */
    public @Nullable SubscriptionRow findBySlot(
            Connection connection, String publisherSystemIdentifier, String slotName) {
        List<SubscriptionRow> rows = run(
                "could not read pgapply.subscription",
                () -> CatalogSchema.exists(connection)
                        ? select(
                                connection,
                                SELECT + " WHERE publisher_system_identifier = ? AND slot_name = ?",
                                publisherSystemIdentifier,
                                slotName)
                        : List.<SubscriptionRow>of());
        return rows.isEmpty() ? null : rows.get(0);
    }

    /**
     * Creates the subscription's rows, or gives the row that another engine has created first. Commits.
     *
     * @throws ApplyException of kind STATE_MISMATCH if another subscription has the same publisher and slot
     */
    public SubscriptionRow create(Connection connection, String name, String slotName, PublisherIdentity publisher) {
        migrate(connection);
        return run(
                "could not create subscription \"" + name + "\"",
                () -> DurableTransaction.commit(connection, () -> {
                    if (find(connection, name) == null) {
                        new NewSubscription(random).insert(connection, name, slotName, publisher);
                    }
                    SubscriptionRow row = find(connection, name);
                    if (row != null) {
                        return row;
                    }
                    SubscriptionRow other = findBySlot(connection, publisher.systemIdentifier(), slotName);
                    if (other != null) {
                        throw slotTaken(name, other);
                    }
                    throw new ApplyException(
                            Kind.TRANSIENT,
                            "subscription \"" + name + "\" could not be created beside another new one");
                }));
    }

    private static ApplyException slotTaken(String name, SubscriptionRow other) {
        return ApplyException.withHint(
                Kind.STATE_MISMATCH,
                "subscription \"" + name + "\" cannot use slot \"" + other.slotName() + "\" of publisher "
                        + other.publisher().systemIdentifier() + ": subscription \"" + other.name() + "\" has it",
                "give it a slot_name of its own, or drop subscription \"" + other.name() + "\"");
    }

    /**
     * Takes the slot's step, the only way to another slot state. Commits.
     *
     * @param row as it was read after the takeover
     * @return the row as it is now
     */
    public SubscriptionRow transition(Connection connection, SubscriptionRow row, SlotState next) {
        requireMove(row, next);
        return run(
                "could not record slot state " + next.label(),
                () -> DurableTransaction.commit(connection, () -> {
                    if (next == SlotState.NONE || next == SlotState.CREATING) {
                        // The first copy begins again: nothing of an earlier try counts.
                        update(connection, "DELETE FROM pgapply.subscription_rel WHERE subid = ?", row.subid());
                        update(
                                connection,
                                "UPDATE pgapply.origin_status SET idle_lsn = '0/0' WHERE subid = ?",
                                row.subid());
                        update(
                                connection,
                                "UPDATE pgapply.subscription SET consistent_point = NULL WHERE subid = ?",
                                row.subid());
                    }
                    return setSlotState(connection, row, next);
                }));
    }

    /**
     * Ends {@link SlotState#CREATING} (or {@link SlotState#NONE} where the slot was there before): in one commit the consistent point becomes known and
     * the recorded idle position, and the tables are registered. Commits.
     *
     * @param consistentPoint where the slot begins: the exported snapshot's, or what a slot made by hand has confirmed
     * @param tables the published tables, with the state they begin in
     * @param publishing as what they are published there; empty where nobody will ask
     */
    public SubscriptionRow slotCreated(
            Connection connection,
            SubscriptionRow row,
            SlotState next,
            Lsn consistentPoint,
            Collection<SubscriptionTable> tables,
            Map<QualifiedName, Publishing> publishing) {
        requireMove(row, next);
        return run(
                "could not record consistent point " + consistentPoint,
                () -> DurableTransaction.commit(connection, () -> {
                    update(
                            connection,
                            "UPDATE pgapply.subscription SET consistent_point = ?::text::pg_lsn WHERE subid = ?",
                            consistentPoint.toString(),
                            row.subid());
                    update(
                            connection,
                            "UPDATE pgapply.origin_status SET idle_lsn = greatest(idle_lsn, ?::text::pg_lsn)"
                                    + " WHERE subid = ? AND apply_session = " + OriginStatus.LEADER_SESSION,
                            consistentPoint.toString(),
                            row.subid());
                    for (SubscriptionTable table : tables) {
                        TableCatalog.put(connection, row.subid(), table);
                    }
                    TableCatalog.putPublishing(connection, row.subid(), publishing);
                    return setSlotState(connection, row, next);
                }));
    }

    private static void requireMove(SubscriptionRow row, SlotState next) {
        if (!row.slotState().mayBecome(next)) {
            throw new ApplyException(
                    Kind.INTERNAL,
                    "subscription \"" + row.name() + "\" cannot go from slot state "
                            + row.slotState().label() + " to " + next.label());
        }
    }

    private static SubscriptionRow setSlotState(Connection connection, SubscriptionRow row, SlotState next)
            throws SQLException {
        update(connection, "UPDATE pgapply.subscription SET slot_state = ? WHERE subid = ?", next.label(), row.subid());
        return bySubid(connection, row.subid());
    }

    /** Records the publisher's timeline, once {@link SubscriptionIdentity} has accepted it. */
    public void setTimeline(Connection connection, int subid, int timeline) {
        run(
                "could not record the publisher's timeline",
                () -> update(
                        connection,
                        "UPDATE pgapply.subscription SET publisher_timeline = ? WHERE subid = ?",
                        timeline,
                        subid));
    }

    /** Records the state that two_phase is in from now on. Commits. */
    public void setTwoPhaseState(Connection connection, int subid, TwoPhaseState state) {
        run(
                "could not record the state of two_phase",
                () -> DurableTransaction.commit(
                        connection,
                        () -> update(
                                connection,
                                "UPDATE pgapply.subscription SET two_phase_state = ?::text::\"char\" WHERE subid = ?",
                                String.valueOf(state.code()),
                                subid)));
    }

    /** Disables the subscription, across restarts, until {@link #enable}. Commits. */
    public void disable(Connection connection, int subid, String reason) {
        setEnabled(connection, subid, false, reason);
    }

    /** Commits. */
    public void enable(Connection connection, int subid) {
        setEnabled(connection, subid, true, null);
    }

    private static void setEnabled(Connection connection, int subid, boolean enabled, @Nullable String reason) {
        run(
                "could not record that the subscription is " + (enabled ? "enabled" : "disabled"),
                () -> DurableTransaction.commit(
                        connection,
                        () -> update(
                                connection,
                                "UPDATE pgapply.subscription SET enabled = ?, disabled_reason = ? WHERE subid = ?",
                                enabled,
                                reason,
                                subid)));
    }

    /**
     * Removes the subscription's rows and its native origin. Called by who holds the subscription's lock and has taken it over: no session
     * uses the origin any more. Commits.
     */
    public void drop(Connection connection, int subid) {
        run("could not drop the subscription's rows", () -> {
            NativeOrigin.drop(connection, subid);
            return DurableTransaction.commit(connection, () -> {
                update(connection, "DELETE FROM pgapply.prepared_transaction WHERE subid = ?", subid);
                return update(connection, "DELETE FROM pgapply.subscription WHERE subid = ?", subid);
            });
        });
    }

    private static SubscriptionRow bySubid(Connection connection, int subid) throws SQLException {
        List<SubscriptionRow> rows = select(connection, SELECT + " WHERE subid = ?", subid);
        if (rows.isEmpty()) {
            throw new ApplyException(Kind.OWNERSHIP_LOST, "subscription id " + subid + " was dropped from the target");
        }
        return rows.get(0);
    }

    private static List<SubscriptionRow> select(Connection connection, String sql, Object... arguments)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, arguments);
                ResultSet row = statement.executeQuery()) {
            List<SubscriptionRow> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(new SubscriptionRow(
                        row.getInt(1),
                        row.getString(2),
                        row.getBoolean(3),
                        row.getString(4),
                        SlotState.of(row.getString(5)),
                        row.getString(6),
                        new SubscriptionRow.Publisher(row.getString(7), row.getInt(8), row.getString(9)),
                        new TargetIdentity(row.getString(10), row.getLong(11)),
                        TwoPhaseState.of(row.getString(12)),
                        lsn(row.getString(13)),
                        row.getObject(14, OffsetDateTime.class).toInstant()));
            }
            return rows;
        }
    }
}
