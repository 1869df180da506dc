import collections
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = pathlib.Path(__file__).with_name("almanac.py")


class Running:
    """The real program on a port of its own."""

    def __init__(self, database):
        environment = {"PORT": "0", "DATABASE_PATH": str(database), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM)], env=environment, stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline().split()[-1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def ask(self, method, path, value=None):
        body = None if value is None else value if isinstance(value, str) else json.dumps(value)
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def all_ids(self):
        begin = 0
        while begin is not None:
            page = self.ask("GET", f"/entries?from={begin}&limit=1000")[1]
            yield from (entry["id"] for entry in page["entries"])
            begin = page["next"]

    def end(self, how=signal.SIGTERM):
        self.connection.close()
        self.process.send_signal(how)
        code = self.process.wait(10)
        self.process.stdout.close()
        return code


class AlmanacTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.database = os.path.join(self.directory.name, "almanac.db")
        self.running = []

    def tearDown(self):
        for running in self.running:
            if running.process.poll() is None:
                running.end(signal.SIGKILL)
        self.directory.cleanup()

    def start(self):
        running = Running(self.database)
        self.running.append(running)
        return running

    def test_what_was_acknowledged_survives_a_kill(self):
        first = self.start()
        self.assertEqual(first.ask("GET", "/healthz"), (200, {"ok": True}))
        for number in range(1, 6):
            self.assertEqual(first.ask("POST", "/entries", {"id": f"e{number}", "text": "x"})[0], 201)
        first.end(signal.SIGKILL)
        second = self.start()
        status, page = second.ask("GET", "/entries?from=2&limit=2")
        self.assertEqual(status, 200)
        self.assertEqual([entry["id"] for entry in page["entries"]], ["e2", "e3"])
        self.assertEqual(page["next"], 4)
        self.assertEqual(second.end(), 0)

    def test_what_is_told_twice_is_kept_twice(self):
        running = self.start()
        for _ in range(2):
            running.ask("POST", "/entries", {"id": "same", "text": ""})
        self.assertEqual(len(running.ask("GET", "/entries")[1]["entries"]), 2)

    def test_what_is_no_entry_is_refused(self):
        running = self.start()
        long = {"id": "a", "text": "x" * 4_097}
        for body in ["", "{", "[]", {"id": "", "text": ""}, {"id": "a"}, {"id": 1, "text": ""}, long]:
            self.assertEqual(running.ask("POST", "/entries", body)[0], 400, body)
        self.assertEqual(running.ask("GET", "/entries?limit=0")[0], 400)
        self.assertEqual(running.ask("GET", "/none")[0], 404)
        self.assertEqual(running.ask("POST", "/entries", "x" * 40_000)[0], 413)

    def test_a_stop_loses_no_answer(self):
        running = self.start()
        acknowledged, stop = [], threading.Event()

        def write(worker):
            connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)
            number = 0
            while not stop.is_set():
                try:
                    connection.request("POST", "/entries", json.dumps({"id": f"{worker}-{number}", "text": ""}))
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, http.client.HTTPException):
                    return
                if answer.status == 201:
                    acknowledged.append(f"{worker}-{number}")
                number += 1

        workers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for worker in workers:
            worker.start()
        while len(acknowledged) < 40:
            workers[0].join(0.01)
        code = running.end()
        stop.set()
        for worker in workers:
            worker.join()
        self.assertEqual(code, 0)
        again = self.start()
        kept = collections.Counter(again.all_ids())
        self.assertEqual([entry for entry in acknowledged if kept[entry] != 1], [])


if __name__ == "__main__":
    unittest.main()
