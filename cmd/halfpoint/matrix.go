package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/util/dbutil"

	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// matrixConfig returns the settings of Matrix.
func matrixConfig(s bot.Settings, db *dbutil.Database, log *slog.Logger) matrix.Config {
	m := s.Matrix
	return matrix.Config{
		Homeserver: m.Homeserver, User: m.User, Password: m.Password, Token: m.Token, RecoveryKey: m.RecoveryKey, RecoveryFile: recoveryFile(s.Database),
		Allow: m.Allow, Owners: m.Owners, Person: s.Limits.Person, Room: s.Limits.Channel, DB: db, Log: log,
	}
}

// recoveryFile returns where the bot keeps the recovery key of its account on Matrix: beside
// the database, of which there may be several in a folder.
func recoveryFile(database string) string {
	if database == store.Memory {
		return ""
	}
	return database + ".recovery-key"
}

// matrixAdapters returns the adapter of Matrix, none if it is not configured, and a
// function that closes what belongs to it.
func matrixAdapters(e *env, s bot.Settings, st *store.Store, log *slog.Logger) ([]bot.Adapter, func() error, error) {
	nothing := func() error { return nil }
	for _, key := range s.Former {
		log.Warn("setting no longer has an effect, remove it", "file", e.file, "key", key)
	}
	if s.Matrix.Homeserver == "" {
		return nil, nothing, nil
	}
	raw, err := st.OpenAdapterDB()
	if err != nil {
		return nil, nothing, err
	}
	db, err := dbutil.NewWithDB(raw, "sqlite3")
	if err != nil {
		return nil, raw.Close, err
	}
	c := matrixConfig(s, db, log)
	a, err := matrix.New(c)
	if err != nil {
		return nil, raw.Close, s.Mistake(err)
	}
	closed, err := control(s.Database, a)
	if err != nil {
		log.Warn("halfpoint verify will not work", "error", err)
	}
	return []bot.Adapter{a}, func() error { return errors.Join(closed(), raw.Close()) }, nil
}

// checkMatrix tries the settings on Matrix and prints the findings.
func checkMatrix(e *env, s bot.Settings, room string) error {
	if s.Matrix.Homeserver == "" {
		fmt.Fprintln(e.out, "matrix: off, matrix.homeserver is not set")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	raw, err := store.Look(s.Database) // it may be in use
	if err != nil {
		return err
	}
	defer raw.Close()
	db, err := dbutil.NewWithDB(raw, "sqlite3")
	if err != nil {
		return err
	}
	found, err := matrix.Check(ctx, matrixConfig(s, db, slog.New(slog.DiscardHandler)), room, testBoard())
	for _, line := range found {
		fmt.Fprintln(e.out, "matrix:", line)
	}
	if err != nil {
		return s.Mistake(err)
	}
	return nil
}
