package dev.pgapply.worker.schema;

import dev.pgapply.core.QualifiedName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which of the objects that a definition needs the target has or will have. Immutable. */
final class Availability {

    private final TargetInventory target;
    private final Map<String, TypeDefinition> creatableTypes = new HashMap<>();
    private final Set<QualifiedName> relations = new HashSet<>();

    Availability(PublisherSchema schema, TargetInventory target) {
        this.target = target;
        for (TypeDefinition type : schema.types()) {
            if (type.isCreatable()) {
                creatableTypes.put(type.identity().key(), type);
            }
        }
        relations.addAll(target.relations().keySet());
        schema.sequences().forEach(sequence -> relations.add(sequence.name()));
        schema.tables().forEach(table -> relations.add(table.name()));
    }

    /** Whether it is on the target or will be. */
    boolean hasRelation(QualifiedName name) {
        return relations.contains(name);
    }

    boolean has(ObjectIdentity object) {
        return target.objects().contains(object.key());
    }

    /** The first that the target lacks, down to what a type would need in its turn; null if nothing is missing. */
    @Nullable
    ObjectIdentity missing(List<ObjectIdentity> needs) {
        return missing(needs, new HashSet<>());
    }

    private @Nullable ObjectIdentity missing(List<ObjectIdentity> needs, Set<String> asked) {
        for (ObjectIdentity need : needs) {
            boolean present = need.relation() == null ? has(need) : relations.contains(need.relation());
            if (present || !asked.add(need.key())) {
                continue;
            }
            TypeDefinition type = creatableTypes.get(need.key());
            ObjectIdentity missing = type == null ? need : missing(type.needs(), asked);
            if (missing != null) {
                return missing;
            }
        }
        return null;
    }
}
