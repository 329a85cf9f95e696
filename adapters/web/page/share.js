// One stream of events for all tabs of a browser that follow the same. The tab with a lock, the
// leader, has the stream and passes on what arrives. When it closes, freezes or sleeps, another
// takes the lock. A tab keeps a stream of its own until the leader has said that it has come as
// far, so nothing is missed and nothing depends on a leader that does not answer. Where there
// are no locks, each tab keeps its stream.
//
// In the room, the tabs in one seat share a stream, which has what is for that seat alone. The
// pages of games share others, each as many as a stream may follow: a stream for each game would
// cost a connection for each, and browsers open only six to a server without HTTPS.

/** Milliseconds without an event after which a stream is opened anew: three beats of the server. */
const BROKEN = 45_000;

/** And those without a word from the leader after which another tab takes its lock. */
const asleep = () => 60_000 + 30_000 * Math.random(); // not all tabs at once

/**
 * What a tab follows.
 * @typedef {object} Following
 * @property {string} [name] under which it is shared from the start; else when share is called
 * @property {string[]} kinds of events
 * @property {() => string} address of the stream, from where the tab has come to
 * @property {(kind: string, data: string) => void} take an event; one of the kind "down" says
 *   that the server does not answer, with data if it has refused
 * @property {() => any} place where the tab has come to, for others
 * @property {(place: any) => boolean} behind whether the leader, who is there, has what this tab has not
 * @property {() => any} [wants] what the leader is asked for
 * @property {(wanted: any) => boolean} [add] takes that into the address; whether it was new
 * @property {(wanted: any) => void} [drop] takes it out again
 * @property {(place: any, name: string) => string} [instead] the name to share under instead of
 *   one, if its leader has no room for this tab; else empty
 * @property {() => number} retry milliseconds after which a stream that was refused is tried again
 */

export class Shared {
  #on; #browser;
  #source = null; // the stream of this tab
  #name = "";
  #channel = null; // to the other tabs
  #leads = false;
  #place; // where the leader had come to; undefined: no leader has said
  #kept = []; // what it has passed on since, while this tab catches up
  #queue = null; // ends the wait for the lock
  #release = null; // gives the lock away
  #opening = 0; // timer: opens the stream anew
  #taking = 0; // timer: takes the lock
  #life = new AbortController();

  /** @param {Following} following */
  constructor(following, browser = globalThis) {
    this.#on = following;
    this.#browser = browser;
    const { signal } = this.#life;
    let away = false;
    const leave = () => { away = true; this.#stop(); };
    const back = () => { if (away) this.#start(); away = false; };
    browser.document?.addEventListener("freeze", leave, { signal });
    browser.document?.addEventListener("resume", back, { signal });
    browser.addEventListener?.("pagehide", leave, { signal });
    browser.addEventListener?.("pageshow", back, { signal });
    this.#start();
  }

  /** Ends it in this tab. */
  close() {
    this.#life.abort();
    this.#stop();
  }

  /** Shares the stream under a name, and no other; under an empty one, with nobody. */
  share(name) {
    if (name === this.#name) return;
    this.#part();
    const { navigator, BroadcastChannel } = this.#browser;
    if (!name || !navigator?.locks || !BroadcastChannel) return;
    this.#name = name;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#await();
    this.#join();
    this.#listen();
  }

  #start() {
    this.#open();
    if (this.#on.name) this.share(this.#on.name);
  }

  #stop() {
    this.#tell({ leaves: true, wants: this.#on.wants?.() });
    this.#part();
    this.#shut();
  }

  /** Leaves the other tabs. */
  #part() {
    this.#queue?.abort();
    this.#release?.();
    this.#channel?.close();
    this.#browser.clearTimeout(this.#taking);
    this.#queue = this.#release = this.#channel = null;
    this.#name = "";
    this.#leads = false;
    this.#place = undefined;
    this.#kept = [];
  }

  /** Waits for the lock, or takes it from a leader that sleeps. */
  async #await(steal = false) {
    this.#queue?.abort();
    const wait = this.#queue = new AbortController();
    const mine = () => this.#queue === wait;
    try {
      await this.#browser.navigator.locks.request(this.#name, steal ? { steal } : { signal: wait.signal }, () => mine() && new Promise((release) => {
        this.#release = release;
        this.#lead();
      }));
    } catch {
      // given up, or taken by another
    }
    if (!mine()) return;
    if (this.#leads) { // another tab has taken the lock: this one may have slept
      this.#leads = false;
      this.#open();
    } else if (!steal) {
      return; // there are no locks for this page
    } // else another took it in the same moment
    this.#await();
    this.#listen();
  }

  #lead() {
    this.#leads = true;
    this.#browser.clearTimeout(this.#taking);
    this.#place = undefined; // that of the leader before: the next says how far it has come
    this.#kept = [];
    if (!this.#source) this.#open();
    this.#tell({ place: this.#on.place() });
  }

  /** Opens a stream from where this tab has come to. */
  #open() {
    this.#shut();
    const s = this.#source = new this.#browser.EventSource(this.#on.address());
    for (const kind of this.#on.kinds) {
      s.addEventListener(kind, ({ data }) => {
        if (s !== this.#source) return;
        this.#reopen(BROKEN);
        this.#arrived(kind, data);
      });
    }
    s.onerror = () => {
      if (s !== this.#source) return;
      const refused = s.readyState === 2; // else the browser tries again
      if (refused) this.#reopen(this.#on.retry());
      this.#arrived("down", refused ? "refused" : "");
    };
    this.#reopen(BROKEN);
    if (!this.#leads) this.#join();
  }

  #reopen(after) {
    this.#browser.clearTimeout(this.#opening);
    this.#opening = this.#browser.setTimeout(() => this.#open(), after);
  }

  #shut() {
    this.#browser.clearTimeout(this.#opening);
    this.#source?.close();
    this.#source = null;
  }

  #arrived(kind, data) {
    this.#on.take(kind, data); // and may share it with others now
    if (this.#leads) this.#tell({ kind, data });
    this.#settle();
  }

  /** Leaves the stream to the leader, if that has all that this tab needs. */
  #settle() {
    if (this.#leads || this.#place === undefined || !this.#source || this.#on.behind(this.#place)) return;
    this.#shut();
    for (const { kind, data } of this.#kept.splice(0)) this.#on.take(kind, data);
  }

  #tell(message) {
    this.#channel?.postMessage(message);
  }

  /** Asks the leader where it is. */
  #join() {
    this.#tell({ joins: true, wants: this.#on.wants?.() });
  }

  /** Takes the lock if no word of the leader comes. */
  #listen() {
    this.#browser.clearTimeout(this.#taking);
    if (!this.#leads) this.#taking = this.#browser.setTimeout(() => this.#await(true), asleep());
  }

  /** Hears another tab. */
  #hear(m) {
    if (this.#leads) {
      if (m.leaves) this.#on.drop?.(m.wants);
      else if (m.joins && this.#on.add?.(m.wants)) this.#open();
      if (m.joins || m.leaves) this.#tell({ place: this.#on.place() });
      return;
    }
    if (m.joins || m.leaves) return;
    this.#listen();
    if ("place" in m) {
      this.#place = m.place;
      this.#kept = [];
      if (!this.#source && this.#on.behind(m.place)) this.#open();
      const instead = this.#on.instead?.(m.place, this.#name);
      if (instead) {
        this.share(instead);
        return;
      }
      this.#settle();
    } else if (!this.#source) {
      this.#on.take(m.kind, m.data);
    } else if (this.#place !== undefined) {
      this.#kept.push(m);
    }
  }
}
