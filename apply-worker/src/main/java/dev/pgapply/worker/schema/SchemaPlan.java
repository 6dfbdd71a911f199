package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is to be run on the target, in order, and what cannot be made.
 *
 * @param steps each of them one transaction
 */
public record SchemaPlan(List<Step> steps, List<Problem> problems) {

    /**
     * A transaction that makes something whole.
     *
     * @param description for people: {@code table public.t}
     * @param tables those that are there after it, none for a step that makes something else
     */
    public record Step(String description, List<QualifiedName> tables, List<Statement> statements) {
        public Step {
            tables = List.copyOf(tables);
            statements = List.copyOf(statements);
        }
    }

    /** @param optional what there will not be if the target refuses it, for people; null: the step cannot do without */
    public record Statement(String sql, @Nullable String optional) {
        static Statement required(String sql) {
            return new Statement(sql, null);
        }
    }

    /**
     * Something that the target cannot have.
     *
     * @param fatal whether a table cannot be created for it; else the table lacks it
     */
    public record Problem(
            boolean fatal, String message, @Nullable String hint) {}

    public SchemaPlan {
        steps = List.copyOf(steps);
        problems = List.copyOf(problems);
    }

    /** The problems for which a table cannot be created. */
    public List<Problem> obstacles() {
        return problems.stream().filter(Problem::fatal).toList();
    }
}
