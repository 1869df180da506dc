"""An almanac: what happened on which day, kept in one SQLite file.

It uses Python's standard library and nothing else, and knows nothing of Idunn.
PORT, HOST and DATABASE_PATH come from the environment.
"""

import json
import os
import signal
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

VERSION = "1.0.0"
BODY_LIMIT_BYTES = 32_768
TEXT_LIMIT = 4_096
ID_LIMIT = 128
PAGE_LIMIT = 1_000
# A stop waits so long for answers that are on their way.
STOP_GRACE_S = 5.0


class Almanac:
    """The entries. What `add` has answered is on the disk."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS entries"
            " (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, text TEXT NOT NULL)"
        )
        self._db.commit()

    def add(self, entry_id, text):
        """Keeps an entry and answers its number. What is told twice is kept twice."""
        with self._lock, self._db:
            return self._db.execute("INSERT INTO entries (id, text) VALUES (?, ?)", (entry_id, text)).lastrowid

    def page(self, begin, limit):
        with self._lock:
            rows = self._db.execute(
                "SELECT seq, id, text FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?", (begin, limit + 1)
            ).fetchall()
        entries = [{"seq": seq, "id": entry_id, "text": text} for seq, entry_id, text in rows[:limit]]
        return {"entries": entries, "next": rows[limit][0] if len(rows) > limit else None}

    def check(self):
        """Raises when the database does not answer."""
        with self._lock:
            self._db.execute("SELECT 1 FROM entries LIMIT 1").fetchone()

    def close(self):
        with self._lock:
            self._db.close()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, almanac):
        super().__init__(address, Handler)
        self.almanac = almanac
        self._busy = 0
        self._idle = threading.Condition()

    def begin(self):
        with self._idle:
            self._busy += 1

    def end(self):
        with self._idle:
            self._busy -= 1
            self._idle.notify_all()

    def wait_until_idle(self, seconds):
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0, seconds)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Answers are small and written in two pieces; waiting to fill a packet would cost 40 ms each.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        self._answered(self._get)

    def do_POST(self):
        self._answered(self._post)

    def _get(self):
        url = urlsplit(self.path)
        if url.path == "/healthz":
            self.server.almanac.check()
            return 200, {"ok": True}
        if url.path == "/version":
            return 200, {"version": VERSION, "pid": os.getpid()}
        if url.path == "/entries":
            query = parse_qs(url.query)
            begin = number(query.get("from", ["0"])[0], 0, 2**53)
            limit = number(query.get("limit", ["100"])[0], 1, PAGE_LIMIT)
            if begin is None or limit is None:
                return 400, {"error": f"from is a whole number, limit one from 1 to {PAGE_LIMIT}"}
            return 200, self.server.almanac.page(begin, limit)
        return 404, {"error": "there is /entries, /healthz and /version"}

    def _post(self):
        length = number(self.headers.get("Content-Length", ""), 0, BODY_LIMIT_BYTES)
        if length is None:
            # What was not read would be taken for the next request.
            self.close_connection = True
            return 413, {"error": f"a body has a Content-Length of at most {BODY_LIMIT_BYTES}"}
        body = self.rfile.read(length)
        if urlsplit(self.path).path != "/entries":
            return 404, {"error": "entries go to /entries"}
        entry = entry_of(body)
        if entry is None:
            return 400, {"error": f"an entry is {{id, text}}, at most {ID_LIMIT} and {TEXT_LIMIT} characters"}
        return 201, {"seq": self.server.almanac.add(*entry), "id": entry[0]}

    def _answered(self, work):
        self.server.begin()
        try:
            try:
                status, value = work()
            except sqlite3.Error as error:
                status, value = 503, {"error": str(error)}
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        finally:
            self.server.end()

    def log_message(self, format, *args):
        """One line for what went wrong, none for what went well."""
        if len(args) > 1 and str(args[1]) >= "500":
            super().log_message(format, *args)


def number(text, least, most):
    return int(text) if text.isascii() and text.isdigit() and least <= int(text) <= most else None


def entry_of(body):
    try:
        value = json.loads(body)
        entry_id, text = value["id"], value["text"]
    except (ValueError, KeyError, TypeError):
        return None
    good = isinstance(entry_id, str) and isinstance(text, str)
    return (entry_id, text) if good and 0 < len(entry_id) <= ID_LIMIT and len(text) <= TEXT_LIMIT else None


def main():
    almanac = Almanac(os.environ.get("DATABASE_PATH", "almanac.db"))
    server = Server((os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "8000"))), almanac)
    # shutdown() waits for serve_forever(), which the handler of a signal interrupts.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print(f"almanac {VERSION} listens on port {server.server_port}", flush=True)
    server.serve_forever(poll_interval=0.05)
    server.server_close()
    server.wait_until_idle(STOP_GRACE_S)
    almanac.close()


if __name__ == "__main__":
    main()
