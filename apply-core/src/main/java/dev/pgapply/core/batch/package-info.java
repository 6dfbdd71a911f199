/** Changes of consecutive transactions, collected by the leader apply worker and compacted to their net effect. */
@NullMarked
package dev.pgapply.core.batch;

import org.jspecify.annotations.NullMarked;
