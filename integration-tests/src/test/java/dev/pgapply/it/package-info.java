/** Tests against real servers. */
@NullMarked
package dev.pgapply.it;

import org.jspecify.annotations.NullMarked;
