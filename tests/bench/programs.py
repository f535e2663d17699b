"""Optimises the hottest kernels of whole CUDA programs on this machine's GPU, on data captured from the programs
themselves, builds them again and compares: the GPU time of all kernels, and what the programs print.

usage: programs.py MANIFEST --program KERNELSKILL --out FOLDER [--seconds S] [--kernels N] [--runs N] [--only NAME,...]
                   [--together N] [--until S]

Programs are searched side by side where --together says so; each comparison of times has the GPU to itself.

The manifest is a JSON array of objects:
  name     names the program in the tables
  folder   what it needs, relative to the manifest; copied, never changed
  inside   the folder of its sources in there, optional
  build    a shell command that builds it, run in the copy of that
  run      a shell command that runs it there
  flags    compile flags for KernelSkill, optional
  ignore   a regular expression for printed lines that differ from run to run, optional
"""

import argparse
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Numbers that the program prints may differ by the rounding of sums in another order.
TOLERANCE = 2e-3
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")


def shell(command, folder, seconds):
    try:
        done = subprocess.run(command, shell=True, cwd=folder, timeout=seconds, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, "timeout"


def same_number(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return abs(x - y) <= TOLERANCE * max(abs(x), abs(y), 1e-3)


def lines_of(text, ignore):
    return [line for line in text.splitlines() if not (ignore and re.search(ignore, line))]


def same_output(before, again, after, ignore):
    """`before` and those of `again` are of the original: where these differ, nothing is compared."""
    a, b = lines_of(before, ignore), lines_of(after, ignore)
    own = [lines_of(text, ignore) for text in again]
    if any(len(a) != len(other) for other in own):
        return True
    if len(a) != len(b):
        return False
    for x, y, *others in zip(a, b, *own):
        if x == y or any(x != other for other in others):
            continue
        if NUMBER.sub("#", x) != NUMBER.sub("#", y):
            return False
        if not all(map(same_number, NUMBER.findall(x), NUMBER.findall(y))):
            return False
    return True


def source_of(folder, kernel):
    """The file to open for a kernel: the one that defines it, or the one that includes that."""
    texts = {file: file.read_text(errors="replace")
             for pattern in ("*.cu", "*.cuh", "*.h") for file in sorted(folder.rglob(pattern))}
    definition = re.compile(r"__global__[^;{]*\b" + re.escape(kernel) + r"\s*\(")
    for file, text in texts.items():
        if not definition.search(text):
            continue
        for _ in range(3):
            include = re.compile(r'#\s*include\s*"([^"]*/)?' + re.escape(file.name) + '"')
            above = next((other for other, text in texts.items() if include.search(text)), None)
            if above is None:
                break
            file = above
        return file
    return None


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.kernelskill = str(Path(arguments.program).resolve())
        self.out = Path(arguments.out).resolve()

    def kernel_times(self, entry, folder):
        """Nanoseconds by kernel name, or None."""
        command = f"{self.kernelskill} timeline --json -- sh -c {json.dumps(entry['run'])}"
        with open(folder / ".timeline", "wb") as file:
            try:
                subprocess.run(command, shell=True, cwd=folder, timeout=120, stdout=file, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                return None
        text = (folder / ".timeline").read_text(errors="replace")
        # The program's own output comes first.
        starts = [match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)]
        try:
            report = json.loads(text[starts[-1]:])
        except (IndexError, json.JSONDecodeError):
            return None
        return {kernel["name"]: kernel["total_ns"] for kernel in report["kernels"]}

    def optimize(self, entry, folder, name):
        plain = re.sub(r"^(void|static)\s+", "", name)
        plain = re.split(r"[<(]", plain)[0].split("::")[-1].strip()
        source = source_of(folder, plain)
        if source is None:
            return {"kernel": plain, "error": ["its definition was not found"]}
        command = [self.kernelskill, "optimize", str(source), "--kernel", plain, "--on", "gpu", "--seconds",
                   str(self.arguments.seconds), "--rounds", "12", "--seed", "1", "--write", "--json"]
        begin = time.monotonic()
        log = open(self.out / f"{entry['name']}-{plain}.log", "w")
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, errors="replace")
        log.close()
        (self.out / f"{entry['name']}-{plain}.json").write_text(done.stdout)
        result = {"kernel": plain, "seconds": time.monotonic() - begin}
        try:
            found = json.loads(done.stdout)
        except json.JSONDecodeError:
            result["error"] = (self.out / f"{entry['name']}-{plain}.log").read_text().strip().splitlines()[-1:]
            return result
        if "error" in found:
            return result | {"error": [found["error"]["what"]]}
        result["bottleneck"] = (found["base"]["bottleneck"] or {}).get("kind", "-")
        result["skills"] = found["best"]["skills"]
        result["speedup"] = found["best"]["speedup"]
        result["stop"] = found["stop"]["reason"]
        return result

    def folders(self, entry):
        base = self.out / "work" / entry["name"]
        return [base / which / entry.get("inside", "") for which in ("original", "edited")]

    def build(self, entry, manifest):
        """Copies the program twice and builds both. Returns what the compiler said if it failed."""
        original, _ = self.folders(entry)
        base = self.out / "work" / entry["name"]
        shutil.rmtree(base, ignore_errors=True)
        shutil.copytree(manifest.parent / entry["folder"], base / "original")
        (original / ".kernelskill").mkdir(exist_ok=True)
        if entry.get("flags"):
            (original / "compile_flags.txt").write_text("\n".join(entry["flags"].split()) + "\n")
        status, text = shell(entry["build"], original, 240)
        shutil.copytree(base / "original", base / "edited")
        return text if status else ""

    def look(self, entry, failure):
        """What the program prints, and its hottest kernels; captures their launches."""
        row = {"name": entry["name"]}
        original, edited = self.folders(entry)
        if failure:
            return row | {"error": "does not build: " + failure[-300:]}
        status, row["printed"] = shell(entry["run"], original, 120)
        if status:
            return row | {"error": f"does not run ({status}): " + row["printed"][-300:]}
        row["again"] = []
        for _ in range(4):  # Some numbers that follow from a seed are the same by chance.
            time.sleep(1.1)  # A program that takes the time for a seed prints something else in the next second.
            row["again"].append(shell(entry["run"], original, 120)[1])
        times = self.kernel_times(entry, original)
        total = sum((times or {}).values())
        if not total:
            seen = (original / ".timeline").read_text(errors="replace")
            return row | {"error": f"no kernel times: {seen[-300:]}"}
        row["gpu_ns"] = total
        hot = [name for name, ns in sorted(times.items(), key=lambda item: -item[1]) if ns >= 0.05 * total]
        row["hot"] = hot[: self.arguments.kernels]
        row["share"] = sum(times[name] for name in row["hot"]) / total
        shell(f"{self.kernelskill} capture -- sh -c {json.dumps(entry['run'])}", edited, 180)
        return row

    def search(self, entry, row):
        if "error" not in row:
            _, edited = self.folders(entry)
            row["kernels"] = [self.optimize(entry, edited, name) for name in row["hot"]]
        return row

    def compare(self, entry, row):
        """Builds the edited program, checks what it prints, and times both programs in turns."""
        if "error" in row:
            return row
        original, edited = self.folders(entry)
        printed, again = row.pop("printed"), row.pop("again")
        row["speedup"] = 1.0
        if not any(kernel.get("skills") for kernel in row["kernels"]):
            return row
        status, text = shell(entry["build"], edited, 240)
        if status:
            return row | {"broken": "does not build: " + text[-300:]}
        status, after = shell(entry["run"], edited, 120)
        if status or not same_output(printed, again, after, entry.get("ignore")):
            return row | {"broken": "other output" if not status else f"status {status}"}
        ratios = []
        for _ in range(self.arguments.runs):
            first, second = self.kernel_times(entry, original), self.kernel_times(entry, edited)
            if first and second:
                ratios.append(sum(first.values()) / sum(second.values()))
        row["ratios"] = ratios
        if ratios:
            row["speedup"] = statistics.median(ratios)
        return row


def table(rows):
    print("| program | GPU time, ms | kernels optimised | bottlenecks | skills | GPU time before / after |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        if "error" in row:
            print(f"| {row['name']} | | | | | not taken: {row['error'].splitlines()[0][:80]} |")
            continue
        skills = "; ".join(", ".join(kernel.get("skills") or ["none"]) for kernel in row["kernels"])
        kinds = ", ".join(dict.fromkeys(kernel.get("bottleneck", "-") for kernel in row["kernels"]))
        result = "broken: " + row["broken"] if "broken" in row else f"{row['speedup']:.2f}"
        if row.get("ratios"):
            result += f" ({min(row['ratios']):.2f} to {max(row['ratios']):.2f})"
        print(f"| {row['name']} | {row['gpu_ns'] / 1e6:.3f} | {len(row['kernels'])}, {100 * row['share']:.0f} % "
              f"| {kinds} | {skills} | {result} |")
    taken = [row for row in rows if "error" not in row]
    right = [row["speedup"] for row in taken if "broken" not in row]
    if right:
        mean = math.exp(sum(map(math.log, right)) / len(right))
        print(f"\n{len(taken)} programs; {sum(value > 1.02 for value in right)} faster, "
              f"{sum(value < 0.98 for value in right)} slower, {sum('broken' in row for row in taken)} broken; "
              f"geometric mean {mean:.3f}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--kernels", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--together", type=int, default=1, help="search so many programs side by side")
    parser.add_argument("--until", type=float, default=math.inf, help="begin no search after so many seconds")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    bench.out.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, arguments.only.split(",")))
    begin = time.monotonic()
    entries = [entry for entry in json.loads(arguments.manifest.read_text()) if not only or entry["name"] in only]
    manifest = arguments.manifest.resolve()
    with ThreadPoolExecutor() as pool:
        failures = list(pool.map(lambda entry: bench.build(entry, manifest), entries))
    rows = []
    for at in range(0, len(entries), arguments.together):
        if time.monotonic() - begin > arguments.until:
            break
        group = entries[at : at + arguments.together]
        seen = [bench.look(entry, failure) for entry, failure in zip(group, failures[at:])]
        with ThreadPoolExecutor(arguments.together) as pool:
            seen = list(pool.map(bench.search, group, seen))
        for entry, row in zip(group, seen):
            rows.append(bench.compare(entry, row))
            (bench.out / "rows.json").write_text(json.dumps(rows, indent=1))
            print(f"{entry['name']}: {rows[-1].get('speedup', rows[-1].get('error'))}", file=sys.stderr, flush=True)
    table(rows)
    return any("broken" in row for row in rows)


if __name__ == "__main__":
    sys.exit(main())
