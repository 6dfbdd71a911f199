/** Where a remote transaction stands: its ends, and which of them are durable on the target. */
@NullMarked
package dev.pgapply.core.transaction;

import org.jspecify.annotations.NullMarked;
