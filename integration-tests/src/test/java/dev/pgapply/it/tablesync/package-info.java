/** The first start against real servers: what is checked, copied, and left after a crash or a stop. */
@NullMarked
package dev.pgapply.it.tablesync;

import org.jspecify.annotations.NullMarked;
