# A static binary on an empty root file system, run as nobody in particular.
# Games are kept in /data. The local room listens on all interfaces, so that the
# container needs HALFPOINT_OWNER_TOKEN; see docs/install.md. The address of the metrics is
# for the health check; with HALFPOINT_METRICS=0.0.0.0:9180 Prometheus can read them, too.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags goolm -trimpath -ldflags="-s -w" -o /out/halfpoint ./cmd/halfpoint \
 && go run ./internal/notices >/out/THIRD-PARTY-NOTICES.txt \
 && mkdir -p /out/data

FROM scratch
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/halfpoint /halfpoint
COPY --from=build /src/LICENSE /out/THIRD-PARTY-NOTICES.txt /
# Without these it could verify neither Discord nor a homeserver.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
USER 65532:65532
WORKDIR /data
ENV HALFPOINT_DATABASE=/data/halfpoint.db HALFPOINT_LISTEN=0.0.0.0:8080 HALFPOINT_METRICS=127.0.0.1:9180
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=2m CMD ["/halfpoint", "health"]
ENTRYPOINT ["/halfpoint"]
