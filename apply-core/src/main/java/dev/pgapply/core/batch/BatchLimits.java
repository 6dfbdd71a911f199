package dev.pgapply.core.batch;

/** When a batch is full. An empty batch takes one change of any size. */
public record BatchLimits(int maxRows, long maxBytes) {
    public BatchLimits {
        if (maxRows < 1) {
            throw new IllegalArgumentException("batch.max_rows must be positive, was " + maxRows);
        }
        if (maxBytes < 1) {
            throw new IllegalArgumentException("batch.max_bytes must be positive, was " + maxBytes);
        }
    }
}
