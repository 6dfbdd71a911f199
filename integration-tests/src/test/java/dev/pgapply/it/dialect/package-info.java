/** The PostgreSQL dialect against real servers: what a publisher sends is applied by either path, without receiver or leader. */
@NullMarked
package dev.pgapply.it.dialect;

import org.jspecify.annotations.NullMarked;
