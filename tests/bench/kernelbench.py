"""Generates a model for each exported PyTorch program of a folder, builds and judges it, and prints a table: script/bench-kernelbench.

A task is an archive LEVEL-NAME.pt2, such as level2-30_Gemm_GroupNorm_Hardtanh.pt2. Its row is appended to the TSV file when it is
done; a task that has a row there is skipped, so that a run that was cut off goes on. A task that fails has a row that says why.
"""

import argparse
import collections
import csv
import itertools
import json
import math
import os
import queue
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What a row says. Times are medians in microseconds; empty: not known.
COLUMNS = ["task", "level", "status", "within_1e-2", "within_1e-4", "error", "eager_us", "ours_us", "replayed_us", "compile_us",
           "autotune_us", "constant", "kernels", "library_nodes", "simplified", "bytes", "trials", "generate_s", "build_s", "judge_s",
           "device", "why"]
STEPS = ["generate", "build", "judge"]
TOLERANCES = ["1e-2", "1e-4"]  # The judge's.
STATUSES = ["right", "wrong", "refused", "failed"]
# Bytes of an element, by the names that a generated model's manifest has for element types.
ELEMENT_BYTES = {"bool": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "__half": 2, "__nv_bfloat16": 2,
                 "int": 4, "unsigned int": 4, "float": 4, "long long": 8, "unsigned long long": 8, "double": 8}
BANDWIDTH = {"H100": 3.35e12, "H200": 4.8e12}  # bytes a second, by NVIDIA's data sheets
MODES = {"compile_us": "default", "autotune_us": "max-autotune-no-cudagraphs"}


# ---- arithmetic ----

def number(row, column):
    """nan if the row has none."""
    try:
        return float(row.get(column) or "nan")
    except ValueError:
        return math.nan


def speedup(row, column, tolerance, baseline="eager_us"):
    """How many times as fast as the baseline; 0 if the task is not right at the tolerance, nan if one of the two has no time."""
    if row.get(f"within_{tolerance}") != "yes":
        return 0.0
    ours, other = number(row, column), number(row, baseline)
    return other / ours if ours > 0 and other > 0 else math.nan


def memory_share(row):
    """The time that reading inputs and weights and writing outputs takes at full bandwidth, as a share of ours; nan if not known."""
    bandwidth = next((value for name, value in BANDWIDTH.items() if name in row.get("device", "")), math.nan)
    return number(row, "bytes") / bandwidth * 1e6 / number(row, "ours_us")


def is_degenerate(row):
    """Whether the output does not depend on the input, or no kernel computes anything at a call."""
    return row.get("constant") == "yes" or (row.get("kernels") == "0" and row.get("library_nodes") == "0")


def means(speedups):
    """(mean, geometric mean, median) of those that have a time; a task that is not right counts as 0, but in the geometric mean,
    which is of the right ones."""
    known = [value for value in speedups if not math.isnan(value)]
    right = [value for value in known if value > 0]
    if not known:
        return math.nan, math.nan, math.nan
    geometric = math.exp(statistics.fmean(math.log(value) for value in right)) if right else math.nan
    return statistics.fmean(known), geometric, statistics.median(known)


def grouped(rows):
    """The rows of each task; it has one in each table."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["task"]].append(row)
    return [groups[task] for task in sorted(groups, key=natural)]


def best(group, column, tolerance):
    """The speedup of the fastest model of a task that is right; as speedup()."""
    known = [value for row in group if not math.isnan(value := speedup(row, column, tolerance))]
    return max(known, default=math.nan)


def fastest(group, tolerance):
    """The row of the model that is right at the tolerance and fastest; the first one if none is right."""
    return max(group, key=lambda row: -1 if math.isnan(value := speedup(row, "ours_us", tolerance)) else value)


def status_at(row, tolerance):
    """What the row's status is at the tolerance, whichever it was judged for."""
    if row["status"] not in ("right", "wrong"):
        return row["status"]
    return "right" if row[f"within_{tolerance}"] == "yes" else "wrong"


def cell(value, digits=2):
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def summary(rows, wanted):
    """The lines of the table of means, at both tolerances; what follows them is at the wanted one."""
    levels = sorted({row["level"] for row in rows})
    lines = ["", "| level | tasks | tolerance | right | launch | mean | geometric | median | without constant ones | >= 1 |",
             "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|"]
    for level in [*levels, "all"]:
        chosen = grouped(row for row in rows if level in ("all", row["level"]))
        for tolerance in TOLERANCES:
            right = sum(any(row.get(f"within_{tolerance}") == "yes" for row in group) for group in chosen)
            for launch, column in (("direct", "ours_us"), ("graph", "replayed_us")):
                values = [best(group, column, tolerance) for group in chosen]
                mean, geometric, median = means(values)
                without, _, _ = means([value for group, value in zip(chosen, values)
                                       if not any(is_degenerate(row) for row in group)])
                known = [value for value in values if not math.isnan(value)]
                faster = sum(value >= 1 for value in known)
                lines.append(f"| {level} | {len(chosen)} | {tolerance} | {right} | {launch} | {cell(mean)} | {cell(geometric)} | "
                             f"{cell(median)} | {cell(without)} | {faster} of {len(known)} |")
    for column, mode in MODES.items():
        for level in [*levels, "all"] if len(levels) > 1 else levels:
            fast = [fastest(group, wanted) for group in grouped(row for row in rows if level in ("all", row["level"]))]
            values = [speedup(row, "ours_us", wanted, column) for row in fast if not math.isnan(number(row, column))]
            if not values:
                continue
            mean, geometric, median = means(values)
            slower = sum(0 < value < 0.99 for value in values)
            lines.append(f"\nagainst torch.compile ({mode}), {level}, {len(values)} tasks: mean {cell(mean)}, "
                         f"geometric {cell(geometric)}, median {cell(median)}; slower than 0.99 of it: {slower}")
    counts = collections.Counter(status_at(row, wanted) for row in rows)
    spent = {step: sum(value for row in rows if not math.isnan(value := number(row, f"{step}_s"))) for step in STEPS}
    lines.append("\nseconds: " + ", ".join(f"{step} {seconds:.0f}" for step, seconds in spent.items()))
    lines.append(", ".join(f"{counts[status]} {status}" for status in STATUSES))
    reasons = collections.Counter(reason_of(row["why"]) for row in rows if row["why"])
    lines += [f"{count:5} x {reason}" for reason, count in reasons.most_common(20)]
    return lines


def reason_of(why):
    """The reason without the numbers and names that are the task's own."""
    return re.sub(r"[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", "N", why)[:120]


def table(rows, tolerance):
    """The lines of all tasks, each of its fastest model that is right at the tolerance."""
    lines = ["| task | status | error | eager us | ours us | graph us | x | x 1e-4 | torch.compile us | kernels | library | memory | notes |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"]
    for group in grouped(rows):
        row = fastest(group, tolerance)
        notes = "; ".join(filter(None, [row["table"], "constant output" if row["constant"] == "yes" else "", row["simplified"],
                                        row["why"]]))
        lines.append(f"| {row['task']} | {status_at(row, tolerance)} | {row['error'] or '-'} | {cell(number(row, 'eager_us'), 1)} | "
                     f"{cell(number(row, 'ours_us'), 1)} | {cell(number(row, 'replayed_us'), 1)} | "
                     f"{cell(speedup(row, 'ours_us', '1e-2'))} | {cell(speedup(row, 'ours_us', '1e-4'))} | "
                     f"{cell(number(row, 'compile_us'), 1)} | {row['kernels']} | {row['library_nodes']} | "
                     f"{cell(memory_share(row))} | {notes} |")
    return lines


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def read_rows(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if rows and list(rows[0]) != COLUMNS:
        sys.exit(f"{path} has other columns than this script writes; name another file by --out")
    # A line that was cut off has no last column.
    return [row | {"table": ""} for row in rows if row["why"] is not None]


# ---- one task ----

def run(command, seconds, environment=None, folder=None):
    """(status, standard output, the end of standard error)"""
    try:
        done = subprocess.run(command, timeout=seconds, env=environment, cwd=folder, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, last_words(done.stderr)
    except subprocess.TimeoutExpired:
        return 124, "", f"did not end within {seconds} s"
    except OSError as problem:
        return 127, "", str(problem)


def last_words(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return " / ".join((errors or lines)[-2:])[-300:]


class Failure(Exception):
    pass


def generate(task, folder, settings):
    """Lays the task's model into the folder."""
    if settings.generated:
        made = Path(settings.generated) / task.stem
        if not (made / "model.json").exists() and not (made / "libmodel.so").exists():
            raise Failure(f"no generated model in {made}")
        if made.resolve() != folder.resolve():
            shutil.copytree(made, folder, dirs_exist_ok=True)
        return
    shutil.rmtree(folder, ignore_errors=True)
    command = [settings.program, "generate", task, "-o", folder, *settings.options]
    environment = dict(os.environ)
    if settings.measured:
        # Other tasks may be measured on the same GPU: kernelskill-torch takes turns.
        with settings.turns:
            environment["CUDA_VISIBLE_DEVICES"] = next(settings.next_gpu)
    status, _, words = run([str(word) for word in command], settings.generate_seconds, environment)
    if status != 0:
        raise Failure(f"generate: {words or status}")


def build(folder, settings, pool):
    """Compiles the files side by side, and links libmodel.so; nothing if it is newer than all of them."""
    library = folder / "libmodel.so"
    sources = sorted([*folder.glob("kernels/*.cu"), folder / "model.cpp", folder / "model_abi.cpp"])
    missing = [source.name for source in sources if not source.exists()]
    if library.exists() and (missing or all(source.stat().st_mtime <= library.stat().st_mtime for source in sources)):
        return
    if missing:
        raise Failure(f"generate wrote no {missing[0]}")
    flags = [settings.nvcc, "-O3", "-std=c++17", f"-arch={settings.arch}", "-Xcompiler", "-fPIC", "-cudart", "shared",
             "-I", str(folder)]

    def compile_one(source):
        target = source.with_suffix(".o")
        return run([*flags, "-c", str(source), "-o", str(target)], settings.build_seconds), target

    results = list(pool.map(compile_one, sources))
    for (status, _, words), target in results:
        if status != 0:
            raise Failure(f"nvcc {target.with_suffix('').name}: {words or status}")
    objects = [str(target) for _, target in results]
    status, _, words = run([*flags, "-shared", *objects, "-o", str(library)], settings.build_seconds)
    for target in objects:
        Path(target).unlink(missing_ok=True)
    if status != 0:
        raise Failure(f"nvcc -shared: {words or status}")


def judge(task, folder, settings, gpu):
    """The judgement as JSON."""
    environment = dict(os.environ)
    if settings.device == "cuda":
        environment["CUDA_VISIBLE_DEVICES"] = gpu
    command = [settings.torch, f"--judge={task}", f"--library={folder / 'libmodel.so'}", f"--device={settings.device}",
               f"--seeds={settings.seeds}", f"--rounds={settings.rounds}", f"--gate-seconds={settings.gate_seconds}"]
    status, output, words = run(command + ["--tf32"] * settings.tf32, settings.judge_seconds, environment)
    try:
        judgement = json.loads(output)
    except ValueError:
        how = f"died by signal {-status}" if status < 0 else f"ended with {status}"
        raise Failure(f"judge: kernelskill-torch {how}: {words}") from None
    if "error" in judgement:
        raise Failure(f"judge: {judgement['error']}")
    return judgement


def eager_time(task, settings, gpu):
    """The eager time of a task that has no judgement; nothing if that fails, too."""
    environment = dict(os.environ) | ({"CUDA_VISIBLE_DEVICES": gpu} if settings.device == "cuda" else {})
    command = [settings.torch, f"--time={task}", f"--device={settings.device}", f"--rounds={settings.rounds}"]
    _, output, _ = run(command, settings.judge_seconds, environment)
    try:
        return json.loads(output).get("median", "")
    except ValueError:
        return ""


def fill(row, judgement, tolerance):
    """What the judgement says, into the row: whether the model is right at the tolerance, and if not, where."""
    def yes(truth):
        return "yes" if truth else "no"

    for each in TOLERANCES:
        row[f"within_{each}"] = yes(judgement[f"within{each}"])
    row["status"] = "refused" if judgement["refused"] else ("right" if judgement[f"within{tolerance}"] else "wrong")
    errors = [math.inf if trial["error"] is None else trial["error"] for trial in judgement["trials"]]
    row["error"] = f"{max(errors):.2e}" if errors else ""
    row["constant"] = yes(judgement["constantOutput"])
    row["library_nodes"] = len(judgement["libraryNodes"])
    row["trials"] = f"{len(errors)} of {judgement['plannedTrials']}"
    row["device"] = judgement["device"]
    wrong = next((trial for trial in judgement["trials"] if not trial[f"within{tolerance}"]), None)
    row["why"] = "; ".join(judgement["refusals"]) or (
        f"{wrong['distribution']} inputs, seed {wrong['seed']}: {wrong['worst']}" if wrong else "")
    times = judgement.get("times")
    if times:
        row["eager_us"], row["ours_us"] = times["eager"]["median"], times["candidate"]["median"]
        row["replayed_us"] = times["replayed"]["median"] if "replayed" in times else ""


def fill_from_manifest(row, folder):
    """What the generated model says of itself, into the row."""
    try:
        manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    kernels = [step for step in manifest.get("steps", []) if "kernel" in step and step.get("runs") != "once"]
    row["kernels"] = len(kernels)
    tensors = [tensor for role in ("inputs", "weights", "outputs") for tensor in manifest.get(role, [])]
    try:
        row["bytes"] = sum(ELEMENT_BYTES[tensor["element"]] * math.prod(tensor["shape"]) for tensor in tensors)
    except (KeyError, TypeError):  # another element type, or a dynamic extent
        row["bytes"] = ""
    names = [str(each.get("name", each)) if isinstance(each, dict) else str(each)
             for each in manifest.get("simplifications", [])]
    row["simplified"] = ", ".join(sorted(set(names)))


def measuring_problem(folder, settings):
    """Why the model's choice was not measured although it was to be; empty if it was."""
    if not settings.measured:
        return ""
    try:
        why = json.loads((folder / "model.json").read_text(encoding="utf-8")).get("measured", {}).get("why", "")
    except (OSError, ValueError):
        return ""
    return why and f"not measured: {why}"


def add_compiled(rows, path):
    """Gives rows the times of torch.compile that kernelbench_compile.py printed to a file: as many times the row's eager time as
    they are the eager time beside which they were taken."""
    with open(path, encoding="utf-8") as file:
        times = {each["task"]: each for each in map(json.loads, file)}
    for row in rows:
        taken = times.get(row["task"], {})
        for column, mode in MODES.items():
            value, beside = taken.get(mode), taken.get("eager")
            if isinstance(value, float) and isinstance(beside, float):
                row[column] = value / beside * number(row, "eager_us")


def compile_times(row, task, settings, gpu):
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=gpu)
    command = [sys.executable, str(Path(__file__).with_name("kernelbench_compile.py")), str(task),
               f"--rounds={settings.rounds}", f"--modes={','.join(list(MODES.values())[:settings.compile])}"]
    _, output, words = run(command, settings.compile_seconds, environment)
    try:
        times = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        row["why"] = "; ".join(filter(None, [row["why"], f"torch.compile: {words}"]))
        return
    for column, mode in MODES.items():
        value = times.get(mode, "")
        if isinstance(value, str) and value:
            row["why"] = "; ".join(filter(None, [row["why"], f"torch.compile: {value}"]))
        else:
            row[column] = value


class Bench:
    """Builds tasks side by side, and judges them one a GPU."""

    def __init__(self, settings):
        self.settings = settings
        self.gpus = queue.Queue()
        for gpu in settings.gpu_names:
            self.gpus.put(gpu)
        self.compilers = ThreadPoolExecutor(settings.jobs)
        self.writing = threading.Lock()
        self.rows = read_rows(settings.out)
        self.begin = time.monotonic()

    def is_late(self):
        return self.settings.until and time.monotonic() - self.begin > self.settings.until

    def work(self, task):
        if self.is_late():
            return
        row = dict.fromkeys(COLUMNS, "") | {"task": task.stem, "level": task.stem.split("-")[0], "status": "failed"}
        folder = self.settings.work / task.stem
        try:
            self.timed(row, "generate_s", lambda: generate(task, folder, self.settings))
            fill_from_manifest(row, folder)
            self.timed(row, "build_s", lambda: build(folder, self.settings, self.compilers))
        except Failure as failure:
            row["why"] = str(failure)
        if self.settings.build_only:
            print(f"{task.stem}: {row['why'] or 'built'}", flush=True)
            return
        gpu = self.gpus.get()
        if self.is_late():
            self.gpus.put(gpu)
            return
        try:
            if not row["why"]:
                self.timed(row, "judge_s", lambda: fill(row, judge(task, folder, self.settings, gpu), self.settings.tolerance))
            if self.settings.compile:
                compile_times(row, task, self.settings, gpu)
        except Failure as failure:
            row["why"] = str(failure)
        finally:
            if row["eager_us"] == "":
                row["eager_us"] = eager_time(task, self.settings, gpu)
            self.gpus.put(gpu)
        row["why"] = "; ".join(filter(None, [row["why"], measuring_problem(folder, self.settings)]))
        self.write(row)

    @staticmethod
    def timed(row, column, step):
        begin = time.monotonic()
        try:
            step()
        finally:
            row[column] = f"{time.monotonic() - begin:.1f}"

    def write(self, row):
        line = "\t".join(re.sub(r"\s+", " ", f"{row[column]:.2f}" if isinstance(row[column], float) else str(row[column]))
                         for column in COLUMNS)
        with self.writing:
            is_new = not self.settings.out.exists()
            with open(self.settings.out, "a", encoding="utf-8") as file:
                file.write(("\t".join(COLUMNS) + "\n" if is_new else "") + line + "\n")
            print(f"{row['task']}: {row['status']} {cell(speedup(row, 'ours_us', self.settings.tolerance))} {row['why']}", flush=True)

    def run(self, tasks):
        done = {row["task"] for row in self.rows}
        todo = [task for task in tasks if task.stem not in done]
        with ThreadPoolExecutor(self.settings.together) as pool:
            for finished in pool.map(self.work, todo):
                pass


def detected_arch():
    status, output, _ = run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], 30)
    found = re.findall(r"(\d+)\.(\d+)", output) if status == 0 else []
    return f"sm_{found[0][0]}{found[0][1]}" if found else "sm_90"


def parse(words):
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--table", action="append")
    parser.add_argument("--compiled")
    parser.add_argument("--program")
    parser.add_argument("--torch")
    parser.add_argument("--out", default="kernelbench.tsv", type=Path)
    parser.add_argument("--work", default="kernelbench-models", type=Path)
    parser.add_argument("--generated")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--libraries", action="store_true")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--measured", type=int, nargs="?", const=60, default=0)
    parser.add_argument("--precision", choices=["float32", "tf32x3", "bf16x3", "tf32"], default="float32")
    parser.add_argument("--tolerance", choices=TOLERANCES, default="1e-2")
    parser.add_argument("--compile", type=int, nargs="?", const=2, default=0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--gate-seconds", type=int, default=20)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--arch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--until", type=float, default=0)
    settings = parser.parse_args(words)
    settings.generate_seconds, settings.build_seconds, settings.judge_seconds, settings.compile_seconds = 300, 600, 600, 900
    settings.tf32 = settings.precision == "tf32"
    has_libraries = bool(settings.libraries or settings.measured)
    settings.options = ["--libraries"] * has_libraries + [f"--precision={settings.precision}"]
    if settings.tolerance != "1e-2" and has_libraries:
        settings.options.append(f"--tolerance={settings.tolerance}")
    settings.gpu_names = [str(index) for index in range(max(settings.gpus, 1))]
    settings.together = max(settings.jobs // 2, settings.gpus + 1)
    if settings.measured:
        # The judge checks the models. Each GPU has tasks that compile while another one is timed.
        settings.together = 3 * len(settings.gpu_names)
        settings.options += ["--no-check", f"--seconds={settings.measured}", f"--jobs={max(settings.jobs // len(settings.gpu_names), 2)}"]
    elif settings.libraries:
        settings.options += ["--seconds=0"] + ["--channels-last"] * settings.channels_last
    settings.turns = threading.Lock()
    settings.next_gpu = itertools.cycle(settings.gpu_names)
    settings.arch = settings.arch or detected_arch()
    settings.out, settings.work = settings.out.resolve(), settings.work.resolve()
    if settings.generated and settings.build_only:
        settings.work = Path(settings.generated).resolve()
    return settings


def main():
    settings = parse(sys.argv[1:])
    if settings.table:
        paths = [Path(name) for name in settings.table]
        rows = []
        for path in paths:
            read = read_rows(path)
            if not read:
                sys.exit(f"{path} has no row")
            rows += [row | {"table": path.stem if len(paths) > 1 else ""} for row in read]
        if settings.compiled:
            add_compiled(rows, settings.compiled)
        print("\n".join([*table(rows, settings.tolerance), *summary(rows, settings.tolerance)]))
        return 0
    wanted = [re.compile(pattern) for pattern in settings.only.split(",") if pattern]
    tasks = sorted(Path(settings.folder).resolve().glob("*.pt2"), key=lambda path: natural(path.stem))
    tasks = [task for task in tasks if not wanted or any(pattern.search(task.stem) for pattern in wanted)]
    if not tasks:
        sys.exit(f"no program *.pt2 in {settings.folder}")
    settings.work.mkdir(parents=True, exist_ok=True)
    Bench(settings).run(tasks)
    if settings.build_only:
        return 0
    names = {task.stem for task in tasks}
    rows = [row for row in read_rows(settings.out) if row["task"] in names]
    if rows:
        print("\n".join([*table(rows, settings.tolerance), *summary(rows, settings.tolerance)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
