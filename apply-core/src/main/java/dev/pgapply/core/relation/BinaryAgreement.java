package dev.pgapply.core.relation;

import dev.pgapply.core.Oid;
import dev.pgapply.core.pgoutput.Relation;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a value in a type's binary form (typsend) means on the target what it means on the publisher. PostgreSQL gives the bytes to the
 * local type's receive function without a cast (worker.c, slot_store_data), so that another type refuses them, or silently reads another
 * value. Stateless.
 */
public final class BinaryAgreement {

    /**
     * Built-in types whose bytes are not the whole value: reg* are oids, which another server gives to other objects; an empty tsquery that
     * was sent cannot be received (tsquery.c, tsqueryrecv); and each one's array.
     */
    private static final Set<Integer> OF_ONE_SERVER = Set.of(
            24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191, 3615, 1008, 2207, 2208, 2209, 2210, 2211,
            3735, 3770, 4090, 4097, 4192, 3645);

    /** name, text, json, xml, bpchar and varchar: their binary form is their text. */
    private static final Set<Integer> TEXT = Set.of(19, 25, 114, 142, 1042, 1043);

    private BinaryAgreement() {}

    /**
     * Whether the bytes of a value of the publisher's type are the same value of the target's type. An enum's bytes are its label; those of
     * a domain or a composite type are no label, which the server would notice.
     *
     * @param localEnum whether the target's type is an enum
     */
    public static boolean agrees(Oid remote, Oid local, boolean localEnum) {
        if (!remote.isBuiltIn()) {
            return localEnum;
        }
        return remote.equals(local) && !OF_ONE_SERVER.contains(remote.value());
    }

    /** Whether the target's receive function would refuse or misread the bytes: both types are built in, and other ones. */
    public static boolean isRefused(Oid remote, TargetColumn local) {
        boolean text =
                TEXT.contains(remote.value()) && TEXT.contains(local.type().value());
        return remote.isBuiltIn() && local.type().isBuiltIn() && !remote.equals(local.type()) && !text;
    }

    /** The first applied column of the relation that does not agree, or null. */
    public static @Nullable TargetColumn disagreeing(RelationMapEntry entry) {
        return find(entry, false);
    }

    /** The first applied column of the relation that would refuse its values, or null. */
    public static @Nullable TargetColumn refusing(RelationMapEntry entry) {
        return find(entry, true);
    }

    private static @Nullable TargetColumn find(RelationMapEntry entry, boolean refusedOnly) {
        for (int remote : entry.mappedColumns()) {
            TargetColumn local = entry.localColumn(remote);
            Relation.Column column = entry.remote().columns().get(remote);
            if (local != null
                    && (refusedOnly
                            ? isRefused(column.type(), local)
                            : !agrees(column.type(), local.type(), local.enumType()))) {
                return local;
            }
        }
        return null;
    }
}
