package dev.pgapply.core.relation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which local column takes each remote column (tupconvert's AttrMap, matched by name). Local columns that no remote column maps to
 * keep their default on INSERT and their value on UPDATE.
 */
public final class AttributeMap {

    private final int[] localIndexes;
    private final List<Integer> mapped;

    /** @param localIndexes for each remote column the index in {@code TargetTable.columns()}, or -1 for one not applied */
    public AttributeMap(int[] localIndexes) {
        this.localIndexes = localIndexes.clone();
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < localIndexes.length; i++) {
            if (localIndexes[i] >= 0) {
                numbers.add(i);
            }
        }
        this.mapped = List.copyOf(numbers);
    }

    /** The index in {@code TargetTable.columns()}, or -1 if the remote column is not applied. */
    public int localIndex(int remoteColumn) {
        return localIndexes[remoteColumn];
    }

    /** The remote columns that are applied, ascending. */
    public List<Integer> mapped() {
        return mapped;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof AttributeMap map && Arrays.equals(localIndexes, map.localIndexes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(localIndexes);
    }

    @Override
    public String toString() {
        return Arrays.toString(localIndexes);
    }
}
