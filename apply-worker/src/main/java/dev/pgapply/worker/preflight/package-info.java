/** What must be so before a subscription starts: findings that check and the start share. */
@NullMarked
package dev.pgapply.worker.preflight;

import org.jspecify.annotations.NullMarked;
