// A stranger: matrix-js-sdk, a client that nobody here wrote, with its own
// cryptography in Rust. It is told what to do in lines of JSON on standard
// input, {"id":1,"do":"say",…}, and answers {"answer":1,…} or
// {"answer":1,"error":"…"} on standard output. Of everything that it sees it
// says {"what":"event","event":{…}}, again when it sees it otherwise: decrypted,
// edited, redacted.
//
// Environment: MATRIXTEST_URL, MATRIXTEST_USER, MATRIXTEST_PASSWORD, and
// MATRIXTEST_FILES, a folder where files are left under their SHA-256.

import { Console } from "node:console";
import { createHash, webcrypto } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

// Libraries write on the console; standard output is for answers alone.
globalThis.console = new Console(process.stderr, process.stderr);
await import("fake-indexeddb/auto");
const sdk = await import("matrix-js-sdk");

const { MATRIXTEST_URL: baseUrl, MATRIXTEST_USER: user, MATRIXTEST_PASSWORD: password, MATRIXTEST_FILES: folder } = process.env;

const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");
process.on("unhandledRejection", (error) => console.error("unhandled", error));

const shields = ["none", "grey", "red"];
const reasons = [
    "unknown", "unverified identity", "unsigned device", "unknown device",
    "authenticity not guaranteed", "mismatched sender key", "sent in clear", "verification violation",
];

let client, crypto;

async function start({ unsigned }) {
    const door = sdk.createClient({ baseUrl });
    const login = await door.loginRequest({
        type: "m.login.password",
        identifier: { type: "m.id.user", user },
        password,
        initial_device_display_name: "stranger",
    });
    client = sdk.createClient({
        // Without a queue: that of the SDK forgets what waits behind a message whose
        // echo came before the homeserver's answer.
        scheduler: new sdk.MatrixScheduler(undefined, () => null),
        baseUrl,
        userId: login.user_id,
        accessToken: login.access_token,
        deviceId: login.device_id,
    });
    await client.initRustCrypto();
    crypto = client.getCrypto();
    if (!unsigned) await crypto.bootstrapCrossSigning({
        setupNewCrossSigning: true,
        authUploadDeviceSigningKeys: async (request) => {
            try {
                await request(null);
            } catch (error) {
                if (error.httpStatus !== 401) throw error;
                const identifier = { type: "m.id.user", user };
                await request({ type: "m.login.password", identifier, password, session: error.data.session });
            }
        },
    });
    const see = (event) => void seen(event);
    client.on(sdk.ClientEvent.Event, see);
    client.on(sdk.RoomEvent.Timeline, see);
    client.on(sdk.RoomEvent.LocalEchoUpdated, see);
    client.on(sdk.MatrixEventEvent.Decrypted, see);
    client.on(sdk.MatrixEventEvent.Replaced, see);
    client.on(sdk.RoomEvent.Redaction, (event, room) => {
        const target = room?.findEventById(event.event.redacts ?? event.getContent().redacts);
        if (target) see(target);
    });
    client.on(sdk.RoomEvent.MyMembership, (room, membership) => write({ what: "membership", room: room.roomId, membership }));
    const ready = new Promise((resolve) => {
        client.on(sdk.ClientEvent.Sync, (state) => state === "PREPARED" && resolve());
    });
    await client.startClient({ initialSyncLimit: 100, threadSupport: true });
    await ready;
    return { user: login.user_id, device: login.device_id, crypto: crypto.getVersion() };
}

// Events by their ID, and what is being found out about each.
const events = new Map();
const work = new Map();

// seen looks at an event, after what looks at it already.
function seen(event) {
    const id = event.getId();
    const room = event.getRoomId();
    if (!room || !id?.startsWith("$")) return;
    if (!events.has(id) || client.getRoom(room)?.findEventById(id) === event) events.set(id, event);
    const next = (work.get(id) ?? Promise.resolve())
        .then(() => look(id))
        .then((sight) => write({ what: "event", event: sight }))
        .catch((error) => write({ what: "error", error: String(error.stack ?? error) }));
    work.set(id, next);
    return next;
}

async function look(id) {
    // The timeline has its own copy of what came by /sync: that one is edited.
    let event = events.get(id);
    event = client.getRoom(event.getRoomId())?.findEventById(id) ?? event;
    await client.decryptEventIfNeeded(event);
    if (event.isBeingDecrypted()) await event.getDecryptionPromise();
    const dark = event.isEncrypted() && !event.isRedacted() && (event.isDecryptionFailure() || event.getType() === "m.room.encrypted");
    const content = event.getContent();
    const relation = event.getWireContent()["m.relates_to"] ?? {};
    const sight = {
        id,
        room: event.getRoomId(),
        sender: event.getSender(),
        type: event.getType(),
        stateKey: event.getStateKey(),
        content,
        encrypted: event.isEncrypted(),
        failure: dark ? event.decryptionFailureReason ?? "not decrypted" : "",
        key: relation.key ?? "",
        thread: event.isThreadRoot ? "" : event.threadRootId ?? "",
        clear: Object.keys(event.event.content ?? {}).sort(),
        ...(dark ? {} : await trust(event)),
    };
    if (["m.image", "m.file"].includes(content.msgtype)) sight.media = await media(content);
    return sight;
}

// trust is what a client shows beside an encrypted event, and whether its
// device is signed by its owner.
async function trust(event) {
    if (!event.isEncrypted() || event.isRedacted()) return {};
    const info = await crypto.getEncryptionInfoForEvent(event);
    const sight = { shield: shields[info?.shieldColour] ?? "?", shieldReason: reasons[info?.shieldReason] ?? "" };
    const sender = event.getSender();
    const devices = (await crypto.getUserDeviceInfo([sender], true)).get(sender);
    for (const device of devices?.values() ?? []) {
        if (device.getIdentityKey() !== event.getSenderKey()) continue;
        const status = await crypto.getDeviceVerificationStatus(sender, device.deviceId);
        sight.device = device.deviceId;
        sight.signedByOwner = !!status?.signedByOwner;
    }
    return sight;
}

const fetched = new Map();

// media fetches a file once, over the endpoint that asks who one is, and
// takes off its encryption as the specification says.
async function media(content) {
    const url = content.file?.url ?? content.url;
    if (!fetched.has(url)) fetched.set(url, fetchMedia(url, content.file));
    try {
        return { encrypted: !!content.file, ...(await fetched.get(url)) };
    } catch (error) {
        fetched.delete(url);
        return { encrypted: !!content.file, error: String(error.message ?? error) };
    }
}

async function fetchMedia(mxc, file) {
    const url = client.mxcUrlToHttp(mxc, undefined, undefined, undefined, false, true, true);
    if (!url) throw new Error(`no media at ${mxc}`);
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${client.getAccessToken()}` } });
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    let data = Buffer.from(await answer.arrayBuffer());
    if (file) data = await decrypt(data, file);
    const sha256 = createHash("sha256").update(data).digest("hex");
    await writeFile(join(folder, sha256), data);
    return { sha256 };
}

async function decrypt(data, file) {
    if (file.v !== "v2") throw new Error(`encryption of version ${file.v}`);
    const hash = createHash("sha256").update(data).digest("base64").replace(/=+$/, "");
    if (hash !== file.hashes?.sha256?.replace(/=+$/, "")) throw new Error("the hash of the encrypted file is another");
    const key = await webcrypto.subtle.importKey("jwk", file.key, { name: "AES-CTR" }, false, ["decrypt"]);
    const counter = Buffer.from(file.iv, "base64");
    return Buffer.from(await webcrypto.subtle.decrypt({ name: "AES-CTR", counter, length: 64 }, key, data));
}

// until waits until something holds.
async function until(what, holds) {
    for (let late = Date.now() + 120_000; !holds(); ) {
        if (Date.now() > late) throw new Error(`${what} has not come`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
}

const joined = (id) => client.getRoom(id)?.getMyMembership() === "join";

function words(ask) {
    return { msgtype: "m.text", body: ask.body, "m.mentions": ask.mentions?.length ? { user_ids: ask.mentions } : {} };
}

// send sends an event. When its echo comes before the answer of the homeserver
// and the answer is late or lost, the SDK takes for failed what was sent.
async function send(room, thread, type, content) {
    const transaction = client.makeTxnId();
    try {
        return { event: (await client.sendEvent(room, thread || null, type, content, transaction)).event_id };
    } catch (error) {
        const echo = () => [...events.values()].find((event) => event.getUnsigned().transaction_id === transaction || event.getTxnId() === transaction);
        if (/local echo/.test(String(error))) await until("the echo", echo);
        if (echo()) return { event: echo().getId() };
        throw error;
    }
}

const acts = {
    start,
    async room({ name, encrypted, public: open, invite }) {
        const { room_id: room } = await client.createRoom({
            name,
            preset: open ? "public_chat" : "private_chat",
            invite,
            initial_state: encrypted
                ? [{ type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }]
                : [],
        });
        await until("the room", () => joined(room) && client.getRoom(room).hasEncryptionStateEvent() === !!encrypted);
        return { room };
    },
    async join({ room }) {
        await client.joinRoom(room);
        await until("the room", () => joined(room) && client.getRoom(room).currentState.getStateEvents("m.room.create", ""));
        return {};
    },
    async say(ask) {
        return send(ask.room, ask.thread, "m.room.message", words(ask));
    },
    // show sends the picture in a file, encrypted where the room is.
    async show({ room, file }) {
        let data = await readFile(file);
        const info = { mimetype: "image/png", size: data.length, w: data.readUInt32BE(16), h: data.readUInt32BE(20) };
        const content = { msgtype: "m.image", body: "board.png", info, "m.mentions": {} };
        if (client.getRoom(room).hasEncryptionStateEvent()) {
            const iv = Buffer.concat([webcrypto.getRandomValues(Buffer.alloc(8)), Buffer.alloc(8)]);
            const algorithm = { name: "AES-CTR", length: 256 };
            const key = await webcrypto.subtle.generateKey(algorithm, true, ["encrypt", "decrypt"]);
            data = Buffer.from(await webcrypto.subtle.encrypt({ name: "AES-CTR", counter: iv, length: 64 }, key, data));
            const hash = createHash("sha256").update(data).digest("base64").replace(/=+$/, "");
            content.file = { v: "v2", key: await webcrypto.subtle.exportKey("jwk", key), iv: iv.toString("base64").replace(/=+$/, ""), hashes: { sha256: hash } };
        }
        const type = content.file ? "application/octet-stream" : "image/png";
        const { content_uri: url } = await client.uploadContent(data, { type, includeFilename: false });
        if (content.file) content.file.url = url;
        else content.url = url;
        return send(room, null, "m.room.message", content);
    },
    async react({ room, event, key }) {
        const content = { "m.relates_to": { rel_type: "m.annotation", event_id: event, key } };
        return send(room, null, "m.reaction", content);
    },
    // verify asks somebody to verify by emoji, in a room or from device to device, and
    // answers with the code with which the other side cancels.
    async verify({ room, user: other, device }) {
        if (room) await crypto.userHasCrossSigningKeys(other, true); // asks for the keys if they are not known yet
        const request = room ? await crypto.requestVerificationDM(other, room) : await crypto.requestDeviceVerification(other, device);
        await until("an answer", () => request.phase >= 3);
        return { cancelled: request.cancellationCode };
    },
    // look looks once more at everything of a room.
    async look({ room }) {
        for (const [id, event] of events) {
            if (event.getRoomId() === room) await seen(client.getRoom(room)?.findEventById(id) ?? event);
        }
        return {};
    },
};

let turn = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
    const ask = JSON.parse(line);
    turn = turn
        .then(() => acts[ask.do](ask))
        .then((answer) => write({ answer: ask.id, ...answer }))
        .catch((error) => write({ answer: ask.id, error: String(error.stack ?? error) }));
}
await turn;
client?.stopClient();
process.exit(0);
