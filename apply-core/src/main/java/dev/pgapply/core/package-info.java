/**
 * Values that every part of pgapply speaks in: positions, transaction ids, object ids, names, and the one exception. Nothing here
 * holds state, starts a thread or knows a connection.
 */
@NullMarked
package dev.pgapply.core;

import org.jspecify.annotations.NullMarked;
