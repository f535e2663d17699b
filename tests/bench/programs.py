"""Optimises whole CUDA programs as users do, by `kernelskill optimize --json -- PROGRAM` in a fresh copy of each, and
prints what became of them.

usage: programs.py MANIFEST --program KERNELSKILL --out FOLDER [--seconds S] [--gpus 0,1,...] [--cores N] [--limit S]
                   [--until S] [--only NAME,...] [--memory] [--no-recheck]
       programs.py --table --out FOLDER

The manifest is a JSON array of objects, which are taken in its order:
  name        names the program in the tables
  folder      what it needs, relative to the manifest; copied, never changed
  inside      the folder in there that the commands run in, optional
  build       the command that builds it
  run         the command that runs it
  check       a command that reads what it prints and ends with status 0 if that is right, optional
  repository, path   where it comes from, for the table; optional

FOLDER gets a file NAME.json as soon as a program is done: its row. A program that has one is not run again.
"""

import argparse
import collections
import json
import math
import os
import queue
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# Numbers that a program prints may differ by the rounding of sums in another order.
TOLERANCE = 2e-3
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")

# A row has at most so many bytes.
ROW_BYTES = 20000
# After SIGTERM a command has so many seconds.
GRACE = 10


def words(command):
    """The words of a command; a shell runs what only a shell understands."""
    if re.search(r"[|&;<>()$`*?\[~\n]|^\w+=", command):
        return ["sh", "-c", command]
    return shlex.split(command)


def shell(command, folder, environment, seconds, text=""):
    """Status and output of a command of the manifest."""
    process = subprocess.Popen(command, shell=True, cwd=folder, env=environment, text=True, errors="replace",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(text, timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        kill_all(process.pid)
        process.communicate()
        return 124, f"not done within {seconds} s"


def descendants(pid):
    """The processes that a process has started, and those that these have."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        for child in children.get(left.pop(), []):
            found.append(child)
            left.append(child)
    return found


def kill_all(pid):
    """Kills a process and all that it has started, in whatever group, so that nothing of it keeps the GPU."""
    for each in [pid] + descendants(pid):
        try:
            os.kill(each, signal.SIGKILL)
        except OSError:
            pass  # It has ended.


def same_number(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return abs(x - y) <= TOLERANCE * max(abs(x), abs(y), 1e-3)


def same_output(before, again, after):
    """`before` and `again` are of the original: lines in which they differ are not compared. None: nothing can be."""
    a, b, c = before.splitlines(), again.splitlines(), after.splitlines()
    if len(a) != len(b):
        return None
    if len(a) != len(c):
        return False
    compared = 0
    for x, other, y in zip(a, b, c):
        if x != other:
            continue
        compared += 1
        if x != y and (NUMBER.sub("#", x) != NUMBER.sub("#", y)
                       or not all(map(same_number, NUMBER.findall(x), NUMBER.findall(y)))):
            return False
    return True if compared else None


def apply_diff(diff, root):
    """Edits the files below `root`. The diff is a unified one whose paths begin with a/ and b/. Line ends are the files' own."""
    file, old, new = None, [], []

    def lines(text):
        return re.findall(r"[^\n]*\n|[^\n]+", text)

    def finish():
        if file is not None:
            (root / file).write_text("".join(new + old), errors="surrogateescape", newline="")

    at = 0  # Lines of the old text that are done.
    left = right = 0  # Lines of the hunk that are still to come.
    for line in lines(diff):
        if left == 0 and right == 0 and line.startswith("--- "):
            finish()
            file = line[4:].rstrip("\n").removeprefix("a/")
            with open(root / file, errors="surrogateescape", newline="") as text:
                old = lines(text.read())
            new, at = [], 0
        elif left == 0 and right == 0 and (hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)):
            begin, left, right = (int(value) if value is not None else 1 for value in hunk.groups())
            skipped = begin - 1 - at if left else begin - at
            new, old, at = new + old[:skipped], old[skipped:], at + skipped
        elif left or right:
            if line[0] in " -":
                if not old or old[0].rstrip("\n") != line[1:].rstrip("\n"):
                    raise ValueError(f"line {at + 1} of {file} is not the diff's")
                if line[0] == " ":
                    new.append(old[0])
                old, at, left = old[1:], at + 1, left - 1
            if line[0] in " +":
                right -= 1
            if line[0] == "+":
                new.append(line[1:])
    finish()


def without_copy(text):
    """A reason without the name of the copy that it is about, which is another one each time."""
    return re.sub(r"\S*/kernelskill-optimize-\w+/(original|edited)/", "", text).replace("\n", " ")


def kernel_row(kernel):
    """What tables tell of a kernel, and what was decided of each candidate, in short."""
    kept = ("name", "symbol", "file", "line", "launches", "median_microseconds", "share", "saving", "seconds", "executor",
            "held", "not_held", "base", "attempts", "skills", "stop", "search_speedup", "model_gain", "outcome", "why", "speedup")
    row = {key: kernel.get(key) for key in kept}
    for key in ("name", "symbol", "base"):
        row[key] = row[key] and row[key][:300]
    for key in ("why", "not_held"):
        row[key] = without_copy(row[key])[:300]
    if row["held"]:
        row["held"] = row["held"] | {"end": row["held"]["end"][:300],
                                     "restarts": [why[:100] for why in row["held"]["restarts"][:5]]}
    row["tried"] = [f"{each['skill']} {each['option']}: {each['decision']}"[:100] for each in kernel.get("tried", [])]
    return row


def small(row):
    """The row without what makes it larger than it may be."""
    def size():
        return len(json.dumps(row, indent=1).encode())

    for most in (40, 15, 5, 0):
        if size() <= ROW_BYTES:
            break
        for kernel in row.get("kernels", []):
            kernel["tried"] = kernel["tried"][:most]
    if size() > ROW_BYTES and "diff" in row:
        row["diff"] = row["diff"][: max(0, len(row["diff"]) - (size() - ROW_BYTES) - 100)] + "\n(cut off)\n"
    return row


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.kernelskill = str(Path(arguments.program).resolve())
        self.out = Path(arguments.out).resolve()
        self.begin = time.monotonic()
        self.running = set()
        self.isStopped = False
        self.version = subprocess.run([self.kernelskill, "--version"], capture_output=True, text=True,
                                      check=False).stdout.strip()

    def machine(self, gpu):
        try:
            command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
            seen = subprocess.run(command + ([f"--id={gpu}"] if gpu else []), capture_output=True, text=True,
                                  timeout=30, check=False).stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            seen = []
        return {"kernelskill": self.version, "gpu": seen[0] if seen else "", "device": gpu,
                "cores": len(os.sched_getaffinity(0)), "load": round(os.getloadavg()[0], 1)}

    def search(self, entry, folder, environment):
        """The row of one program. `folder` is its fresh copy."""
        inside = folder / entry.get("inside", "")
        command = [self.kernelskill, "optimize", "--json", "--seconds", str(self.arguments.seconds)]
        if not self.arguments.memory:
            command.append("--no-long-term-memory")
        command += ["--build", entry["build"]]
        if entry.get("check"):
            command += ["--check", entry["check"]]
        command += ["--"] + words(entry["run"])
        row = {"command": shlex.join(["kernelskill"] + command[1:])}
        answer, log = folder.parent / "answer.json", folder.parent / "log"
        limit = self.arguments.seconds + self.arguments.limit
        begin = time.monotonic()
        with open(answer, "wb") as output, open(log, "wb") as messages:
            process = subprocess.Popen(command, cwd=inside, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=messages, start_new_session=True)
            self.running.add(process)
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                row["limit"] = f"ended after {limit:g} s"
                process.terminate()
                try:
                    process.wait(GRACE)
                except subprocess.TimeoutExpired:
                    row["limit"] = f"killed after {limit + GRACE:g} s"
                    kill_all(process.pid)
                    process.wait()
            self.running.discard(process)
        row |= {"status": process.returncode, "wall": round(time.monotonic() - begin, 1)}
        said = log.read_text(errors="replace")
        try:
            found = json.loads(answer.read_text(errors="replace"))
        except json.JSONDecodeError:
            found = None
        if not isinstance(found, dict) or "kernels" not in found:
            why = "it left no answer"
            if isinstance(found, dict) and "error" in found:
                why = ": ".join(filter(None, (found["error"].get("what"), found["error"].get("where"))))
            elif process.returncode < 0:
                why = f"it ended by signal {-process.returncode}"
            return row | {"error": why[:500], "log": said[-1500:]}
        for key in ("program_time", "gpu_time", "kernel_time", "check", "output_note", "buffers", "stopped"):
            row[key] = found[key]
        hosts = [host | {"why": without_copy(host["why"])[:300]} for host in found.get("host_edits", [])]
        return row | {"kernels": [kernel_row(kernel) for kernel in found["kernels"]], "host_edits": hosts,
                      "diff": found["diff"]}

    def recheck(self, entry, folder, environment, diff):
        """Whether the edited program is right, by another copy of it than the searches': what is broken, or None."""
        inside = folder / entry.get("inside", "")
        status, text = shell(entry["build"], inside, environment, 600)
        printed = [shell(entry["run"], inside, environment, 300) for _ in range(2)] if status == 0 else []
        if status or any(status for status, _ in printed):
            return "the original does not build or run again"
        try:
            apply_diff(diff, folder)
        except (OSError, ValueError) as problem:
            return f"the diff does not apply: {problem}"
        status, text = shell(entry["build"], inside, environment, 600)
        if status:
            return "does not build: " + text[-300:]
        status, after = shell(entry["run"], inside, environment, 300)
        if status:
            return f"ends with status {status}: " + after[-300:]
        if entry.get("check"):
            status, text = shell(entry["check"], inside, environment, 300, after)
            return f"its check ends with status {status}: {text[-300:]}" if status else None
        return "prints something else" if same_output(printed[0][1], printed[1][1], after) is False else None

    def take(self, entry, gpu, manifest):
        """Runs one program and writes its row."""
        environment = dict(os.environ)
        if gpu is not None:
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        row = {key: entry[key] for key in ("name", "repository", "path") if key in entry}
        row |= {"seconds": self.arguments.seconds, "machine": self.machine(gpu)}
        with tempfile.TemporaryDirectory(prefix="bench-programs-", ignore_cleanup_errors=True) as scratch:
            folder = Path(scratch) / "program"
            shutil.copytree(manifest.parent / entry["folder"], folder, symlinks=True)
            (folder / ".kernelskill").mkdir(exist_ok=True)  # Says that this is a workspace of its own.
            row |= self.search(entry, folder, environment)
            if self.isStopped:
                return
            if row.get("diff") and not row["stopped"] and self.arguments.recheck:
                # On the disk already, if the machine goes away meanwhile.
                self.write(row)
                broken = self.recheck(entry, folder, environment, row["diff"])
                row["rechecked"] = broken is None
                if broken:
                    row["broken"] = broken
            self.write(row)
        print(f"{entry['name']}: {summary(row)}", file=sys.stderr, flush=True)

    def write(self, row):
        file = self.out / f"{row['name']}.json"
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(small(json.loads(json.dumps(row))), indent=1) + "\n")
        partial.replace(file)

    def work(self, waiting, gpu, cores, manifest):
        """Takes programs until there are none."""
        if cores:
            os.sched_setaffinity(0, cores)  # Of this thread, and of what it starts.
        while not self.isStopped and time.monotonic() - self.begin <= self.arguments.until:
            try:
                entry = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                self.take(entry, gpu, manifest)
            except Exception as problem:  # Whatever it is, the other programs have their turn.
                print(f"{entry['name']}: {problem!r}", file=sys.stderr, flush=True)

    def stop(self, *_):
        self.isStopped = True
        for process in list(self.running):
            process.terminate()

    def run(self, entries, manifest):
        waiting = queue.Queue()
        for entry in entries:
            if not (self.out / f"{entry['name']}.json").exists():
                waiting.put(entry)
        gpus = self.arguments.gpus.split(",") if self.arguments.gpus else [None]
        own, each = sorted(os.sched_getaffinity(0)), self.arguments.cores
        if each * len(gpus) > len(own):
            sys.exit(f"{len(gpus)} times {each} cores are wanted, and there are {len(own)}")
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, self.stop)
        threads = [threading.Thread(target=self.work, args=(waiting, gpu, own[at * each:(at + 1) * each], manifest))
                   for at, gpu in enumerate(gpus)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def ratios(times):
    return sorted(pair["before"] / pair["after"] for pair in times["seconds"] if min(pair["before"], pair["after"]) > 0)


def is_kept(row):
    return "error" not in row and bool(row["diff"]) and not row["stopped"]


def speedup(row, what):
    """1 where nothing was kept, since the program stays what it is."""
    value = row[what]["speedup"] if is_kept(row) else None
    return 1.0 if value is None else value


def spread(row, what):
    seen = ratios(row[what]) if is_kept(row) else []
    return f"{speedup(row, what):.2f} ({seen[0]:.2f} to {seen[-1]:.2f})" if seen else "1"


def summary(row):
    if "error" in row:
        return "no result: " + row["error"] + (f" ({row['limit']})" if "limit" in row else "")
    if not row["kernels"]:
        return "no kernel is hot"
    return spread(row, "kernel_time") + (f", {row['limit']}" if "limit" in row else "") + \
        (f", broken: {row['broken']}" if "broken" in row else "")


def plain(name):
    """The kernel's name without its parameters and what a template's name adds; `void f<2>(int)` gives `f<2>`."""
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0 and not name.startswith("(anonymous namespace)", at):
            name = name[:at]
            break
    return re.sub(r"^(void|static) ", "", name)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def is_inside(kernel):
    return kernel["held"] is not None and kernel["executor"] == "program"


def why_not(kernel):
    """Why the kernel was not searched inside the program."""
    return kernel["not_held"] or kernel["why"] or "no reason was given"


def kernel_text(kernel):
    if kernel["outcome"] == "kept":
        found = ", ".join(kernel["skills"]) or "edits of another instantiation"
        text = found + (f" {kernel['speedup']:.2f}" if kernel["speedup"] is not None else "")
    elif kernel["outcome"] == "not-searched":
        text = "not searched: " + kernel["why"]
    elif kernel["outcome"] == "nothing-better":
        text = f"none: {kernel['why']}"
    else:
        text = f"{', '.join(kernel['skills'])} {kernel['outcome']}: {kernel['why']}"
    if kernel["outcome"] != "not-searched" and not is_inside(kernel):
        text += f"; not inside the program: {why_not(kernel)}"
    return f"`{plain(kernel['name'])[:60]}` {text[:160]}"


def host_text(host):
    """What became of an edit of the host's code."""
    if host["outcome"] == "kept":
        return f"host: {host['skill']} {host['speedup']:.2f} alone"
    return f"host: {host['skill']} {host['outcome']}: {host['why']}"[:160]


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def listed(title, names):
    return f"- {title}: {len(names)}" + (f" ({'; '.join(names)})" if names else "")


def table(rows):
    print("| program | kernels before / after | GPU time with copies | whole program | each hot kernel |")
    print("|---|---:|---:|---:|---|")
    for row in rows:
        name = row["name"] + (f" ({row['repository']} {row.get('path', '')})".replace(" )", ")")
                              if "repository" in row else "")
        if "error" in row:
            print(f"| {name} | | | | {cell(summary(row))[:300]} |")
            continue
        notes = [f"**broken: {row['broken'][:100]}**"] if "broken" in row else []
        if "limit" in row:
            notes.append(row["limit"])
        if row["stopped"]:
            notes.append("stopped, so that nothing was checked or kept")
        kernels = [kernel_text(kernel) for kernel in row["kernels"]] or ["no kernel is hot"]
        kernels += [host_text(host) for host in row.get("host_edits", [])]
        print(f"| {name} | {spread(row, 'kernel_time')} | {spread(row, 'gpu_time')} | {spread(row, 'program_time')} "
              f"| {cell('; '.join(notes + kernels))} |")
    print()
    sums(rows)


def sums(rows):
    taken = [row for row in rows if "error" not in row]
    hot = [row for row in taken if row["kernels"]]
    print(f"{len(rows)} program{'' if len(rows) == 1 else 's'}, {len(rows) - len(taken)} without a result, "
          f"{len(hot)} with a kernel of 5 % of the kernels' time or more. Of these:")
    print()
    times = [speedup(row, "kernel_time") for row in hot]
    copies = [speedup(row, "gpu_time") for row in hot]

    def names_of(is_one):
        return [row["name"] for row in hot if is_one(row)]

    faster = sum(value > 1.02 for value in times)
    print(f"- faster by more than 2 % (kernels' time): {share(faster, len(hot))}")
    hosts = [host for row in taken for host in row.get("host_edits", [])]
    if hosts:
        kept = sum(host["outcome"] == "kept" for host in hosts)
        print(f"- edits of the host's code that were tried: {len(hosts)}, kept: {kept}")
    print(listed("slower than 0.98 (kernels' time)", names_of(lambda row: speedup(row, "kernel_time") < 0.98)))
    print(listed("slower than 0.98 (GPU time with copies)", names_of(lambda row: speedup(row, "gpu_time") < 0.98)))
    print(listed("broken", names_of(lambda row: "broken" in row)))
    with_buffers = [row for row in hot if row["buffers"]["compared"] > 0]
    print(f"- compared in their buffers on the GPU as well: {len(with_buffers)} programs, "
          f"{sum(row['buffers']['compared'] for row in with_buffers)} buffers")
    print("  " + listed("not all compared", [f"{row['name']}: {row['buffers']['note']}" for row in hot if row["buffers"]["note"]]))
    rechecked = [row for row in hot if "rechecked" in row]
    print(f"- built and run once more with the edits, apart from the search: {len(rechecked)}")
    print(listed("cut off by the limit", [row["name"] for row in rows if "limit" in row]))
    if hot:
        print(f"- geometric mean: kernels' time {geometric(times):.2f}, GPU time with copies {geometric(copies):.2f}")
    kernels = [(row["name"], kernel) for row in hot for kernel in row["kernels"]]
    print(f"- hot kernels searched inside the program: "
          f"{share(sum(is_inside(kernel) for _, kernel in kernels), len(kernels))}")
    reasons = {}
    for name, kernel in kernels:
        if not is_inside(kernel):
            reasons.setdefault(why_not(kernel), []).append(f"{name} `{plain(kernel['name'])[:60]}`")
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"    - {why}: {len(names)} ({', '.join(names)})")
    costs = [kernel["seconds"] / kernel["attempts"] for _, kernel in kernels if (kernel["attempts"] or 0) >= 5]
    if costs:
        print(f"- seconds a candidate: {statistics.median(costs):.2f} in the median of the {len(costs)} kernels with five "
              f"or more ({min(costs):.2f} to {max(costs):.2f})")
    print(plans_text(kernels))
    outputs = {True: [], False: [], None: []}
    for name, kernel in kernels:
        if kernel["held"]:
            why = kernel["held"]["end"] or "; ".join(kernel["held"]["restarts"])
            outputs[kernel["held"]["same_output"]].append(
                f"{name} `{plain(kernel['name'])[:60]}`" + (f": {why[:150]}" if why else ""))
    print(f"- output of the held program, by searches: the same as alone: {len(outputs[True])}")
    print("  " + listed("different", outputs[False]))
    print("  " + listed("not compared", outputs[None]))
    print()
    for what in sorted({json.dumps([row["seconds"], row["machine"]["kernelskill"], row["machine"]["gpu"],
                                    row["machine"]["cores"]]) for row in rows}):
        seconds, version, gpu, cores = json.loads(what)
        print(f"`--seconds {seconds:g}`; {version or 'unknown version'}; {gpu or 'unknown GPU'}; {cores} cores")


def plans_text(kernels):
    """How many plans the searches took up, by skill, and how many of them were right and faster."""
    taken, gained = collections.Counter(), collections.Counter()
    for _, kernel in kernels:
        for plan in kernel.get("tried") or []:
            skill = plan.split(" ")[0]
            taken[skill] += 1
            gained[skill] += ": correct, and measured" in plan
    most = ", ".join(f"{skill} {count} ({gained[skill]})" for skill, count in taken.most_common(8))
    return f"- plans, and in brackets those that were right and faster: {taken.total()} ({gained.total()}); most: {most or 'none'}"


def rows_of(out, order=()):
    """The rows in the folder, in the manifest's order, else by time."""
    files = sorted(out.glob("*.json"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    rows = [json.loads(file.read_text()) for file in files]
    place = {name: at for at, name in enumerate(order)}
    return sorted(rows, key=lambda row: place.get(row["name"], len(place)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, nargs="?")
    parser.add_argument("--program")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seconds", type=int, default=60, help="of each program's searches")
    parser.add_argument("--gpus", default="", help="a worker on each of these GPUs; one worker by default")
    parser.add_argument("--cores", type=int, default=0, help="each worker has so many cores for its own")
    parser.add_argument("--limit", type=float, default=120, help="ends a command so many seconds after its --seconds")
    parser.add_argument("--until", type=float, default=math.inf, help="begins no program after so many seconds")
    parser.add_argument("--only", default="", help="these programs, by name")
    parser.add_argument("--memory", action="store_true", help="uses long-term memory")
    parser.add_argument("--no-recheck", dest="recheck", action="store_false",
                        help="leaves out the build and run of the edited program after the search")
    parser.add_argument("--table", action="store_true", help="prints the table of the rows that are there")
    arguments = parser.parse_args()
    entries = json.loads(arguments.manifest.read_text()) if arguments.manifest else []
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        parser.error("two programs have one name")
    only = set(filter(None, arguments.only.split(",")))
    if only - set(names) and not arguments.table:
        parser.error("no program " + ", ".join(sorted(only - set(names))))
    if not arguments.table:
        if not arguments.manifest or not arguments.program:
            parser.error("a manifest and --program are needed, or --table")
        arguments.out.mkdir(parents=True, exist_ok=True)
        bench = Bench(arguments)
        bench.run([entry for entry in entries if not only or entry["name"] in only], arguments.manifest.resolve())
    rows = [row for row in rows_of(arguments.out, names) if not only or row["name"] in only]
    table(rows)
    return any("broken" in row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
