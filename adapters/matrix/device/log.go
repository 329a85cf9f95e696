package device

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/rs/zerolog"
)

// bridge writes mautrix's log lines to slog, without the bodies of requests:
// they hold what people say and, with an environment variable of mautrix's,
// passwords.
type bridge struct{ log *slog.Logger }

var levels = map[zerolog.Level]slog.Level{
	zerolog.DebugLevel: slog.LevelDebug,
	zerolog.InfoLevel:  slog.LevelDebug, // what is news to the library is not to the owner
	zerolog.WarnLevel:  slog.LevelWarn,
	zerolog.ErrorLevel: slog.LevelError,
	zerolog.FatalLevel: slog.LevelError,
	zerolog.PanicLevel: slog.LevelError,
	zerolog.NoLevel:    slog.LevelDebug,
}

func (b bridge) Write(p []byte) (int, error) { return b.WriteLevel(zerolog.NoLevel, p) }

func (b bridge) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	to, ok := levels[level]
	if !ok || !b.log.Enabled(context.Background(), to) {
		return len(p), nil
	}
	var fields map[string]any
	if err := json.Unmarshal(p, &fields); err != nil {
		return len(p), nil //nolint:nilerr // a log line that is not one
	}
	message, _ := fields[zerolog.MessageFieldName].(string)
	if message == "Request canceled" { // by the bot, which is stopping
		to = slog.LevelDebug
		if !b.log.Enabled(context.Background(), to) {
			return len(p), nil
		}
	}
	attrs := make([]slog.Attr, 0, len(fields))
	for key, value := range fields {
		switch key {
		case zerolog.MessageFieldName, zerolog.LevelFieldName, zerolog.TimestampFieldName, "req_body":
		default:
			attrs = append(attrs, slog.Any(key, value))
		}
	}
	b.log.LogAttrs(context.Background(), to, "mautrix: "+message, attrs...)
	return len(p), nil
}

func zero(log *slog.Logger) zerolog.Logger {
	level := zerolog.WarnLevel
	if log.Enabled(context.Background(), slog.LevelDebug) {
		level = zerolog.DebugLevel
	}
	return zerolog.New(bridge{log}).Level(level)
}
