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
// answers a PING and refuses a bad signature; what is wrong is returned and
// nothing changes. An empty address goes back to the gateway.
func (s *Server) SetEndpoint(address string) error {
	if address != "" {
		if err := s.Probe(address); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint = address
	return nil
}

// Probe asks an endpoint what Discord asks from time to time: a PING, and the
// same with a signature that is wrong, by another key, over another time, or
// absent.
func (s *Server) Probe(address string) error {
	ping, err := json.Marshal(object{"id": "1", "application_id": s.appID, "type": kindPing, "version": 1, "token": "ping"})
	if err != nil {
		return err
	}
	now := strconv.FormatInt(s.Now().Unix(), 10)
	status, answer, err := s.postTo(address, ping, now, s.sign(s.secret, now, ping))
	if err != nil {
		return err
	}
	var pong struct{ Type int }
	if status != 200 || json.Unmarshal(answer.body, &pong) != nil || pong.Type != answerPong || answer.kind != "application/json" {
		return fmt.Errorf("PING was answered %d %s %s", status, answer.kind, answer.body)
	}
	_, other, _ := ed25519.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	for name, signature := range map[string]string{
		"none":                  "",
		"no hex":                "zz",
		"another key's":         s.sign(other, now, ping),
		"one of another body":   s.sign(s.secret, now, append(ping, ' ')),
		"one of another moment": s.sign(s.secret, now+"0", ping),
	} {
		if status, _, err = s.postTo(address, ping, now, signature); err != nil {
			return err
		}
		if status != 401 {
			return fmt.Errorf("a PING whose signature is %s was answered %d, not 401", name, status)
		}
	}
	return nil
}

func (s *Server) sign(key ed25519.PrivateKey, timestamp string, body []byte) string {
	return hex.EncodeToString(ed25519.Sign(key, append([]byte(timestamp), body...)))
}

// Sign is the signature (X-Signature-Ed25519) of a body at a time
// (X-Signature-Timestamp, in Unix seconds), for tests that post themselves.
func (s *Server) Sign(timestamp string, body []byte) string { return s.sign(s.secret, timestamp, body) }

// posted is the answer to a POST.
type posted struct {
	kind     string
	boundary string
	body     []byte
}

func (s *Server) postTo(address string, body []byte, timestamp, signature string) (int, posted, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.o.Patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "POST", address, bytes.NewReader(body))
	if err != nil {
		return 0, posted{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	request.Header.Set("X-Signature-Timestamp", timestamp)
	if signature != "" {
		request.Header.Set("X-Signature-Ed25519", signature)
	}
	response, err := s.poster.Do(request)
	if err != nil {
		return 0, posted{}, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxRequest))
	kind, params, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return response.StatusCode, posted{kind, params["boundary"], answer}, err
}

// postInteraction delivers one interaction and takes the answer in its body.
func (s *Server) postInteraction(i *interaction) {
	s.mu.Lock()
	body, err := json.Marshal(i.payload)
	address := s.endpoint
	timestamp := strconv.FormatInt(s.now().Unix(), 10)
	s.mu.Unlock()
	if err != nil {
		panic(err)
	}
	status, answer, err := s.postTo(address, body, timestamp, s.Sign(timestamp, body))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || status == 202 || i.answered != 0 {
		return // the first response may come by REST
	}
	if status != 200 {
		s.violation(false, "the endpoint answered %d %s", status, answer.body)
		return
	}
	if s.now().Sub(i.created) > FirstResponse {
		return
	}
	if err := s.takePosted(i, answer); err != nil {
		var refused *apiError
		if errors.As(err, &refused) {
			s.violation(false, "the endpoint's answer: %v %v", refused, refused.fields)
		}
	}
}

// takePosted holds the body of an endpoint's answer to the rules of the
// callback route.
func (s *Server) takePosted(i *interaction, answer posted) error {
	r := &request{Request: &Request{Route: routeCallback}, params: map[string]string{"interaction_token": i.token}}
	text := answer.body
	var err error
	if answer.kind == "multipart/form-data" {
		if text, err = r.readMultipart(text, answer.boundary); err != nil {
			return err
		}
	} else if answer.kind != "application/json" {
		return errJSON
	}
	if r.body, err = parseJSON(text); err != nil {
		return errJSON
	}
	r.body = normal(r.body)
	r.route, _ = s.spec.find("POST", "/interactions/1/x/callback")
	if fields := s.requestSpec.checkValue(s.narrow(r, r.route.pointer+"/requestBody/content/application~1json/schema"), withoutNulls(r.body)); len(fields) > 0 {
		return invalid(fields...)
	}
	if fields := s.checkOwn(r); len(fields) > 0 {
		return invalid(fields...)
	}
	return s.respond(i, r.object(), r.files)
}
