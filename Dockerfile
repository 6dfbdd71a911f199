# Build the jar first: mvn -q -B -Dquick verify
FROM eclipse-temurin:21-jre

RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/pgapply pgapply
COPY apply-launcher/target/pgapply.jar /opt/pgapply/pgapply.jar

USER pgapply
VOLUME /var/lib/pgapply
EXPOSE 8080

# The engine listens on loopback unless the configuration says otherwise; PGAPPLY_URL and PGAPPLY_TOKEN reach this check, too.
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s \
    CMD ["java", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-jar", "/opt/pgapply/pgapply.jar", "status", "--json"]

# The heap follows the container's memory limit; 256 MB are enough for a subscription with the default budgets.
ENTRYPOINT ["java", "-XX:MaxRAMPercentage=60", "-XX:+ExitOnOutOfMemoryError", "-jar", "/opt/pgapply/pgapply.jar"]
CMD ["run", "-c", "/etc/pgapply/pgapply.yaml"]
