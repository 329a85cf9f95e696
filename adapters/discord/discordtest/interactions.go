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
	label     string // what the person did, for the transcript
	owners    object
	userOnly  bool // installed for the user alone: at most five follow-ups
	hidden    bool // what answers it is shown to the person alone
	created   time.Time
	payload   object

	answered  int // the callback type, 0 when there was none
	at        time.Time
	original  *message
	followUps []*message
	choices   []any
	modal     object
	refused   error // by the client, before it was sent
	said      bool  // in the transcript
	failed    bool  // the person was told so
	editsThen int   // of the component's message, when it was used
}

// answersTo are the callbacks that each kind of interaction takes.
var answersTo = map[int][]int{
	kindCommand:      {answerMessage, answerDefer, answerModal},
	kindComponent:    {answerMessage, answerDefer, answerDeferEdit, answerUpdate, answerModal},
	kindAutocomplete: {answerChoices},
	kindModal:        {answerMessage, answerDefer, answerDeferEdit, answerUpdate},
}

// mayAnswer reports whether an interaction takes a callback.
func (i *interaction) mayAnswer(kind int) bool {
	changes := kind == answerDeferEdit || kind == answerUpdate
	return slices.Contains(answersTo[i.kind], kind) && (i.message != nil || !changes)
}

func callback(s *Server, r *request) (any, error) {
	i := r.asked
	if i.answered != 0 {
		return nil, errAcknowledged
	}
	if s.now().Sub(i.created) > FirstResponse {
		return nil, errInteraction
	}
	if err := s.respond(i, r.object(), r.files); err != nil {
		return nil, err
	}
	if r.query.Get("with_response") != "true" {
		return nil, nil
	}
	return i.callbackJSON(s), nil
}

// callbackJSON returns what with_response brings.
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
func (s *Server) respond(i *interaction, body object, files []upload) (err error) {
	kind := number(body["type"])
	if !i.mayAnswer(kind) {
		return invalid("type", "INTERACTION_CALLBACK_TYPE_INVALID", "Interaction callback type is invalid for this interaction")
	}
	if (kind == answerMessage || kind == answerDefer || kind == answerUpdate) && s.frozen(i.channel) {
		return errArchived
	}
	if kind == answerUpdate && i.message.gone {
		return errMessage
	}
	data, _ := body["data"].(object)
	i.answered, i.at = kind, s.now()
	s.sayAsked(i)
	switch kind {
	case answerMessage:
		i.original, err = s.create(i.channel, data, files, i, nil)
	case answerDefer:
		m := &message{id: s.newID(), kind: 20, channel: i.channel, author: s.bot, created: s.now(), asked: i, flags: flagLoading}
		m.hide(i, data)
		i.original = m
		s.keep(m)
		s.dispatchMessage("MESSAGE_CREATE", m)
	case answerDeferEdit:
		i.original = i.message
	case answerUpdate:
		i.original, err = i.message, s.edit(i.message, data, files)
	case answerChoices:
		i.choices = asList(data["choices"])
	case answerModal:
		i.modal = data
		s.sayTo(i, "a form: "+text(i.modal["title"]))
	}
	if err != nil {
		i.answered, i.original = 0, nil
	}
	return err
}

// frozen reports that a thread is closed for good to the bot: even the answer to
// an interaction is refused there.
func (s *Server) frozen(c *channel) bool {
	return c.isThread() && c.archived && c.locked && !s.botPermissions(c).Has(ManageThreads)
}

// hide shows an answer to the person of its interaction alone, if its flag says so
// or the app is not welcome in public.
func (m *message) hide(i *interaction, data object) {
	if i.hidden || data["flags"] != nil && number(data["flags"])&flagEphemeral != 0 {
		m.only = i.person.user
		m.flags |= flagEphemeral
	}
}

func followUp(s *Server, r *request) (any, error) {
	i, body := r.asked, r.object()
	if s.frozen(i.channel) {
		return nil, errArchived
	}
	if m := i.original; m != nil && m.flags&flagLoading != 0 && !m.gone {
		// The first follow-up to a deferral is its answer; only the flag of
		// the deferral says who sees it.
		if err := s.edit(m, body, r.files); err != nil {
			return nil, err
		}
		return m.json(s), nil
	}
	if i.userOnly && len(i.followUps) >= maxFollowUps {
		return nil, errFollowUps
	}
	m, err := s.create(i.channel, body, r.files, i, nil)
	if err != nil {
		return nil, err
	}
	i.followUps = append(i.followUps, m)
	return m.json(s), nil
}

func getAnswer(s *Server, r *request) (any, error) { return r.message.json(s), nil }

func editAnswer(s *Server, r *request) (any, error) {
	if s.frozen(r.asked.channel) {
		return nil, errArchived
	}
	if err := s.edit(r.message, r.object(), r.files); err != nil {
		return nil, err
	}
	return r.message.json(s), nil
}

func deleteAnswer(s *Server, r *request) (any, error) {
	s.remove(r.message)
	return nil, nil
}

// appPermissions returns what the app may do where it is asked.
func (s *Server) appPermissions(c *channel) Permission {
	switch {
	case c.guild == nil:
		return AttachFiles | EmbedLinks | MentionEveryone | UseExternalEmojis
	case c.guild.botIn:
		return c.permissions(s.bot)
	}
	return AttachFiles | EmbedLinks // where the bot is not, always these
}

// newToken looks like Discord's and names its interaction.
func newToken(id string) string {
	return "aW50ZXJhY3Rpb246" + id + strings.Repeat("x", 60)
}
