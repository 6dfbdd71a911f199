/** The schema pgapply in the target: what a subscription is, who owns it, which tables are copied. */
@NullMarked
package dev.pgapply.worker.catalog;

import org.jspecify.annotations.NullMarked;
