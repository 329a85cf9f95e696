package discordtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
)

// SetEndpoint makes the double deliver interactions by signed POST to an
// address instead of the gateway, as Discord does once an application has an
// interactions endpoint. Like Discord it first checks that the endpoint
// answers a PING and refuses a signature that is wrong, by another key, over another
// time, or absent; what is wrong is returned and nothing changes.
func (s *Server) SetEndpoint(address string) error {
	ping, err := json.Marshal(object{"id": "1", "application_id": s.appID, "type": kindPing, "version": 1, "token": "ping"})
	if err != nil {
		return err
	}
	now := strconv.FormatInt(s.Now().Unix(), 10)
	answer, err := s.postTo(address, ping, now, sign(s.secret, now, ping))
	if err != nil {
		return err
	}
	var pong struct{ Type int }
	if answer.status != 200 || json.Unmarshal(answer.body, &pong) != nil || pong.Type != answerPong || answer.kind != "application/json" {
		return fmt.Errorf("PING was answered %d %s %s", answer.status, answer.kind, answer.body)
	}
	_, other, _ := ed25519.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	for name, signature := range map[string]string{
		"none":                  "",
		"no hex":                "zz",
		"another key's":         sign(other, now, ping),
		"one of another body":   sign(s.secret, now, append(ping, ' ')),
		"one of another moment": sign(s.secret, now+"0", ping),
	} {
		if answer, err = s.postTo(address, ping, now, signature); err != nil {
			return err
		}
		if answer.status != 401 {
			return fmt.Errorf("a PING whose signature is %s was answered %d, not 401", name, answer.status)
		}
	}
	s.locked(func() { s.endpoint = address })
	return nil
}

func sign(key ed25519.PrivateKey, timestamp string, body []byte) string {
	return hex.EncodeToString(ed25519.Sign(key, append([]byte(timestamp), body...)))
}

// posted is the answer to a POST.
type posted struct {
	status         int
	kind, boundary string
	body           []byte
}

func (s *Server) postTo(address string, body []byte, timestamp, signature string) (posted, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST", address, bytes.NewReader(body))
	if err != nil {
		return posted{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	request.Header.Set("X-Signature-Timestamp", timestamp)
	if signature != "" {
		request.Header.Set("X-Signature-Ed25519", signature)
	}
	response, err := s.poster.Do(request)
	if err != nil {
		return posted{}, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	kind, params, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return posted{response.StatusCode, kind, params["boundary"], answer}, err
}

// postInteraction delivers one interaction and takes the answer in its body, which
// is held to the rules of the callback route.
func (s *Server) postInteraction(i *interaction) {
	s.mu.Lock()
	body, err := json.Marshal(i.payload)
	address := s.endpoint
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	s.mu.Unlock()
	if err != nil {
		panic(err)
	}
	answer, err := s.postTo(address, body, timestamp, sign(s.secret, timestamp, body))
	s.locked(func() {
		if err != nil || answer.status == 202 || i.answered != 0 {
			return // the first response may come by REST
		}
		if answer.status != 200 {
			s.violation(false, "the endpoint answered %d %s", answer.status, answer.body)
			return
		}
		if s.now().Sub(i.created) > FirstResponse {
			return
		}
		r := &request{Request: &Request{Route: routeCallback}, route: s.spec.routes[routeCallback], asked: i, message: i.message}
		err := s.parse(r, answer.kind, answer.boundary, answer.body)
		if err == nil {
			err = s.respond(i, r.object(), r.files)
		}
		var refused *apiError
		if errors.As(err, &refused) {
			s.violation(false, "the endpoint's answer: %v %v", refused, refused.fields)
		}
	})
}
