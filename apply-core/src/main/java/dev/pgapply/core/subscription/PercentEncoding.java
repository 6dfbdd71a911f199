package dev.pgapply.core.subscription;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Percent-encoding as libpq has it (fe-connect.c, conninfo_uri_decode): a plus sign is a plus sign, %00 is refused. */
final class PercentEncoding {

    private static final String UNRESERVED = "-._~";

    private PercentEncoding() {}

    /** @throws IllegalArgumentException without the text, which may be a password */
    static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        int position = 0;
        while (position < text.length()) {
            int percent = text.indexOf('%', position);
            int end = percent < 0 ? text.length() : percent;
            bytes.writeBytes(text.substring(position, end).getBytes(StandardCharsets.UTF_8));
            position = end;
            if (percent >= 0) {
                bytes.write(hexByte(text, percent));
                position = percent + 3;
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("percent-encoded bytes that are not UTF-8", e);
        }
    }

    private static int hexByte(String text, int percent) {
        int high = percent + 1 < text.length() ? Character.digit(text.charAt(percent + 1), 16) : -1;
        int low = percent + 2 < text.length() ? Character.digit(text.charAt(percent + 2), 16) : -1;
        if (high < 0 || low < 0) {
            throw new IllegalArgumentException("a percent sign without two hexadecimal digits");
        }
        int value = high << 4 | low;
        if (value == 0) {
            throw new IllegalArgumentException("the forbidden value %00");
        }
        return value;
    }

    /** Encodes all but RFC 3986's unreserved characters. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder(text.length());
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (letter || (c >= '0' && c <= '9') || UNRESERVED.indexOf(c) >= 0) {
                encoded.append(c);
            } else {
                encoded.append(String.format("%%%02X", (int) c));
            }
        }
        return encoded.toString();
    }
}
