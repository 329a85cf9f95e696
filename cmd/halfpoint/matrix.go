package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"log/slog"
	"time"

	"go.mau.fi/util/dbutil"

	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/render"
)

// matrixConfig returns the settings of Matrix.
func matrixConfig(s bot.Settings, db *dbutil.Database, log *slog.Logger) matrix.Config {
	m := s.Matrix
	c := matrix.Config{
		Homeserver: m.Homeserver, User: m.User, Password: m.Password, Token: m.Token, RecoveryKey: m.RecoveryKey,
		RecoveryFile: beside(s.Database, ".recovery-key"), LoginFile: beside(s.Database, ".matrix-login"),
		Allow: m.Allow, Person: s.Limits.Person, Room: s.Limits.Channel, DB: db, Log: log,
	}
	if m.Unlimited {
		c.Rate, c.Burst = matrix.Unlimited, matrix.Unlimited
	}
	return c
}

const maxAvatar = 8 << 20 // bytes

// profile returns how people see the bot's account.
func profile(m bot.Matrix) (p matrix.Profile, err error) {
	p = matrix.Profile{Name: cmp.Or(m.Name, "Halfpoint"), NameChosen: m.Name != "", AvatarChosen: m.Avatar != ""}
	if p.AvatarChosen {
		if p.Avatar, err = bot.ReadFile(m.Avatar, maxAvatar); err != nil {
			return p, fmt.Errorf("matrix.avatar: %w", plain(m.Avatar, err))
		}
		if len(p.Avatar) > maxAvatar {
			return p, fmt.Errorf("matrix.avatar: %s: larger than %d MiB", m.Avatar, maxAvatar>>20)
		}
		return p, nil
	}
	p.Avatar, err = icon()
	return p, err
}

// icon draws a board without its panel, which is a square at the left.
func icon() ([]byte, error) {
	var whole, out bytes.Buffer
	if err := render.PNG(&whole, testBoard(), render.Options{Size: "small", Coordinates: "none"}); err != nil {
		return nil, err
	}
	picture, err := png.Decode(&whole)
	if err != nil {
		return nil, err
	}
	side := picture.Bounds().Dy()
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(square, square.Bounds(), picture, image.Point{}, draw.Src)
	err = png.Encode(&out, square)
	return out.Bytes(), err
}

// beside returns the path of a file that is named after the database, since a folder may
// hold several; none for a database in memory. For one on PostgreSQL it is in the working
// directory.
func beside(database, ending string) string {
	switch {
	case database == store.Memory:
		return ""
	case store.IsPostgres(database): // it is in no folder
		return "halfpoint" + ending
	}
	return database + ending
}

// adapterDB tells the adapter of Matrix which SQL the database understands.
func adapterDB(raw *sql.DB, database string) (*dbutil.Database, error) {
	if store.IsPostgres(database) {
		return dbutil.NewWithDB(raw, "postgres")
	}
	return dbutil.NewWithDB(raw, "sqlite3")
}

// matrixAdapters returns the adapter of Matrix, none if it is not configured, and a
// function that closes what belongs to it. The adapter uses the account while the bot holds it by
// the keeper; without one it always does.
func matrixAdapters(e *env, s bot.Settings, st *store.Store, b *bot.Bot, k *units.Keeper, log *slog.Logger) ([]bot.Adapter, func() error, error) {
	nothing := func() error { return nil }
	for _, key := range s.Former {
		log.Warn("setting no longer has an effect, remove it", "file", e.file, "key", key)
	}
	if s.Matrix.Homeserver == "" {
		return nil, nothing, nil
	}
	var lease store.Lease
	if k != nil {
		lease = func() (string, int64, bool) { return k.Lease(matrix.Name) }
	}
	raw, err := st.OpenAdapterDB(matrix.Name, lease)
	if err != nil {
		return nil, nothing, err
	}
	db, err := adapterDB(raw, s.Database)
	if err != nil {
		return nil, raw.Close, err
	}
	c := matrixConfig(s, db, log)
	if k != nil {
		c.Hold, c.Lease = b.Hold, lease
	}
	if c.Profile, err = profile(s.Matrix); err != nil {
		return nil, raw.Close, err
	}
	a, err := matrix.New(c)
	if err != nil {
		return nil, raw.Close, s.Mistake(err)
	}
	return []bot.Adapter{a}, raw.Close, nil
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
	db, err := adapterDB(raw, s.Database)
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
