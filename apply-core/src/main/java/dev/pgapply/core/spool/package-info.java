/** Streamed transactions in files until they end: the format, its writer and reader, and the directory that they share. */
@NullMarked
package dev.pgapply.core.spool;

import org.jspecify.annotations.NullMarked;
