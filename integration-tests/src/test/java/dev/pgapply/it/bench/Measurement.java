package dev.pgapply.it.bench;

import java.util.Arrays;
import java.util.List;

/**
 * One contestant's round on one workload.
 *
 * @param seconds from the walsender's start until the slot has confirmed the backlog
 * @param publisherCpu CPU seconds of all the publisher's processes meanwhile
 * @param targetCpu CPU seconds of all the target's processes meanwhile
 * @param ownCpu CPU seconds of the contestant's own process since its start
 */
record Measurement(double seconds, double publisherCpu, double targetCpu, double ownCpu) {

    static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The distance of the fastest and the slowest round, as a part of the median. */
    static double spread(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted.length == 0
                ? 0
                : (sorted[sorted.length - 1] - sorted[0])
                        / median(Arrays.stream(sorted).boxed().toList());
    }
}
