/** The state in the target: catalog, ownership and fence, progress that commits with the rows, the native origin beside it. */
@NullMarked
package dev.pgapply.it.state;

import org.jspecify.annotations.NullMarked;
