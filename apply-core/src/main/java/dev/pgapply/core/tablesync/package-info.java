/** Where the copy of each published table stands, and which changes it takes because of that. */
@NullMarked
package dev.pgapply.core.tablesync;

import org.jspecify.annotations.NullMarked;
