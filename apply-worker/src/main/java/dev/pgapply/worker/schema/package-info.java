/**
 * What a published table is made of, and the DDL that makes it on a target: pure, without a connection. {@code publisher} reads the
 * definitions, {@code tablesync} runs the statements.
 */
@NullMarked
package dev.pgapply.worker.schema;

import org.jspecify.annotations.NullMarked;
