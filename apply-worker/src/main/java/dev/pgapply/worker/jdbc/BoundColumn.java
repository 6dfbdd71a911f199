package dev.pgapply.worker.jdbc;

import dev.pgapply.core.Oid;
import dev.pgapply.core.relation.TargetColumn;
import dev.pgapply.core.relation.TargetColumn.IdentityKind;

/**
 * A remote column with the local column that takes its values.
 *
 * @param remote the column's number in the publisher's tuples
 * @param remoteType the type's oid on the publisher
 * @param facts of the local column's type
 */
record BoundColumn(int remote, Oid remoteType, TargetColumn local, TypeFacts facts) {

    String quoted() {
        return Identifiers.quote(local.name());
    }

    /** Whether SQL refuses to set the column by UPDATE (rewriteHandler.c, rewriteTargetListIU). */
    boolean alwaysIdentity() {
        return local.identity() == IdentityKind.ALWAYS;
    }

    /**
     * The type that a value in binary form is of: the publisher's, where its oid means the same on every server, else the local one
     * of the same name, whose receive function then decides.
     */
    Oid binaryType() {
        return remoteType.isBuiltIn() ? remoteType : new Oid(facts.baseOid());
    }
}
