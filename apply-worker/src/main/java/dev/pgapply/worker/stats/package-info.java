/** What a subscription shows of itself: status, positions, counters. */
@NullMarked
package dev.pgapply.worker.stats;

import org.jspecify.annotations.NullMarked;
