/** The PostgreSQL dialect: connections, statements, batches and the kinds of its errors. */
@NullMarked
package dev.pgapply.worker.jdbc;

import org.jspecify.annotations.NullMarked;
