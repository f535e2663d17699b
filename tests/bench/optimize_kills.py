"""Kills searches at random and reads what they left; script/bench-optimize-kills starts it.

usage: optimize_kills.py PROGRAM FILE KILLS SEED

A SIGTERM ends it after the next kill, with the report of what it has seen.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Bench:
    def __init__(self, program, file, folder):
        self.program, self.folder = program, Path(folder)
        self.file = self.folder / "workspace" / Path(file).name
        self.memory = self.folder / "workspace" / ".kernelskill" / "memory" / (self.file.name + ".jsonl")
        self.outcomes = self.folder / "data"
        self.source = file
        self.problems = []
        self.forget()

    def forget(self):
        shutil.rmtree(self.folder / "workspace", ignore_errors=True)
        shutil.rmtree(self.outcomes, ignore_errors=True)
        (self.folder / "workspace" / ".kernelskill").mkdir(parents=True)
        shutil.copy(self.source, self.file)

    def start(self):
        command = [self.program, "optimize", str(self.file), "--on", "emulator", "--seed", "1",
                   "--rounds", "4", "--seconds", "120", "--json"]
        environment = dict(os.environ, XDG_DATA_HOME=str(self.outcomes),
                           XDG_CACHE_HOME=str(self.folder / "cache"))
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, start_new_session=True)

    def entries(self):
        """Whole lines, by the program's own reader, and how many it had to skip."""
        shown = subprocess.run([self.program, "memory", "show", str(self.file), "--json"],
                               capture_output=True, check=False)
        if shown.returncode not in (0, 1):
            self.problems.append("the short-term memory cannot be read: " + shown.stderr.decode())
            return [], 0
        report = json.loads(shown.stdout)
        return report["entries"], len(report["problems"])

    def outcome_count(self):
        files = list(self.outcomes.rglob("*.sqlite"))
        if not files:
            return 0
        with sqlite3.connect(files[0]) as database:
            verdict = database.execute("pragma integrity_check").fetchone()[0]
            if verdict != "ok":
                self.problems.append("the long-term memory is damaged: " + verdict)
            return database.execute("select count(*) from outcome").fetchone()[0]


def verdicts(entries):
    return [entry for entry in entries if entry["kind"] == "verdict"]


def key(entry):
    """What is judged: never twice."""
    return (entry["kernelHash"], entry["skill"], entry["option"], entry.get("resultHash"))


def main():
    program, file, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    moments = random.Random(seed)
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(program, file, folder)
        bench.start().communicate()  # Fills the cache of compiled kernels: the next is a fair clock.
        bench.forget()
        begin = time.monotonic()
        undisturbed = json.loads(bench.start().communicate()[0])
        whole = time.monotonic() - begin
        bench.forget()

        searches, killed, resumed, cut = 1, 0, 0, 0
        after_verdict = {}
        before, lived = [], 0.0
        while killed < kills and not asked:
            search = bench.start()
            # Over what is left of a search, and a little more.
            wait = moments.uniform(0.01, 1.1) * whole
            try:
                search.communicate(timeout=wait)
                ended = True
            except subprocess.TimeoutExpired:
                os.killpg(search.pid, signal.SIGKILL)
                search.communicate()
                ended = False
                killed += 1
            entries, skipped = bench.entries()
            cut += skipped
            known = [key(entry) for entry in verdicts(entries)]
            if entries[: len(before)] != before:
                bench.problems.append("entries were lost")
            if len(set(known)) != len(known):
                bench.problems.append("an outcome that was known was judged again")
            if before and verdicts(before):
                resumed += 1
            bench.outcome_count()
            if ended:
                bench.forget()
                before = []
                searches += 1
            else:
                after_verdict[len(known)] = after_verdict.get(len(known), 0) + 1
                before = entries
        last = json.loads(bench.start().communicate()[0])
        # What a search finds that its time has ended depends on the machine's other work.
        comparable = all(search["stop"]["reason"] != "seconds" for search in (undisturbed, last))
        if comparable and (last["best"]["skills"] != undisturbed["best"]["skills"]
                           or last["diff"] != undisturbed["diff"]):
            bench.problems.append("the last search found something else than the undisturbed one")
        print(f"an undisturbed search: {whole:.1f} s, {len(undisturbed['rounds'])} plans")
        print(f"killed: {killed} times in {searches} searches")
        print("verdicts in memory when killed: " +
              ", ".join(f"{count}: {after_verdict[count]} times" for count in sorted(after_verdict)))
        print(f"runs that began with verdicts in memory and judged none of them again: {resumed}")
        print(f"lines cut short and skipped: {cut}")
        print("the last run: " + (", ".join(last["best"]["skills"]) or "nothing better") +
              ("" if comparable else "; not compared with the undisturbed one, since time ended one of them"))
        for problem in bench.problems:
            print("PROBLEM: " + problem)
        return 1 if bench.problems else 0


if __name__ == "__main__":
    sys.exit(main())
