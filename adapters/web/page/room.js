// The page of the local room. The comment of package web says how it talks to
// the room.

const $ = (id) => document.getElementById(id);

// make creates an element. What people wrote only ever becomes text.
function make(tag, props = {}, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children.filter((c) => c != null));
  return e;
}

// remember keeps what a tab chose; recall gives it back, to a new tab what was
// chosen last in any.
function remember(key, value) {
  try { sessionStorage.setItem(key, value); localStorage.setItem(key, value); } catch { /* then not */ }
}

function recall(key) {
  try { return sessionStorage.getItem(key) ?? localStorage.getItem(key); } catch { return null; }
}

// ---- Words ------------------------------------------------------------------

// What the page itself says is in English here and in index.html; the room sends the
// words of another language, by the English ones.
let words = {}, lang = 'en';

// t translates English words, with args for {0}, {1} ….
const t = (english, ...args) => (words[english] ?? english).replace(/\{(\d)\}/g, (_, i) => args[i]);

const labels = ['aria-label', 'placeholder'];

// say puts English words and their translation on an element. Elements that hold others,
// or a sign, have them as labels alone.
function say(e, english, ...args) {
  e.said = { text: [english, ...args] };
  e.dataset.t = '';
  translate(e);
  return e;
}

// translate words an element again that has data-t, or was worded by say.
function translate(e) {
  if (!e.said) {
    const text = e.hasAttribute('aria-label') ? '' : e.textContent;
    e.said = { text: text && [text], ...Object.fromEntries(labels.filter((l) => e.hasAttribute(l)).map((l) => [l, [e.getAttribute(l)]])) };
  }
  for (const [where, what] of Object.entries(e.said)) {
    if (!what) continue;
    if (where === 'text') e.textContent = t(...what); else e.setAttribute(where, t(...what));
  }
}

// speak changes the language of the page.
function speak(tag, other) {
  [lang, words] = [tag, other ?? {}];
  remember('words', JSON.stringify({ lang, words }));
  document.documentElement.lang = lang;
  document.querySelectorAll('[data-t]').forEach(translate);
  showTurn();
}

// ---- Seats ------------------------------------------------------------------

const START = '/new two-button 9x9';
const touch = matchMedia('(pointer: coarse)');
const seat = $('seat'), ownName = $('name'), follow = $('follow');
const colors = { black: 'Black', white: 'White' };
const seats = ['Black', 'White', 'Onlooker']; // as the bot calls who sits there
let due = [];      // seats of which the last board awaits something,
let next = '';     // that in words,
let color = '';    // the stones of the only one,
let latest = null; // and the message with it
let about = null;  // the newest board of a game, which people talk about

const mySeat = () => (seat.value === 'name' ? 'name:' + ownName.value : seat.value);
const myName = () => (seat.value === 'name' ? ownName.value.trim().toLowerCase() : seat.value);
const isMine = (due) => due.includes(myName());
const plays = (m) => m?.players?.includes(myName());

function sit(value) {
  if (seat.value === value) return;
  seat.value = value;
  seatChanged();
}

function seatChanged() {
  ownName.hidden = seat.value !== 'name';
  remember('seat', seat.value);
  remember('name', ownName.value);
  showTurn();
  connect();
}

// showTurn says what the board awaits, and offers the seat of whoever is to
// move to the person in the other.
function showTurn() {
  const mine = isMine(due);
  const offer = seat.value in colors && !mine && due[0] in colors;
  $('turn').textContent = next;
  $('turn').className = color;
  $('move-over').hidden = !offer;
  if (offer) $('move-over').textContent = t('Sit as {0}', t(colors[due[0]]));
  input.placeholder = usual();
  showExamples();
  document.title = (mine ? '● ' : '') + (next ? next + ' · ' : '') + 'Halfpoint';
}

// can reports whether the person in this seat can use a command now, for the game of the
// last board.
function can(command) {
  const control = latest?.controls?.find((c) => c.command === command);
  switch (command) {
    case 'new': return seat.value !== 'onlooker' && !due.length;
    case 'undo': return !!control && plays(latest) && !isMine(due);
    default: return !!control && isMine(due);
  }
}

// usual is what they may type.
function usual() {
  const point = latest?.lines?.point;
  if (can('place')) return t('{0}, /pass, or a message', point ?? 'E5');
  if (can('accept')) return '/accept';
  return can('new') ? START : t('Write a message');
}

// showExamples leaves those examples of the guide pressable that are of use now.
function showExamples() {
  const { point, dead } = latest?.lines ?? {};
  for (const e of document.querySelectorAll('[data-when]')) {
    const when = e.dataset.when;
    const use = when === 'game' ? !!latest : when === 'alive' ? can('dead') && dead?.length > 0 : when === 'dead' ? can('dead') && !!point : can(when);
    if (e.matches('button')) e.disabled = !use; else e.hidden = !use;
    if (!use) continue;
    if (when === 'place') e.textContent = point ?? 'E5';
    if (when === 'dead') e.textContent = '/dead ' + point;
    if (when === 'alive') e.textContent = '/dead ' + dead[0] + ' as:alive';
  }
}

function followTurn() {
  if (!follow.checked || !(seat.value in colors) || !(due[0] in colors) || due.includes(seat.value)) return;
  sit(due[0]);
  tell(t('You are {0} now.', t(colors[seat.value])));
}

// tell says something about the page itself, to eyes and to screen readers.
function tell(text) {
  $('hint').textContent = text;
}

// refocus goes back to the message box, unless that raises a phone's keyboard.
function refocus() {
  if (!touch.matches) input.focus();
}

// ---- The transcript ---------------------------------------------------------

const scroller = $('scroll'), log = $('log'), outbox = $('outbox');
const shown = new Map(); // elements by number of message
let loading = true;      // the history is on its way

let kept = -1;      // where keepEnd left the transcript
let stays = true;   // whether its reader was at the end before the page changed its size

const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 120;
const follows = () => loading || atEnd() || Math.abs(scroller.scrollTop - kept) < 24;

// keepEnd does what changes the transcript; whoever reads its end stays there,
// or at the beginning of a message that is longer than the page.
function keepEnd(change) {
  const stay = follows();
  change();
  stays = stay;
  if (stay) goToEnd(); else $('newest').hidden = false;
}

function goToEnd() {
  const newest = log.lastElementChild;
  if (newest && newest.offsetHeight > scroller.clientHeight && !outbox.childElementCount) {
    newest.scrollIntoView({ block: 'start' });
    kept = scroller.scrollTop;
  } else {
    toEnd();
  }
  stays = true;
}

// A page that changes its size, or a phone that is turned, keeps the end where it is, also
// when the pictures of the other layout come. Who opens something there reads that.
const sized = new ResizeObserver(() => { if (stays && !loading) goToEnd(); });
sized.observe(scroller);
sized.observe(log);
log.addEventListener('click', (event) => { if (event.target.closest('summary')) stays = false; }, true);

function toEnd() {
  scroller.scrollTop = scroller.scrollHeight;
  kept = scroller.scrollTop;
  $('newest').hidden = true;
}

// add puts a message into the transcript, in the place of the one it replaces.
function add(m) {
  const gone = (m.replaces ?? []).map((n) => shown.get(n)).filter((e) => e?.isConnected);
  if (m.removed) {
    for (const e of gone) {
      const bar = e.querySelector('.controls');
      if (bar?.kind === 'show') e.previousElementSibling?.append(bar);
      e.remove();
    }
    return;
  }
  const old = gone[0];
  const e = element(m);
  // What can be pressed for a board moves below what is said about it, which is read now.
  const bar = m.kind === 'notice' && !m.private && !m.controls && [...log.querySelectorAll('.controls')].find((c) => c.game === m.game && c.kind === 'show');
  if (bar) e.append(bar);
  if (m.n) shown.set(m.n, e);
  if (m.game && (m.picture || m.due)) {
    due = m.due ?? [];
    next = (m.next ?? '').replace(/^./u, (c) => c.toUpperCase());
    color = m.color ?? '';
    if (m.picture) latest = m;
    if (m.picture && m.kind === 'show') about = m;
    showTurn();
  }
  // What could be pressed below an older post of the game is over: below one of
  // the same kind, and below any when there is a new board.
  if (m.game && m.kind) {
    for (const c of log.querySelectorAll('.controls')) {
      if (c.game === m.game && (m.kind === 'show' || c.kind === m.kind)) c.remove();
    }
  }
  // A reminder that is said again is news: it stands at the end, and once.
  if (old && m.kind !== 'status') {
    old.replaceWith(e);
  } else {
    old?.remove();
    // An answer may be here before what it is about.
    const below = m.n && [...log.children].find((answer) => answer.below >= m.n);
    log.insertBefore(e, below || null);
  }
}

// element makes what a message looks like.
function element(m) {
  const at = new Date(m.at);
  const bot = !m.from, command = !bot && /^[/!]/.test(m.text);
  const e = make('article', { below: m.after, className: 'message ' + (bot ? 'bot' : 'person') + (m.kind ? ' ' + m.kind : '') });
  const head = make('header', {},
    seats.includes(m.from) ? say(make('bdi', { className: 'from' }), m.from) : make('bdi', { className: 'from', textContent: m.from || 'Halfpoint' }),
    bot ? say(make('span', { className: 'badge' }), 'bot') : null,
    make('time', { dateTime: m.at, title: at.toLocaleString(lang),
      textContent: at.toLocaleTimeString(lang, { hour: '2-digit', minute: '2-digit' }) }));
  if (m.from === 'Black' || m.from === 'White') e.classList.add(m.from.toLowerCase());
  else if (m.from) e.dataset.initial = [...m.from.replace(/[\u2066-\u2069]/g, '')][0] ?? '';
  e.append(head);
  if (m.private) {
    e.dataset.private = '';
    const dismiss = say(make('button', { type: 'button', className: 'quiet' }), 'Dismiss');
    dismiss.onclick = () => { e.remove(); refocus(); };
    head.append(say(make('span', { className: 'only' }), 'Only you can see this'), dismiss);
  }
  if (m.asked) e.append(make('p', { className: 'asked', dir: 'auto', textContent: m.asked }));
  if (m.text || m.to) {
    const text = make('p', { className: 'text', dir: 'auto' });
    const uncalled = (m.to ?? []).filter((name) => !m.text?.includes('@' + name));
    uncalled.forEach((name, i) => text.append(make('bdi', { className: 'to', textContent: '@' + (seats.includes(name) ? t(name) : name) }), i + 1 < uncalled.length ? ' ' : ': '));
    for (const part of m.parts ?? [{ text: m.text ?? '' }]) text.append(...(part.time ? [instant(part)] : bot ? linked(part.text) : command ? [part.text] : turnsLinked(part.text)));
    if (command) text.classList.add('command');
    e.append(text);
  }
  if (m.picture) e.append(picture(m));
  if (m.file) e.append(make('p', {}, make('a', { className: 'file', href: m.file.url, download: m.file.name, textContent: m.file.name })));
  if (m.controls) e.append(m.bar = controls(m));
  return e;
}

// linked makes a link of the address at which somebody becomes a moderator.
const linked = (text) => text.split(/(\/owner)\b/).map((s) => (s === '/owner' ? make('a', { href: s, textContent: s }) : s));

// turnsLinked makes links of the turns of the game that somebody talks about: "#57". The
// room finds what stands under that number when the link is followed.
function turnsLinked(text) {
  if (!about?.page) return [text];
  return text.split(/(?<![\p{L}\p{M}\p{N}_#&/])(#[1-9]\d{0,3})(?![\p{L}\p{M}\p{N}_])/u).map((s, i) => (
    i % 2 && s.slice(1) <= about.turns ? make('a', { href: about.page.replace(/\d+$/, 'turn/' + s.slice(1)), target: '_blank', dir: 'ltr', textContent: s }) : s));
}

// instant writes an instant as the reader's own clock and language have it; what
// the bot calls it is there to be looked up.
function instant(part) {
  const at = new Date(part.time);
  const options = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  if (at.getFullYear() !== new Date().getFullYear()) options.year = 'numeric';
  return make('time', { dateTime: part.time, title: part.text, textContent: at.toLocaleString(lang, options) });
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const narrow = matchMedia('(max-width: 40rem)'); // then the panel is under the board
const source = (m, size) => m.picture + '&theme=' + (dark.matches ? 'slate' : '') + '&layout=' + (narrow.matches ? 'portrait' : '') + '&size=' + size;

// The pictures of a board in pixels, and those of a chart, of which the message tells how high
// the medium one is.
const board = { small: { width: 720, height: 495 }, medium: { width: 960, height: 660 }, large: { width: 1440, height: 990 } };
const portrait = { small: { width: 498, height: 798 }, medium: { width: 664, height: 1064 }, large: { width: 996, height: 1596 } };
const chart = (high) => ({
  small: { width: 540, height: Math.round(high * .75) }, medium: { width: 720, height: high }, large: { width: 1080, height: Math.round(high * 1.5) },
});
const boundsOf = (m) => m.high ? chart(m.high) : narrow.matches ? portrait : board;

function picture(m) {
  // The words alone, and not the board in letters: every new message is read out.
  const img = make('img', { alt: m.high ? m.alt : m.alt.split('\n')[0], decoding: 'async' });
  img.sizes = m.high ? '(max-width: 30rem) 92vw, 27rem' : '(max-width: 50rem) 92vw, 45rem';
  const load = () => {
    const bounds = boundsOf(m);
    Object.assign(img, bounds.medium);
    img.srcset = Object.keys(bounds).map((size) => source(m, size) + ' ' + bounds[size].width + 'w').join(', ');
    img.src = source(m, 'medium');
  };
  img.reload = load;
  const larger = say(make('button', { type: 'button', className: 'quiet' }), 'Full size');
  larger.onclick = () => enlarge(m);
  load();
  const open = m.page && say(make('a', { className: 'quiet', href: m.page, target: '_blank' }), 'Open the board');
  const copy = open && navigator.clipboard && say(make('button', { type: 'button', className: 'quiet' }), 'Copy address');
  if (copy) copy.onclick = () => navigator.clipboard.writeText(new URL(m.page, base).href).then(() => tell(t('The address is copied.')), () => {});
  const e = make('figure', { className: m.high ? 'chart' : '' }, img,
    make('figcaption', {}, open || null, copy || null, larger,
      make('details', {}, say(make('summary'), 'In words'), make('pre', { textContent: m.alt }))));
  playable(m, e, img);
  return e;
}

// playable lets the player to move place a stone by a click on the board: the mouse shows
// where, a finger presses twice. When play has stopped, a click marks a group as dead, or
// as alive again. Others are told whose turn it is. A picture on which nothing can be
// placed is enlarged.
function playable(m, e, img) {
  const place = m.lines && m.controls?.find((c) => c.command === 'place' || c.command === 'dead' && !c.args?.as);
  const marks = place?.command === 'dead';
  const ghost = make('span', { className: 'ghost ' + (marks ? '' : m.color ?? ''), hidden: true });
  if (place) e.append(ghost);
  // why says why the person in this seat cannot use the board.
  const why = () => {
    if (!m.bar?.isConnected) return t('This is an earlier board. The newest one is at the end.');
    if (isMine(m.due ?? [])) return '';
    return plays(m) ? t('It is not your turn. {0}.', next) : t('You are watching. {0}.', next);
  };
  const pointAt = (event) => {
    if (!place || why()) return null;
    const tall = img.naturalHeight > img.naturalWidth;
    const scale = (tall ? portrait : board).medium.width / img.clientWidth;
    const [x, y, cell] = tall ? m.lines.portrait : m.lines.landscape;
    const box = img.getBoundingClientRect();
    const column = Math.round(((event.clientX - box.left) * scale - x) / cell);
    const row = Math.round((y - (event.clientY - box.top) * scale) / cell);
    if (column < 0 || row < 0 || column >= m.lines.columns || row >= m.lines.rows) return null;
    const px = (n) => n / scale + 'px';
    return { name: 'ABCDEFGHJKLMNOPQRSTUVWXYZ'[column] + (row + 1),
      style: { left: px(x + column * cell), top: px(y - row * cell), width: px(cell * .9), height: px(cell * .9) } };
  };
  const aim = (p) => {
    ghost.hidden = !p;
    ghost.dataset.point = p?.name ?? '';
    img.classList.toggle('playable', !!p);
    if (p) Object.assign(ghost.style, p.style);
  };
  img.onpointermove = (event) => { if (event.pointerType === 'mouse') aim(pointAt(event)); };
  img.onpointerleave = (event) => { if (event.pointerType === 'mouse') aim(null); };
  img.onclick = (event) => {
    if (!place) return enlarge(m);
    refocus();
    if (why()) return tell(why());
    const p = pointAt(event);
    if (!p) return;
    if (event.detail > 1 && event.pointerType === 'mouse') return; // the second of two clicks
    if (marks) {
      const as = m.lines.dead?.includes(p.name) ? 'alive' : 'dead';
      return send({ command: 'dead', args: { ...place.args, points: p.name, as }, asked: p.name + ' ' + t(as) });
    }
    if (event.pointerType === 'touch' && ghost.dataset.point !== p.name) {
      aim(p);
      return tell(t('Press {0} again to place a stone there.', p.name));
    }
    aim(null);
    tell('');
    send({ command: 'place', args: { ...place.args, at: p.name }, asked: p.name });
  };
}

for (const query of [dark, narrow]) {
  query.addEventListener('change', () => {
    for (const img of document.querySelectorAll('figure img')) img.reload();
  });
}

function enlarge(m) {
  const img = make('img', { alt: m.alt, ...boundsOf(m).large, src: source(m, 'large') });
  $('full').lastElementChild.replaceChildren(img);
  $('full').showModal();
}

$('full-close').onclick = () => $('full').close();
// Whoever goes on typing types into the message box.
$('full').onkeydown = (event) => {
  if (event.key.length !== 1 || event.key === ' ' || event.ctrlKey || event.altKey || event.metaKey) return;
  $('full').close();
  input.focus();
};
$('full').onclick = (event) => { if (event.target === $('full')) $('full').close(); };

function controls(m) {
  const e = make('div', { className: 'controls', game: m.game, kind: m.kind });
  const press = (c, more = {}) => {
    const args = { ...c.args, ...more };
    send({ command: c.command, args, asked: c.ask in args ? t(c.label) + ': ' + args[c.ask] : t(c.label) });
    if (m.private) e.remove();
    refocus();
  };
  for (const c of m.controls) {
    const b = say(make('button', { type: 'button' }), c.label); // which is in the language of the room
    b.onclick = () => {
      if (!c.pick) press(c);
      else if (c.pick === 'type') begin(c);
      else pick(c, e, b, press);
    };
    e.append(b);
  }
  return e;
}

// begin begins to type the command of a control that asks for something first.
function begin(c) {
  const args = Object.entries(c.args ?? {}).filter(([name]) => name !== 'seq');
  put(['/' + c.command, ...args.map(([name, value]) => name + ':' + value), ''].join(' '));
  suggest();
}

// put puts a text into the message box. What was there comes back with the up key.
function put(text) {
  const typed = input.value.trim();
  if (typed && past.at(-1) !== typed) past.push(typed);
  back = 0;
  write(text);
  input.focus();
}

// write puts a text into the box, which is as high as the text, within limits.
function write(text) {
  input.value = text;
  fit();
}

const fit = () => { input.rows = Math.min(6, input.value.split('\n').length); };

// pick asks for something that can be chosen, one or several, below the controls.
async function pick(c, e, b, press) {
  e.querySelector('.pick')?.remove();
  const { seq, ...args } = c.args ?? {};
  const text = ['/' + c.command, ...Object.entries(args).map(([name, value]) => name + ':' + value), c.ask + ':'].join(' ');
  let choices = [];
  try {
    const answer = await fetch('/suggest?' + new URLSearchParams({ seat: mySeat(), text }));
    if (answer.ok) choices = (await answer.json()).choices;
  } catch { /* then it is typed */ }
  if (!choices.length) return begin(c);
  const close = () => { form.remove(); b.focus(); };
  const several = c.pick === 'several';
  const form = make('form', { className: 'pick', ariaLabel: t(c.label) },
    ...choices.map((choice) => make('label', {},
      make('input', { type: several ? 'checkbox' : 'radio', name: 'choice', value: choice.value }), ' ' + (choice.hint || choice.value))),
    make('button', { type: 'submit', textContent: t(c.label) }),
    say(make('button', { type: 'button', className: 'quiet', onclick: close }), 'Never mind'));
  form.onkeydown = (event) => { if (event.key === 'Escape') close(); };
  form.onsubmit = (event) => {
    event.preventDefault();
    const chosen = [...form.querySelectorAll(':checked')].map((i) => i.value);
    if (!chosen.length) return tell(t('Choose something first.'));
    form.remove();
    press(c, { [c.ask]: chosen.join(' ') });
  };
  keepEnd(() => e.append(form));
  form.querySelector('input').focus();
}

// ---- The stream -------------------------------------------------------------

let stream = null, retry = 0, streamSeat = null;
let base = location.origin; // where others reach the room
let last = 0;          // number of the last message that everybody sees
const lastOwn = {};    // and of the last for one seat alone

// The room wants to know by which host the browser sees it: a proxy may have replaced that.
const nameHost = () => { document.cookie = 'halfpoint-at-' + location.host.replace(/[^a-z0-9]+/g, '-') + '=1; path=/; SameSite=Lax'; };

function connect(anew = false) {
  const to = mySeat();
  if (!anew && stream && streamSeat === to && stream.readyState !== EventSource.CLOSED) return;
  stream?.close();
  clearTimeout(retry);
  streamSeat = to;
  nameHost();
  const q = new URLSearchParams({ seat: to });
  if (last) q.set('after', last), q.set('own', lastOwn[to] ?? 0);
  const s = stream = new EventSource('/events?' + q);
  s.onmessage = (event) => {
    const m = JSON.parse(event.data);
    if (shown.has(m.n)) return;
    if (m.private) lastOwn[to] = m.n; else last = m.n;
    keepEnd(() => add(m));
    welcome();
    if (!loading) followTurn();
  };
  s.addEventListener('reset', () => {
    shown.clear();
    log.replaceChildren();
    last = 0;
    due = [];
    next = color = '';
    latest = about = null;
    showTurn();
  });
  s.addEventListener('ready', (event) => {
    line('');
    const spoken = JSON.parse(event.data);
    base = spoken.url ?? location.origin;
    speak(spoken.lang, spoken.words);
    if (!loading) return;
    loading = false;
    if (spoken.seat) { // somebody else sits there
      seat.value = spoken.seat;
      showTurn();
      connect();
    }
    log.setAttribute('aria-busy', 'false');
    welcome();
    followTurn();
    toEnd();
  });
  s.onerror = () => {
    line(t('The room does not answer. Trying again…'));
    // The browser tries again by itself, unless the room refused.
    if (s.readyState === EventSource.CLOSED) retry = setTimeout(connect, 3000);
  };
}

function line(text) {
  $('line').textContent = text;
  $('line').hidden = !text;
}

// ---- Sending ----------------------------------------------------------------

let sending = Promise.resolve(); // one after the other, in order

function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  return Array.from(b, (x, i) => ([4, 6, 8, 10].includes(i) ? '-' : '') + x.toString(16).padStart(2, '0')).join('');
}

// send submits what was typed or pressed, under an id that all tries share.
function send(what) {
  const s = { id: uuid(), seat: mySeat(), ...what };
  const state = make('span', { className: 'state', textContent: t('sending…') });
  const e = make('article', { className: 'message pending' },
    make('p', { className: 'asked', dir: 'auto', textContent: s.asked ?? s.text }), state);
  const go = () => { sending = sending.then(() => submit(s, e, state, go)); };
  outbox.append(e);
  toEnd();
  go();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function submit(s, e, state, again) {
  const { asked, ...body } = s;
  state.textContent = t('sending…');
  for (let wait = 500, tries = 0; tries < 8; tries++, wait = Math.min(2 * wait, 8000)) {
    let problem = t('The room does not answer.'), later = 0;
    try {
      const answer = await fetch('/ask', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(40000),
      });
      if (answer.ok) {
        const a = await answer.json();
        keepEnd(() => {
          e.remove();
          if (a.private) add({ ...a.message, asked: asked ?? s.text });
        });
        if (a.private) welcome();
        if (a.lang && a.lang !== lang) connect(true); // which brings the words
        return;
      }
      problem = (await answer.text()).trim();
      later = answer.headers.get('Retry-After') ?? 0; // somebody types too fast
      if (answer.status < 500 && answer.status !== 429) {
        state.textContent = t('Not sent: {0}', problem);
        return;
      }
    } catch { /* no network, or cut off: the same id again */ }
    state.textContent = t('Not sent yet: {0} Trying again…', problem);
    await pause(Math.max(wait, 1000 * later));
  }
  const b = say(make('button', { type: 'button', className: 'quiet' }), 'Try again');
  b.onclick = again;
  state.replaceChildren(t('Not sent: {0}', t('The room does not answer.')), ' ', b);
}

// ---- The message box --------------------------------------------------------

const form = $('form'), input = $('message'), list = $('choices');
const past = [];                 // what was sent before, for the up key
let back = 0;                    // how far up
let completion = null, at = -1;  // what may be meant, and which of it is chosen
let asking = null;               // the question under way,
let wanted = '';                 // and the key that is meant for its answer

form.onsubmit = async (event) => {
  event.preventDefault();
  if (at >= 0) return accept(at); // the enter key, on a choice
  const text = input.value.trim();
  closeList();
  if (!text) return;
  const command = /^[/!]/.test(text);
  if (!command && [...text].length > maxText) return tell(t('That is too long: at most {0} characters.', maxText));
  if (!command && attached) return tell(t('A record goes with /show or /setup, and nothing else is drawn beside it.'));
  if (seat.value === 'name' && !ownName.value.trim()) {
    tell(t('Type your name first.'));
    ownName.focus();
    return;
  }
  tell('');
  const record = attached;
  attach(null);
  past.push(text);
  back = 0;
  write('');
  if (!record) return send({ text });
  const { name } = record;
  try {
    send({ text, asked: text + ' (' + name + ')', file: { name, data: await base64(record) } });
  } catch {
    tell(t('{0} cannot be read.', name));
    write(text);
  }
};

// ---- Records ----------------------------------------------------------------

const maxText = 1000, maxRecord = 2 << 20; // characters, bytes; the room has the same limits
// How a record or a diagram looks: it begins like one, or has a whole line of board signs.
const drawing = { test: (text) => /^\s*(?:\(;|\$\$)/.test(text) || /^[ |]*(?:[.,+#@XO] ?){4,}(?:\/[.,+#@XO /]*)?\|? *$/m.test(text) };
let attached = null; // the record that goes with the next command, a File

// attach puts a record beside the message box; null takes it away.
function attach(file) {
  if (file?.size > maxRecord) return tell(t('That is too long: at most {0} MB.', maxRecord >> 20));
  attached = file;
  $('attached').hidden = !file;
  $('upload').value = '';
  if (!file) return;
  $('attached').firstElementChild.textContent = file.name + ' · ' + Math.ceil(file.size / 1024) + ' kB';
  if (!input.value.trim()) put('/show');
  input.focus();
  tell(t('Press Enter to show it to everybody. To play on from it, write /setup.'));
}

const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.split(',')[1] ?? '');
  reader.onerror = reject;
  reader.readAsDataURL(file);
});

// take takes what is pasted or dropped, and reports whether it did: files, and drawings that
// are long or come into an empty box.
function take(data) {
  const text = data.getData('text'), empty = !input.value.trim();
  if (data.files.length) attach(data.files[0]);
  else if (text.length > maxText && (drawing.test(text) || !empty)) attach(new File([text], t('pasted text')));
  else if (empty && drawing.test(text)) {
    put('/show ' + text);
    tell(t('Press Enter to show it to everybody. To play on from it, write /setup.'));
  } else return false;
  return true;
}

input.onpaste = (event) => { if (take(event.clipboardData)) event.preventDefault(); };
document.ondragover = (event) => { if (event.target !== input || event.dataTransfer.types.includes('Files')) event.preventDefault(); };
document.ondrop = (event) => { if (take(event.dataTransfer) || event.target !== input) event.preventDefault(); };
$('upload').onchange = () => { if ($('upload').files.length) attach($('upload').files[0]); };
$('detach').onclick = () => { attach(null); input.focus(); };

input.oninput = () => {
  fit();
  completion = null; // it was for another text
  choose(-1);
  tell('');
  suggest();
};
input.onblur = () => closeList();

// The enter key sends, with Shift it breaks the line. (Some keyboards of phones do not tell
// which key it was, but all tell what it would do.)
let shifted = false;
input.onbeforeinput = (event) => {
  if (event.inputType !== 'insertLineBreak' || shifted) return;
  event.preventDefault();
  form.requestSubmit();
};

input.onkeydown = (event) => {
  shifted = event.shiftKey;
  if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.altKey || event.metaKey) return;
  const n = completion?.choices.length ?? 0;
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp': {
      const beyond = event.key === 'ArrowUp' ? input.value.slice(0, input.selectionStart) : input.value.slice(input.selectionEnd);
      if (!n && !asking && beyond.includes('\n')) return; // to another line
      event.preventDefault();
      if (n) choose((at + (event.key === 'ArrowDown' ? 1 : at < 0 ? 0 : -1) + n) % n);
      else if (asking) wanted = event.key;
      else recallSent(event.key === 'ArrowUp' ? 1 : -1);
      break;
    }
    case 'Tab':
      if (event.shiftKey || !n && !asking) return;
      event.preventDefault();
      if (n) accept(Math.max(at, 0)); else wanted = 'Tab';
      break;
    case 'Escape':
      closeList();
  }
};

function recallSent(step) {
  const to = back + step;
  if (to < 0 || to > past.length) return;
  back = to;
  write(back ? past[past.length - back] : '');
}

// suggest asks what the text up to the caret may go on with.
async function suggest() {
  asking?.abort();
  wanted = '';
  const text = input.value.slice(0, input.selectionStart);
  if (!text.startsWith('/')) return closeList();
  const mine = asking = new AbortController();
  let c = null;
  try {
    const answer = await fetch('/suggest?' + new URLSearchParams({ seat: mySeat(), text }), { signal: mine.signal });
    if (answer.ok) c = await answer.json();
  } catch { /* typing goes on without */ }
  if (asking !== mine) return; // it has gone on meanwhile
  asking = null;
  if (!c) return closeList();
  openList(c);
  if (!wanted || !c.choices.length) return;
  if (wanted === 'Tab') accept(0);
  else choose(wanted === 'ArrowDown' ? 0 : c.choices.length - 1);
}

function openList(c) {
  completion = c;
  choose(-1);
  list.replaceChildren(...c.choices.map((choice, i) => {
    const option = make('li', { id: 'choice-' + i, role: 'option', ariaSelected: 'false' },
      make('b', { textContent: choice.value.trim() }), choice.hint ? make('span', { textContent: choice.hint }) : null);
    option.onpointerdown = (event) => event.preventDefault(); // the box keeps the focus
    option.onclick = () => accept(i);
    return option;
  }));
  list.hidden = !c.choices.length;
  list.scrollTop = 0;
  const n = c.choices.length;
  tell([c.hint, n ? t('Suggestions: {0}', n) : ''].filter(Boolean).join(' · '));
}

function closeList() {
  asking?.abort();
  asking = null;
  completion = null;
  choose(-1);
  list.hidden = true;
}

// choose marks a choice; -1 is none.
function choose(i) {
  list.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
  at = i;
  if (i < 0) return input.removeAttribute('aria-activedescendant');
  const option = list.children[i];
  option.setAttribute('aria-selected', 'true');
  option.scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', option.id);
}

function accept(i) {
  const caret = input.selectionStart;
  const head = input.value.slice(0, caret - completion.replace.length) + completion.choices[i].value;
  write(head + input.value.slice(caret));
  input.setSelectionRange(head.length, head.length);
  closeList();
  input.focus();
  if (/[ :]$/.test(head)) suggest(); else tell('');
}

// ---- How to play ------------------------------------------------------------

const guide = $('guide'), wide = matchMedia('(min-width: 64rem)');

function showGuide(open) {
  guide.hidden = !open;
  document.querySelector('main').inert = open && !wide.matches; // it lies behind
  $('guide-button').setAttribute('aria-expanded', String(open));
}

// welcome shows the guide to whoever comes into an empty room; on a narrow
// page it makes way for the first message.
function welcome() {
  if (loading) return;
  const empty = !log.childElementCount;
  $('empty').hidden = !empty;
  if (empty) showGuide(true);
  else if (!wide.matches) showGuide(false);
}

wide.onchange = () => showGuide(wide.matches ? recall('guide') !== 'closed' : !log.childElementCount);

$('guide-button').onclick = () => {
  showGuide(guide.hidden);
  if (wide.matches) remember('guide', guide.hidden ? 'closed' : 'open');
  if (!guide.hidden) $('guide-close').focus();
};

$('guide-close').onclick = () => {
  showGuide(false);
  if (wide.matches) remember('guide', 'closed');
  $('guide-button').focus();
};

guide.onclick = (event) => {
  const example = event.target.closest('.example');
  if (!example) return;
  put(example.textContent);
  if (!wide.matches) showGuide(false);
  tell(t('Press Enter to send it.'));
};

// ---- Beginning --------------------------------------------------------------

seat.onchange = () => {
  seatChanged();
  if (seat.value === 'name') ownName.focus();
};
ownName.onchange = seatChanged;
follow.onchange = () => { remember('follow', follow.checked ? 'yes' : 'no'); followTurn(); };
$('move-over').onclick = () => { sit(due[0]); refocus(); };
$('newest').onclick = () => { toEnd(); refocus(); };
scroller.onscroll = () => {
  stays = follows();
  if (stays) $('newest').hidden = true;
};

try {
  const last = JSON.parse(recall('words'));
  if (last) speak(last.lang, last.words);
} catch { /* the room says them */ }
ownName.value = recall('name') ?? '';
follow.checked = recall('follow') === 'yes';
if ([...seat.options].some((o) => o.value === recall('seat'))) seat.value = recall('seat');
showGuide(wide.matches && recall('guide') !== 'closed');
seatChanged();
