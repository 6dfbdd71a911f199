package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import dev.pgapply.worker.jdbc.Identifiers;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A type of the publisher's users that a column needs. What it is made of is SQL text with qualified names.
 *
 * @param identity as pg_identify_object names it
 * @param needs further types, collations and functions
 */
public record TypeDefinition(QualifiedName name, ObjectIdentity identity, Shape shape, List<ObjectIdentity> needs) {

    /** What kind of type it is, and of what. */
    public sealed interface Shape {}

    public record Enumeration(List<String> labels) implements Shape {
        public Enumeration {
            labels = List.copyOf(labels);
        }
    }

    /** @param constraints by name: CHECK conditions as pg_get_constraintdef writes them */
    public record Domain(
            String baseType,
            @Nullable String collation,
            @Nullable String defaultExpression,
            boolean notNull,
            List<NamedDefinition> constraints)
            implements Shape {
        public Domain {
            constraints = List.copyOf(constraints);
        }
    }

    /** @param attributes by name: type and collation */
    public record Composite(List<NamedDefinition> attributes) implements Shape {
        public Composite {
            attributes = List.copyOf(attributes);
        }
    }

    /** @param options what stands between the brackets of CREATE TYPE … AS RANGE */
    public record Range(List<String> options) implements Shape {
        public Range {
            options = List.copyOf(options);
        }
    }

    /**
     * One that no statement of pgapply can make.
     *
     * @param what for people: {@code base type}, {@code row type of a table}
     */
    public record Opaque(String what) implements Shape {}

    /** A name and the SQL text behind it. */
    public record NamedDefinition(String name, String definition) {}

    public TypeDefinition {
        needs = List.copyOf(needs);
    }

    boolean isCreatable() {
        return !(shape instanceof Opaque) && identity.extension() == null;
    }

    String createStatement() {
        String quoted = Identifiers.quote(name);
        if (shape instanceof Enumeration enumeration) {
            return "CREATE TYPE " + quoted + " AS ENUM ("
                    + enumeration.labels().stream().map(Identifiers::literal).collect(Collectors.joining(", ")) + ")";
        }
        if (shape instanceof Domain domain) {
            return domain(quoted, domain);
        }
        if (shape instanceof Composite composite) {
            return "CREATE TYPE " + quoted + " AS ("
                    + composite.attributes().stream()
                            .map(attribute -> Identifiers.quote(attribute.name()) + " " + attribute.definition())
                            .collect(Collectors.joining(", "))
                    + ")";
        }
        if (shape instanceof Range range) {
            return "CREATE TYPE " + quoted + " AS RANGE (" + String.join(", ", range.options()) + ")";
        }
        throw new IllegalStateException("no statement makes " + identity);
    }

    private static String domain(String quoted, Domain domain) {
        StringBuilder sql = new StringBuilder("CREATE DOMAIN " + quoted + " AS " + domain.baseType());
        if (domain.collation() != null) {
            sql.append(" COLLATE ").append(domain.collation());
        }
        if (domain.defaultExpression() != null) {
            sql.append(" DEFAULT ").append(domain.defaultExpression());
        }
        if (domain.notNull()) {
            sql.append(" NOT NULL");
        }
        for (NamedDefinition constraint : domain.constraints()) {
            sql.append(" CONSTRAINT ")
                    .append(Identifiers.quote(constraint.name()))
                    .append(' ')
                    .append(constraint.definition());
        }
        return sql.toString();
    }
}
