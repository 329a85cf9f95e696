"""A stranger: matrix-nio, a client that nobody here wrote, whose cryptography is
libolm. It speaks as js/script.mjs does: it is told what to do in lines of JSON on
standard input, {"id":1,"do":"say",...}, and answers {"answer":1,...} or
{"answer":1,"error":"..."} on standard output. Of everything that it sees it says
{"what":"event","event":{...}}, again when it sees it otherwise: decrypted, edited.

Environment: MATRIXTEST_URL, MATRIXTEST_USER, MATRIXTEST_PASSWORD, and
MATRIXTEST_FILES, a folder where files are left under their SHA-256.
"""

import asyncio
import hashlib
import json
import os
import sys
import tempfile
import traceback

import logbook
from nio import AsyncClient, AsyncClientConfig, MegolmEvent, SyncResponse
from nio.crypto.attachments import decrypt_attachment
from nio.log import logger_group

folder = os.environ["MATRIXTEST_FILES"]
logger_group.level = logbook.WARNING
logbook.StreamHandler(sys.stderr).push_application()


def write(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Stranger:
    def __init__(self, store):
        self.client = AsyncClient(
            os.environ["MATRIXTEST_URL"],
            os.environ["MATRIXTEST_USER"],
            store_path=store,
            config=AsyncClientConfig(encryption_enabled=True, store_sync_tokens=False),
        )
        self.changed = asyncio.Condition()
        self.sights = {}  # by event
        self.edits = {}  # the contents of edits, by the event that they change
        self.dark = {}  # events that could not be decrypted yet
        self.media = {}
        self.member = {}

    async def synced(self, answer):
        if not isinstance(answer, SyncResponse):
            return
        for room in answer.rooms.invite:
            self.joins(room, "invite")
        for room, news in answer.rooms.join.items():
            self.joins(room, "join")
            for event in (*news.state, *news.timeline.events):
                await self.seen(room, event)
        for event in list(self.dark.values()):  # keys may come after what they open
            await self.seen(event.room_id, event)
        async with self.changed:
            self.changed.notify_all()

    def joins(self, room, membership):
        if self.member.get(room) != membership:
            self.member[room] = membership
            write({"what": "membership", "room": room, "membership": membership})

    async def seen(self, room, event):
        wire, failure = event.source, ""
        if isinstance(event, MegolmEvent):
            event.room_id = room
            wire = self.dark.setdefault(event.event_id, event).source
            try:
                event = self.client.decrypt_event(event)
                del self.dark[event.event_id]
            except Exception as error:
                failure = str(error) or "not decrypted"
        source = event.source
        content = source.get("content", {})
        relation = content.get("m.relates_to") or {}
        sight = {
            "id": source.get("event_id", ""),
            "room": room,
            "sender": source.get("sender", ""),
            "type": source.get("type", ""),
            "stateKey": source.get("state_key"),
            "content": content,
            "encrypted": failure != "" or getattr(event, "decrypted", False),
            "failure": failure,
            "key": relation.get("key", ""),
            "thread": relation.get("event_id", "") if relation.get("rel_type") == "m.thread" else "",
            "clear": sorted(wire.get("content", {})) if failure else [],
        }
        if not sight["id"] or self.sights.get(sight["id"], {"failure": "new"})["failure"] == "" or (failure and sight["id"] in self.sights):
            return
        if getattr(event, "decrypted", False):
            devices = self.client.device_store.active_user_devices(event.sender)
            sight["device"] = next((device.id for device in devices if device.curve25519 == event.sender_key), "")
        if relation.get("rel_type") == "m.replace" and not failure:
            self.edits[relation["event_id"]] = content.get("m.new_content", {})
            if relation["event_id"] in self.sights:
                await self.tell(self.sights[relation["event_id"]])
        self.sights[sight["id"]] = sight
        await self.tell(sight)

    async def tell(self, sight):
        if sight["id"] in self.edits:
            sight["content"] = self.edits[sight["id"]]
        content = sight["content"]
        if content.get("msgtype") in ("m.image", "m.file"):
            sight["media"] = await self.fetched(content)
        write({"what": "event", "event": sight})

    async def fetched(self, content):
        """fetched fetches a file once and takes off its encryption."""
        file = content.get("file")
        url = (file or content)["url"]
        if url not in self.media:
            try:
                self.media[url] = {"encrypted": bool(file), "sha256": await self.fetch(url, file)}
            except Exception as error:
                return {"encrypted": bool(file), "error": str(error) or repr(error)}
        return self.media[url]

    async def fetch(self, url, file):
        where = url.removeprefix("mxc://")
        answer = await self.client.send(
            "GET", "/_matrix/client/v1/media/download/" + where, headers={"Authorization": "Bearer " + self.client.access_token}
        )
        if answer.status != 200:
            raise Exception(f"{url}: {answer.status}")
        data = await answer.read()
        if file:
            data = decrypt_attachment(data, file["key"]["k"], file["hashes"]["sha256"], file["iv"])
        name = hashlib.sha256(data).hexdigest()
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        return name

    async def until(self, what, holds):
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(holds), 120)

    async def start(self, ask):
        answer = await self.client.login(os.environ["MATRIXTEST_PASSWORD"], "matrix-nio")
        if not self.client.logged_in:
            raise Exception(str(answer))
        if self.client.should_upload_keys:  # before anybody encrypts for this device
            await self.client.keys_upload()
        self.client.add_response_callback(self.synced)
        self.syncing = asyncio.create_task(self.client.sync_forever(timeout=30000, full_state=True))
        self.syncing.add_done_callback(lambda task: write({"what": "error", "error": repr(task.exception())}) if not task.cancelled() else None)
        await self.client.synced.wait()
        return {"user": self.client.user_id, "device": self.client.device_id}

    async def join(self, ask):
        room = ask["room"]
        await self.client.join(room)
        await self.until("the room", lambda: self.member.get(room) == "join" and room in self.client.rooms)
        return {}

    async def room(self, ask):
        state = []
        if ask["encrypted"]:
            state = [{"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}]
        made = await self.client.room_create(name=ask["name"], invite=ask["invite"], initial_state=state)
        await self.until("the room", lambda: made.room_id in self.client.rooms and self.client.rooms[made.room_id].encrypted == ask["encrypted"])
        return {"room": made.room_id}

    async def say(self, ask):
        mentions = {"user_ids": ask["mentions"]} if ask.get("mentions") else {}
        content = {"msgtype": "m.text", "body": ask["body"], "m.mentions": mentions}
        if ask.get("thread"):
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": ask["thread"], "is_falling_back": True, "m.in_reply_to": {"event_id": ask["thread"]}}
        return await self.send(ask["room"], "m.room.message", content)

    async def react(self, ask):
        return await self.send(ask["room"], "m.reaction", {"m.relates_to": {"rel_type": "m.annotation", "event_id": ask["event"], "key": ask["key"]}})

    async def send(self, room, kind, content):
        answer = await self.client.room_send(room, kind, content, ignore_unverified_devices=True)
        if not getattr(answer, "event_id", None):
            raise Exception(str(answer))
        return {"event": answer.event_id}

    async def look(self, ask):
        for sight in list(self.sights.values()):
            if sight["room"] == ask["room"]:
                await self.tell(sight)
        return {}


async def main():
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    with tempfile.TemporaryDirectory() as store:
        stranger = Stranger(store)
        acts = {name: getattr(stranger, name) for name in ("start", "room", "join", "say", "react", "look")}
        while line := await lines.readline():
            ask = json.loads(line)
            try:
                write({"answer": ask["id"], **await acts[ask["do"]](ask)})
            except Exception:
                write({"answer": ask["id"], "error": traceback.format_exc()})
        if hasattr(stranger, "syncing"):
            stranger.syncing.cancel()
        await stranger.client.close()


asyncio.run(main())
