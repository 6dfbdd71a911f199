package dev.pgapply.it.support;

import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The zonky binaries of one major version, read from {@code target/postgres-binaries/<version>.jar}. EmbeddedPostgres unpacks them
 * below java.io.tmpdir into a directory named by their content, once for all runs. A value: equal by version, so that they are also
 * hashed only once a JVM.
 */
record PostgresBinaries(int version) implements PgBinaryResolver {

    @Override
    public InputStream getPgBinary(String system, String machineHardware) throws IOException {
        Path jar = RunOptions.binaries().resolve(version + ".jar");
        try (ZipInputStream entries = new ZipInputStream(Files.newInputStream(jar))) {
            for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
                if (entry.getName().endsWith(".txz")) {
                    return new ByteArrayInputStream(entries.readAllBytes());
                }
            }
        }
        throw new IOException("no .txz in \"" + jar + "\"");
    }
}
