/** What the publisher's catalogs say, and its replication slots. */
@NullMarked
package dev.pgapply.worker.publisher;

import org.jspecify.annotations.NullMarked;
