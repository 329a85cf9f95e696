package discordtest_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// An endpoint takes interactions by POST, with a fault where it is told so.
type endpoint struct {
	t      *testing.T
	key    string
	fault  string
	answer func(object) (status int, kind, body string)
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key, _ := hex.DecodeString(e.key)
	signature, err := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
	signed := append([]byte(r.Header.Get("X-Signature-Timestamp")), body...)
	if e.fault != "trusting" && (err != nil || len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, signed, signature)) {
		w.WriteHeader(401)
		return
	}
	var got object
	json.Unmarshal(body, &got)
	if got["type"] == 1.0 {
		switch e.fault {
		case "no pong":
			w.WriteHeader(204)
		case "as text":
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, `{"type":1}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"type":1}`)
		}
		return
	}
	status, kind, text := e.answer(got)
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(status)
	io.WriteString(w, text)
}
