package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/render"
)

// A world is a chat, a disk, and the process that delivers the posts of the disk to the
// chat. The chat and the disk outlive the process.
//
// Two games are played in one room. Each post takes the chat 300 ms, unless its fate is
// another one.
type world struct {
	*testing.T
	began time.Time
	ahead atomic.Int64 // nanoseconds by which the clock of the process is ahead
	disk  *disk
	asker bool                                            // requests show their posts themselves
	fates map[string][]string                             // of the first tries to send a post, by id, or to do a decoration, by kind
	at    func(step int, what string) (where, how string) // what happens at a step; empty: nothing

	stepping sync.Mutex
	steps    int // calls of the store and the chat

	mu       sync.Mutex
	process  *process
	shown    []string                        // by the chat: "b1@0.3"
	messages map[string]bool                 // in the chat, by id of the post
	tries    map[string]int                  // of posts by id, of decorations by kind
	header   map[match.GameID]int            // the event up to which the header of a game is
	controls map[string]bool                 // of messages, by id
	pictures map[string]bool                 // added to messages, by id
	lastSeq  map[match.GameID]map[string]int // of the posts shown, by kind
}

// A process is an outbox that runs until it is stopped or killed.
type process struct {
	*world
	out    *Outbox
	dead   chan struct{} // closed when it is killed
	cancel context.CancelFunc
	ended  chan struct{}
	busy   map[match.GameID]bool // a post of the game is being sent
}

var errKilled = errors.New("the process was killed")

// inWorld runs a test in virtual time.
func inWorld(t *testing.T, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, began: time.Now(), disk: &disk{decorations: map[id]Row{}, requests: map[string]bool{}, parked: map[match.Room]bool{}},
			messages: map[string]bool{}, tries: map[string]int{}, header: map[match.GameID]int{}, controls: map[string]bool{}, pictures: map[string]bool{},
			lastSeq: map[match.GameID]map[string]int{}}
		defer func() { w.now().stop() }()
		test(w)
	})
}

// start starts a process.
func (w *world) start() {
	p, ctx := w.make()
	go func() {
		defer close(p.ended)
		for ctx.Err() == nil && p.out.Open(ctx, p) != nil { // else the program ends, and is started again
		}
		p.out.Run(ctx, p)
	}()
}

// make makes a process that sends nothing by itself.
func (w *world) make() (*process, context.Context) {
	p := &process{world: w, busy: map[match.GameID]bool{}, dead: make(chan struct{}), ended: make(chan struct{})}
	p.out = New(Config{Rows: p, Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }, Log: slog.New(slog.DiscardHandler), Word: p.word, Decoration: p.wordDecoration})
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	w.mu.Lock()
	w.process = p
	w.mu.Unlock()
	return p, ctx
}

// stop ends the process, as when the program is told to.
func (p *process) stop() {
	p.cancel()
	<-p.ended
}

// now returns the process that runs.
func (w *world) now() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// step begins a call of the store or the chat: do has its effect. The process may be
// killed before or after that, or the call fails, having had its effect or not.
func (p *process) step(what string, do func() error) error {
	p.stepping.Lock() // the dead do nothing
	defer p.stepping.Unlock()
	select {
	case <-p.dead:
		return errKilled
	default:
	}
	p.steps++
	where, how := "", ""
	if p.at != nil {
		where, how = p.at(p.steps, what)
	}
	var err error
	if where != "before" {
		err = do()
	}
	switch how {
	case "killed":
		close(p.dead)
		p.cancel()
		p.start()
		return errKilled
	case "fails":
		return errors.New("it fails")
	}
	return err
}

// word and wordDecoration word posts.
func (p *process) word(_ context.Context, o Pending) (Post, error) {
	post := Post{ID: o.ID, Where: o.Where, Kind: o.Kind, Game: o.Game, Seq: o.Seq, At: p.began}
	if o.Kind == match.Show {
		post.Scene = &render.Scene{}
	}
	if o.Question != nil {
		post.File = &File{Name: "game-1.gif"}
	}
	for _, text := range o.Texts {
		post.Text += "+" + text.Key
	}
	switch p.fate("word " + o.ID) {
	case "stale":
		return post, ErrStale
	case "fails":
		return post, errors.New("the disk is broken")
	}
	return post, nil
}

func (p *process) wordDecoration(_ context.Context, r Row) (Post, error) {
	return Post{ID: r.Kind, Where: r.Where(), Kind: r.Kind, Game: match.GameID(r.Game), Seq: r.Seq, Replaces: r.Target, Data: r.Data, Attempt: r.Attempt + 1}, nil
}

// fate returns what happens at the next try of something.
func (w *world) fate(of string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.tries[of]
	w.tries[of]++
	if fates := w.fates[of]; n < len(fates) {
		return fates[n]
	}
	return ""
}

func (p *process) Name() string { return "chat" }

// Account makes the chat one that knows its limits.
func (p *process) Account() *Account { return NewAccount(5, 10) }

// Deliver shows a post, or does a decoration.
func (p *process) Deliver(ctx context.Context, post Post) (r Receipt, owes []Owes, err error) {
	takes, fate := 300*time.Millisecond, p.fate(post.ID)
	switch fate {
	case "slow":
		takes = 70 * time.Second
	case "slower", "last moment": // than anybody waits
		takes = time.Hour
	}
	lane := post.Game
	if post.Kind != match.Show && post.Kind != match.Notice {
		takes -= 50 * time.Millisecond // never at the same moment as a post
	} else {
		p.mu.Lock()
		if p.busy[lane] {
			p.Errorf("%s is sent while another post of its game is", post.ID)
		}
		p.busy[lane] = true
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			p.busy[lane] = false
			p.mu.Unlock()
		}()
	}
	select {
	case <-time.After(takes):
	case <-p.dead:
		return "", nil, errKilled
	case <-ctx.Done():
		if fate != "last moment" {
			return "", nil, ctx.Err()
		}
	}
	wait := RetryAfter{Wait: 20 * time.Second}
	switch fate {
	case "limited":
		return "", nil, wait
	case "held":
		wait.Account = true
		return "", nil, wait
	case "fails":
		return "", nil, errors.New("the line is broken")
	case "unclear":
		return "", nil, ErrAmbiguous
	case "refused":
		return "", nil, fmt.Errorf("filtered: %w", ErrRefused)
	case "forbidden":
		return "", nil, Forbidden{Permission: "send"}
	case "gone":
		return "", nil, ErrGone
	case "thread gone":
		return "", nil, InThread{ErrGone}
	case "too large":
		return "", nil, ErrTooLarge
	case "panics":
		panic("in the middle")
	}
	err = p.step("show "+post.ID, func() error {
		owes = p.show(post)
		return nil
	})
	switch fate {
	case "lost":
		return "", nil, errors.New("the line is broken")
	case "sent and unclear":
		return "", nil, ErrAmbiguous
	case "sent and panics":
		panic("after it")
	}
	if err != nil {
		return "", nil, err
	}
	return Receipt(post.ID), owes, nil
}

// show puts a post into the chat. A chat finds a message that it has already, if the
// process tells it to look for it.
func (w *world) show(p Post) []Owes {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch p.Kind {
	case Header:
		if p.Seq < w.header[p.Game] {
			w.Errorf("the header goes back from event %d to %d", w.header[p.Game], p.Seq)
		}
		w.header[p.Game] = p.Seq
		return nil
	case Attach:
		w.pictures[p.Replaces] = true
		return nil
	case Clear:
		w.controls[p.Replaces] = false
		return nil
	}
	if w.messages[p.ID] && (p.Attempt < 2 || p.Unsent) {
		w.Errorf("%s is shown twice", p.ID)
	}
	if !w.messages[p.ID] {
		w.messages[p.ID] = true
		w.controls[p.ID] = p.Kind == match.Show
		w.shown = append(w.shown, fmt.Sprintf("%s@%.4g", p.ID+p.Text, time.Since(w.began).Round(10*time.Millisecond).Seconds()))
		if p.Kind == match.Answer {
			return nil
		}
		for kind, seq := range w.lastSeq[p.Game] {
			if seq > p.Seq || seq == p.Seq && kind == p.Kind {
				w.Errorf("%s is shown after something newer", p.ID)
			}
		}
		if w.lastSeq[p.Game] == nil {
			w.lastSeq[p.Game] = map[string]int{}
		}
		w.lastSeq[p.Game][p.Kind] = p.Seq
	}
	if p.Kind != match.Show {
		return nil
	}
	return []Owes{{Kind: Header, Key: string(p.Game), Every: time.Minute}, {Kind: Clear, Key: p.ID, Target: Receipt(p.ID)},
		{Kind: Attach, Key: p.ID, Target: Receipt(p.ID)}}
}

// A plan lists requests: the time, the game, and the posts of each.
type plan struct {
	at    time.Duration
	game  match.GameID
	posts string
}

// aGame is what the tests play: a notice that the game begins and its board, two turns
// while that is being shown, and a notice; and beside it a turn of another game.
var aGame = []plan{{0, "g", "n1 b1"}, {0, "h", "o1"}, {400 * time.Millisecond, "g", "b2"}, {500 * time.Millisecond, "g", "b3"}, {2 * time.Second, "g", "n2"},
	{4 * time.Second, "h", "o2"}}

// play does what is planned, and waits until all has ended.
func (w *world) play(plans []plan) {
	w.start()
	synctest.Wait()
	var wait sync.WaitGroup
	for n, p := range plans {
		time.Sleep(p.at - time.Since(w.began))
		step := func() *match.Step {
			s := &match.Step{Request: fmt.Sprint(n), At: time.Now()}
			for _, post := range strings.Fields(p.posts) {
				o := match.OutboxPost{ID: post, Game: p.game, Where: match.Room{Platform: "chat", Channel: "club"}, Kind: match.Show, Seq: n + 1}
				if post[0] == 'n' {
					o.Kind = match.Notice
				}
				if post[0] == 'a' {
					o = refusal(post)
				}
				if w.asker {
					o.Asker = true
				}
				s.Posts = append(s.Posts, o)
			}
			return s
		}
		wait.Go(func() {
			for !w.ask(w.now(), step()) { // until it is answered
				time.Sleep(10 * time.Millisecond)
			}
		})
		synctest.Wait()
	}
	wait.Wait()
	time.Sleep(3 * time.Minute)
	w.now().unpark()
	time.Sleep(2 * time.Minute)
	synctest.Wait()
}

// ask makes a request of a process, and shows its posts if the asker does that. It
// reports whether the request was answered.
func (w *world) ask(p *process, step *match.Step) bool {
	own, err := p.out.Commit(context.Background(), step, func() (any, error) { return nil, p.Commit(context.Background(), step) })
	if errors.Is(err, errAgain) {
		return true
	}
	if err != nil {
		return false
	}
	for _, post := range p.out.Give(context.Background(), own) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		var r Receipt
		var owes []Owes
		err := Guarded(func() (err error) {
			r, owes, err = p.Deliver(ctx, post)
			return err
		})
		cancel()
		if err != nil {
			p.out.Release(context.Background(), post, err)
			break
		}
		if p.out.Settle(context.Background(), post, r, owes...) == nil {
			p.out.Settle(context.Background(), post, "twice")
		}
	}
	return true
}

// commit commits a step, and calls stored before the outbox knows that it was stored. It
// returns the posts that the asker shows.
func (w *world) commit(request string, stored func(), posts ...match.OutboxPost) []Post {
	p := w.now()
	step := &match.Step{Request: request, At: p.out.Now(), Posts: posts}
	own, err := p.out.Commit(context.Background(), step, func() (any, error) {
		if err := p.Commit(context.Background(), step); err != nil {
			return nil, err
		}
		stored()
		return nil, nil
	})
	must(w.T, err)
	return p.out.Give(context.Background(), own)
}

// begin starts a process that has read what waits.
func (w *world) begin() {
	w.start()
	synctest.Wait()
}

// after waits, and returns how all stands then.
func (w *world) after(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	return w.stands()
}

// stands returns the messages of each game with the times at which they were shown, and
// what is wrong with how all stands in the end.
func (w *world) stands() string {
	var out, wrong []string
	last := map[match.GameID]string{}
	for _, game := range []string{"nb", "o", "a"} {
		for _, m := range w.shown {
			if strings.Contains(game, m[:1]) {
				out = append(out, m)
			}
		}
	}
	for _, o := range w.disk.posts {
		if o.state == Shown && o.Kind == match.Show {
			last[o.Game] = o.ID
			if w.header[o.Game] < o.Seq && !slices.ContainsFunc(w.disk.posts, func(newer *stored) bool { return newer.Game == o.Game && newer.Seq > o.Seq }) {
				wrong = append(wrong, "old header of "+string(o.Game))
			}
		}
		if o.state != Shown && o.state != Superseded {
			out = append(out, o.ID+" "+string(o.state))
		}
	}
	for _, o := range w.disk.posts {
		if w.controls[o.ID] && last[o.Game] != o.ID {
			wrong = append(wrong, o.ID+" keeps its controls")
		}
		if last[o.Game] == o.ID && !w.pictures[o.ID] {
			wrong = append(wrong, o.ID+" has no picture")
		}
	}
	for key, r := range w.disk.decorations {
		if !r.Sleeps {
			wrong = append(wrong, fmt.Sprint("waits: ", key))
		}
	}
	return strings.Join(append(out, wrong...), " ")
}
