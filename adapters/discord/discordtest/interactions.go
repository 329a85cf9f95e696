package discordtest

import (
	"slices"
	"strings"
	"time"
)

// Documented times of an interaction.
const (
	FirstResponse = 3 * time.Second  // for the first response
	TokenLife     = 15 * time.Minute // for everything after it
	maxFollowUps  = 5                // where the app is installed for the user only
)

// Interaction types.
const (
	kindPing         = 1
	kindCommand      = 2
	kindComponent    = 3
	kindAutocomplete = 4
	kindModal        = 5
)

// Callback types.
const (
	answerPong      = 1
	answerMessage   = 4
	answerDefer     = 5
	answerDeferEdit = 6
	answerUpdate    = 7
	answerChoices   = 8
	answerModal     = 9
)

// An interaction and what became of it.
type interaction struct {
	id, token string
	kind      int
	channel   *channel
	person    *Person
	message   *message     // whose component was used
	opener    *interaction // that opened the modal
	command   object
	name      string // of the command
	label     string // what the person did, for the transcript
	owners    object
	userOnly  bool // installed for the user alone: at most five follow-ups
	hidden    bool // what answers it is shown to the person alone
	created   time.Time
	payload   object

	answered  int // the callback type, 0 when there was none
	at        time.Time
	original  *message
	removed   bool // the original was deleted
	followUps []*message
	choices   []object
	modal     object
	refused   error // by the client, before it was sent
	said      bool  // in the transcript
	failed    bool  // the person was told so
	editsThen int   // of the component's message, when it was used
}

func (i *interaction) followUp(id string) *message {
	for _, m := range i.followUps {
		if m.id == id {
			return m
		}
	}
	if i.original != nil && i.original.id == id {
		return i.original
	}
	return nil
}

// mayAnswer are the callbacks that a kind of interaction takes.
func (i *interaction) mayAnswer(kind int) bool {
	switch i.kind {
	case kindCommand:
		return slices.Contains([]int{answerMessage, answerDefer, answerModal}, kind)
	case kindComponent:
		return slices.Contains([]int{answerMessage, answerDefer, answerDeferEdit, answerUpdate, answerModal}, kind)
	case kindAutocomplete:
		return kind == answerChoices
	case kindModal:
		return kind == answerMessage || kind == answerDefer ||
			i.message != nil && (kind == answerDeferEdit || kind == answerUpdate)
	}
	return false
}

func callback(s *Server, r *request) (reply, error) {
	i := s.interactions[r.params["interaction_id"]]
	if i == nil || i.token != r.params["interaction_token"] {
		return reply{}, errInteraction
	}
	if i.answered != 0 {
		return reply{}, errAcknowledged
	}
	if s.now().Sub(i.created) > FirstResponse {
		return reply{}, errInteraction
	}
	if err := s.respond(i, r.object(), r.files); err != nil {
		return reply{}, err
	}
	if r.query.Get("with_response") != "true" {
		return reply{status: 204}, nil
	}
	return ok(i.callbackJSON(s))
}

// callbackJSON is what with_response brings.
func (i *interaction) callbackJSON(s *Server) object {
	about := object{"id": i.id, "type": i.kind}
	out := object{"interaction": about}
	if i.original != nil {
		about["response_message_id"] = i.original.id
		about["response_message_loading"] = i.original.flags&flagLoading != 0
		about["response_message_ephemeral"] = i.original.only != nil
		if i.answered == answerMessage || i.answered == answerUpdate {
			out["resource"] = object{"type": i.answered, "message": i.original.json(s)}
		}
	}
	return out
}

// respond takes the first response, from the callback route or from the body
// of the answer to a POST. What is wrong with it leaves the interaction open.
func (s *Server) respond(i *interaction, body object, files []upload) error {
	kind := number(body["type"])
	if !i.mayAnswer(kind) {
		return invalid(fieldError{path: []string{"type"}, code: "INTERACTION_CALLBACK_TYPE_INVALID", message: "Interaction callback type is invalid for this interaction"})
	}
	data, _ := body["data"].(object)
	if (kind == answerMessage || kind == answerDefer || kind == answerUpdate) && s.frozen(i.channel) {
		return errArchived
	}
	var err error
	switch kind {
	case answerMessage:
		only := i.privately(data)
		if i.channel.guild != nil && len(files) > 0 && !s.appPermissions(i).Has(AttachFiles) {
			return errPermission
		}
		i.answered, i.at = kind, s.now()
		s.sayAsked(i)
		if i.original, err = s.create(i.channel, data, files, i, only); err != nil {
			i.answered = 0
			return err
		}
	case answerDefer:
		only := i.privately(data)
		m := &message{id: s.newID(), kind: 20, channel: i.channel, author: s.bot, created: s.now(), asked: i, only: only, flags: flagLoading}
		if only != nil {
			m.flags |= flagEphemeral
		}
		i.original, i.answered, i.at = m, kind, s.now()
		s.sayAsked(i)
		s.keep(i.channel, m)
		if only == nil {
			s.dispatchMessage("MESSAGE_CREATE", m)
		}
	case answerDeferEdit:
		i.original, i.answered, i.at = i.message, kind, s.now()
		s.sayAsked(i)
	case answerUpdate:
		if i.channel.guild != nil && len(files) > 0 && !s.appPermissions(i).Has(AttachFiles) {
			return errPermission
		}
		i.answered, i.at = kind, s.now()
		s.sayAsked(i)
		if err := s.edit(i.message, data, files); err != nil {
			i.answered = 0
			return err
		}
		i.original = i.message
	case answerChoices:
		for _, c := range asList(data["choices"]) {
			i.choices = append(i.choices, c.(object))
		}
		i.answered, i.at = kind, s.now()
	case answerModal:
		i.modal, i.answered, i.at = data, kind, s.now()
		s.sayAsked(i)
		s.sayModal(i)
	}
	s.changed.Broadcast()
	return nil
}

// frozen says that a thread is closed for good to the bot: even the answer to
// an interaction is refused there.
func (s *Server) frozen(c *channel) bool {
	return c.isThread() && c.archived && c.locked && !s.botPermissions(c).Has(ManageThreads)
}

// privately is who alone sees a first response, by its flag; nil is everybody.
func (i *interaction) privately(data object) *user {
	if i.hidden || data["flags"] != nil && number(data["flags"])&flagEphemeral != 0 {
		return i.person.user
	}
	return nil
}

// hook is the interaction that a webhook route means, if its token still works.
func (s *Server) hook(r *request) (*interaction, error) {
	i := s.tokens[r.params["webhook_token"]]
	if i == nil || s.now().Sub(i.created) > TokenLife {
		return nil, errToken
	}
	if r.params["webhook_id"] != s.appID || i.answered == 0 {
		return nil, errWebhook
	}
	return i, nil
}

func (s *Server) hookMessage(r *request) (*interaction, *message, error) {
	i, err := s.hook(r)
	if err != nil {
		return nil, nil, err
	}
	m := i.original
	if id := r.params["message_id"]; id != "" {
		m = i.followUp(id)
	}
	if m == nil || m.gone || m.channel.deleted {
		return nil, nil, errMessage
	}
	return i, m, nil
}

func followUp(s *Server, r *request) (reply, error) {
	i, err := s.hook(r)
	if err != nil {
		return reply{}, err
	}
	if i.channel.deleted {
		return reply{}, errChannel
	}
	if s.frozen(i.channel) {
		return reply{}, errArchived
	}
	body := r.object()
	if i.channel.guild != nil && len(r.files) > 0 && !s.appPermissions(i).Has(AttachFiles) {
		return reply{}, errPermission
	}
	if m := i.original; m != nil && m.flags&flagLoading != 0 && !m.gone {
		// The first follow-up to a deferral is its answer; only the flag of
		// the deferral says who sees it.
		if err := s.edit(m, body, r.files); err != nil {
			return reply{}, err
		}
		return ok(m.json(s))
	}
	if i.userOnly && len(i.followUps) >= maxFollowUps {
		return reply{}, errFollowUps
	}
	m, err := s.create(i.channel, body, r.files, i, i.privately(body))
	if err != nil {
		return reply{}, err
	}
	i.followUps = append(i.followUps, m)
	return ok(m.json(s))
}

func getHookMessage(s *Server, r *request) (reply, error) {
	_, m, err := s.hookMessage(r)
	if err != nil {
		return reply{}, err
	}
	return ok(m.json(s))
}

func editHookMessage(s *Server, r *request) (reply, error) {
	i, m, err := s.hookMessage(r)
	if err != nil {
		return reply{}, err
	}
	if s.frozen(i.channel) {
		return reply{}, errArchived
	}
	if i.channel.guild != nil && len(r.files) > 0 && !s.appPermissions(i).Has(AttachFiles) {
		return reply{}, errPermission
	}
	if err := s.edit(m, r.object(), r.files); err != nil {
		return reply{}, err
	}
	return ok(m.json(s))
}

func deleteHookMessage(s *Server, r *request) (reply, error) {
	_, m, err := s.hookMessage(r)
	if err != nil {
		return reply{}, err
	}
	s.remove(m)
	return reply{status: 204}, nil
}

// appPermissions is what the app may do where it was asked.
func (s *Server) appPermissions(i *interaction) Permission {
	c := i.channel
	switch {
	case c.guild == nil && c.withBot:
		return AttachFiles | EmbedLinks | MentionEveryone | UseExternalEmojis
	case c.guild == nil:
		return AttachFiles | EmbedLinks | MentionEveryone
	case c.guild.botIn:
		return c.permissions(s.bot)
	}
	return AttachFiles | EmbedLinks // where the bot is not, always these
}

// newToken looks like Discord's and names its interaction.
func newToken(id string) string {
	return "aW50ZXJhY3Rpb246" + id + strings.Repeat("x", 60)
}
