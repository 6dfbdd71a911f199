/** The leader apply worker of a subscription: from decoded messages to sealed batches, and the life of the subscription around it. */
@NullMarked
package dev.pgapply.worker.leader;

import org.jspecify.annotations.NullMarked;
