/** The publisher's messages: one record a message and the decoder that makes them. Bytes in, values out. */
@NullMarked
package dev.pgapply.core.pgoutput;

import org.jspecify.annotations.NullMarked;
