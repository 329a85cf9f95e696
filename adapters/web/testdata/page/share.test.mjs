// One stream for all tabs of a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { following } from '../../page/follow.js';
import { Shared } from '../../page/share.js';

// A room is a server with numbered messages, and a browser with tabs. Everything that tabs say
// to each other arrives when settle is called, in order.
class Room {
  log = []; streams = []; tabs = []; locks = new Map(); post = []; opened = 0;

  say() {
    this.log.push(this.log.length + 1);
    for (const s of this.streams) s.catchUp();
  }

  /** Lets arrive what is under way. */
  async settle() {
    for (let i = 0; i < 20; i++) {
      await null;
      for (const deliver of this.post.splice(0)) deliver();
    }
  }

  live() { return this.streams.length; }

  tab(options) { return new Tab(this, options); }
}

class Tab {
  has = []; timers = new Map(); events = new EventTarget(); asleep = false;

  constructor(room, { whose = 'ada', locks = true, game } = {}) {
    const tab = this;
    Object.assign(this, { room, whose });
    const browser = {
      document: this.events,
      addEventListener: (...a) => this.events.addEventListener(...a),
      setTimeout: (f, ms) => { const t = {}; this.timers.set(t, [f, ms]); return t; },
      clearTimeout: (t) => this.timers.delete(t),
      EventSource: class extends EventTarget {
        constructor(address) {
          super();
          this.at = Number(address);
          room.opened++;
          room.streams.push(this);
          room.post.push(() => { this.catchUp(); this.emit('ready', tab.whose); });
        }
        emit(type, data) { if (room.streams.includes(this)) this.dispatchEvent(Object.assign(new Event(type), { data })); }
        catchUp() { if (!tab.asleep) while (this.at < room.log.length) this.emit('message', String(++this.at)); }
        close() { room.streams = room.streams.filter((s) => s !== this); }
      },
      BroadcastChannel: class {
        constructor(name) { this.name = name; room.tabs.push(this); }
        postMessage(m) {
          const copy = structuredClone(m);
          for (const c of room.tabs) if (c !== this && c.name === this.name) room.post.push(() => room.tabs.includes(c) && c.onmessage({ data: copy }));
        }
        close() { room.tabs = room.tabs.filter((c) => c !== this); }
      },
      navigator: locks ? { locks: { request: (name, { steal, signal }, granted) => new Promise((done, fail) => {
        const lock = room.locks.get(name) ?? { held: null, waiting: [] };
        room.locks.set(name, lock);
        const give = (to) => {
          lock.held = to;
          room.post.push(() => Promise.resolve(to.granted()).then(() => {
            if (lock.held === to) { lock.held = null; if (lock.waiting.length) give(lock.waiting.shift()); }
            to.done();
          }));
        };
        const me = { granted, done, fail };
        if (steal) { lock.held?.fail(new Error('stolen')); give(me); }
        else if (!lock.held) give(me);
        else lock.waiting.push(me);
        signal?.addEventListener('abort', () => { lock.waiting = lock.waiting.filter((w) => w !== me); fail(new Error('aborted')); });
      }) } } : {},
    };
    this.shared = new Shared(game ? following(game, () => {}, () => {}) : {
      kinds: ['message', 'ready', 'beat'],
      address: () => String(this.last),
      take: (kind, data) => {
        if (kind === 'ready') this.shared.share(data);
        if (kind === 'message' && !this.has.includes(Number(data))) this.has.push(Number(data));
      },
      place: () => this.last,
      behind: (place) => this.last < place,
      retry: () => 1,
    }, browser);
  }

  get last() { return this.has.at(-1) ?? 0; }

  /** Lets time pass that is longer than any patience of this tab. */
  wait() { for (const [t, [f]] of [...this.timers]) if (this.timers.delete(t)) f(); }

  event(type) { this.events.dispatchEvent(new Event(type)); }
}

async function open(room, ...options) {
  const tabs = [];
  for (const o of options) {
    tabs.push(room.tab(o));
    await room.settle();
  }
  return tabs;
}

const all = (tabs) => tabs.map((t) => t.has.join(''));

test('tabs share one stream, and each has all messages in order', async () => {
  const room = new Room();
  room.say();
  const tabs = await open(room, {}, {}, {});
  assert.equal(room.live(), 1);
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs), ['12', '12', '12']);
});

test('another takes over from a leader that is closed, and nothing is missed', async () => {
  const room = new Room();
  const tabs = await open(room, {}, {}, {});
  tabs[0].shared.close();
  room.say();
  await room.settle();
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs.slice(1)), ['12', '12']);
  assert.equal(room.live(), 1);
});

test('what the last leader had not passed on, a tab that is behind gets for itself', async () => {
  const room = new Room();
  const [first, second, third] = await open(room, {}, {}, {});
  room.say();
  const lost = room.post.splice(0).at(-1); // the third tab does not hear of it
  assert.ok(lost);
  second.has.push(1); // and the second did
  first.shared.close();
  await room.settle();
  assert.deepEqual(all([second, third]), ['1', '1']);
  room.say();
  await room.settle();
  assert.deepEqual(all([second, third]), ['12', '12']);
  assert.equal(room.live(), 1);
});

test('a leader that freezes lets another lead, and catches up when it is back', async () => {
  const room = new Room();
  const tabs = await open(room, {}, {});
  for (const [away, back] of [['freeze', 'resume'], ['pagehide', 'pageshow']]) {
    const n = room.log.length;
    tabs[0].event(away);
    room.say();
    await room.settle();
    assert.deepEqual(tabs.map((t) => t.last), [n, n + 1]);
    tabs[0].event(back);
    await room.settle();
    assert.equal(tabs[0].last, n + 1);
    assert.equal(room.live(), 1);
    tabs.reverse();
  }
});

test('a leader that sleeps loses its lock, and follows when it wakes', async () => {
  const room = new Room();
  const [first, second] = await open(room, {}, {});
  first.asleep = true;
  room.say();
  await room.settle();
  assert.deepEqual(all([first, second]), ['', '']);
  second.wait();
  await room.settle();
  assert.equal(second.last, 1);
  first.asleep = false;
  await room.settle();
  room.say();
  await room.settle();
  assert.deepEqual(all([first, second]), ['12', '12']);
  assert.equal(room.live(), 1);
});

test('a leader that does not answer leaves a new tab its own stream', async () => {
  const room = new Room();
  const [first] = await open(room, {});
  room.tabs = room.tabs.filter((c) => c.onmessage === null); // it hears nothing
  const [second] = await open(room, {});
  room.say();
  await room.settle();
  assert.deepEqual(all([first, second]), ['1', '1']);
  assert.equal(room.live(), 2);
});

test('nobody hears what is for somebody else', async () => {
  const room = new Room();
  const [ada, ben, nobody] = await open(room, { whose: 'ada' }, { whose: 'ben' }, { whose: '' });
  assert.equal(room.live(), 3);
  const heard = room.tabs.map((c) => c.name);
  assert.deepEqual(heard, ['ada', 'ben']);
  for (const s of room.streams.slice(1)) s.close(); // ben and nobody hear only other tabs
  room.say();
  await room.settle();
  assert.deepEqual(all([ada, ben, nobody]), ['1', '', '']);
});

test('when somebody signs out, their tabs share nothing of before', async () => {
  const room = new Room();
  const tabs = await open(room, {}, {});
  for (const t of tabs) t.whose = 'guest';
  room.streams[0].emit('ready', 'guest'); // as the server says when the stream is back
  await room.settle();
  assert.deepEqual(room.tabs.map((c) => c.name), ['guest', 'guest']);
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs), ['1', '1']);
  assert.equal(room.live(), 1);
});

test('where there are no locks, each tab has a stream', async () => {
  const room = new Room();
  const tabs = await open(room, { locks: false }, { locks: false });
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs), ['1', '1']);
  assert.equal(room.live(), 2);
});

test('a stream of which nothing comes is opened anew', async () => {
  const room = new Room();
  const tabs = await open(room, {}, {});
  room.streams[0].dispatchEvent = () => {}; // the connection is gone, and nobody is told
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs), ['', '']);
  tabs[0].wait();
  await room.settle();
  assert.deepEqual(all(tabs), ['1', '1']);
  assert.equal(room.live(), 1);
});

test('of tabs that take the lock of one that sleeps in the same moment, one leads', async () => {
  const room = new Room();
  const tabs = await open(room, {}, {}, {});
  tabs[0].asleep = true;
  tabs[1].wait();
  tabs[2].wait();
  await room.settle();
  tabs[0].asleep = false;
  await room.settle();
  room.say();
  await room.settle();
  assert.deepEqual(all(tabs), ['1', '1', '1']);
  assert.equal(room.live(), 1);
  for (const leader of [2, 1]) { // when it is closed, the next does at once
    tabs[leader].shared.close();
    await room.settle();
    assert.equal(room.live(), 1);
  }
});

test('a tab that has lost the lock keeps its stream until the next leader speaks', async () => {
  const room = new Room();
  const [first, second, third] = await open(room, {}, {}, {});
  first.shared.close(); // the second leads, and had heard where the first was
  await room.settle();
  third.wait();
  room.tabs = room.tabs.filter((c) => c.onmessage === null); // nobody hears anybody from now on
  await room.settle();
  room.say();
  await room.settle();
  assert.deepEqual(all([second, third]), ['1', '1']);
});

test('the pages of many games share as few streams as hold them', async () => {
  const room = new Room();
  const tabs = [];
  for (let i = 0; i < 40; i++) {
    tabs.push(room.tab({ game: 'g' + i }));
    await room.settle();
  }
  assert.equal(room.live(), 3);
  for (let i = 0; i < 3; i++) {
    for (const e of ['freeze', 'resume']) {
      tabs[20].event(e);
      await room.settle();
    }
  }
  assert.equal(room.live(), 3);
  tabs[0].shared.close();
  await room.settle();
  assert.equal(room.live(), 3);
});

test('the leader follows the games of other tabs, as many as one stream may', () => {
  const heard = [];
  const f = following('a1', (now) => heard.push(now), () => heard.push('refused'));
  assert.deepEqual(['b2', 'b2', 'a1', 'c3'].map(f.add), [true, false, false, true]);
  assert.equal(f.address(), '/g/follow?game=a1&game=b2&game=c3');
  assert.equal(f.behind(['b2', 'a1']), false);
  assert.equal(f.behind(['b2']), true);
  f.drop('b2');
  assert.deepEqual(f.place(), ['a1', 'c3']);
  for (let i = 0; i < 20; i++) f.add('x' + i);
  assert.equal(f.place().length, 16);
  for (const [kind, data] of [['message', 'c3 7'], ['message', 'a1 9'], ['down', ''], ['down', 'refused'], ['gone', 'c3 '], ['gone', 'a1 ']]) f.take(kind, data);
  assert.deepEqual(heard, ['9', 'refused', '']);
});
