/** Tests of what is asked of the publisher. */
@NullMarked
package dev.pgapply.worker.preflight;

import org.jspecify.annotations.NullMarked;
