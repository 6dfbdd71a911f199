package dev.pgapply.core.tablesync;

import dev.pgapply.core.Oid;
import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/**
 * As what a table is published: the publisher's oid of it, and why it is. Two of different times tell whether the table's changes can have been
 * published without a gap between them: each time a table is added to a publication its membership is a new row of the publisher's catalog.
 *
 * @param memberships each reason, by the oid of its row in pg_publication_rel, pg_publication_namespace or (for all tables) pg_publication
 */
public record Publishing(Oid relation, Set<String> memberships) {

    public Publishing {
        memberships = Collections.unmodifiableSet(new TreeSet<>(memberships));
    }

    /**
     * @param text what {@link #toString} gives: {@code 16385:r16390,r16391}
     * @throws IllegalArgumentException if it is something else
     */
    public static Publishing parse(String text) {
        String[] parts = text.split(":", -1);
        if (parts.length != 2) {
            throw new IllegalArgumentException("\"" + text + "\" does not say as what a table is published");
        }
        Set<String> memberships = new TreeSet<>(Arrays.asList(parts[1].split(",")));
        memberships.remove("");
        return new Publishing(new Oid(Integer.parseUnsignedInt(parts[0])), memberships);
    }

    /** Whether a table that is published so now has been published all the time since it was published as that. */
    public boolean isContinuationOf(Publishing earlier) {
        return relation.equals(earlier.relation) && !Collections.disjoint(memberships, earlier.memberships);
    }

    @Override
    public String toString() {
        return relation + ":" + String.join(",", memberships);
    }
}
