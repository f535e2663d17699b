"""Measures how much the style that a kernel is written in decides about how fast its search makes it, on a GPU.

usage: style_results.py run KERNELSKILL FOLDER [--seconds S] [--jobs N] [--only NAME,...]   writes FOLDER/KERNEL.json
       style_results.py table FOLDER                                                        prints the table

The computations of tests/nest/kernels, each in three styles and launched for as many elements: LAUNCHES has the sizes. The time
of a kernel is that of the original divided by the speedup, both as `kernelskill optimize --on gpu --json` measures them. The last
column is the slowest style's time by the fastest one's. A computation whose launch is not known here is left out and named.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KERNELS = Path(__file__).parents[1] / "nest" / "kernels"

DURATION = "kernelskill__time_median.ns"

ROWS = "(m + 127) / 128, 128"
ELEMENTS = "(n + 255) / 256, 256"
PLANE = "dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)"
WIDE = "dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)"
FLAT = "(h * w + 255) / 256, 256"

# Computation: the values of its scalars, the elements of its buffers, and the grid and block of each style.
LAUNCHES = {
    "argmax": ("m = 1 << 17, n = 512", {"x": "m * n", "best": "m"}, {"indexed": ROWS, "row": ROWS, "strided": ROWS}),
    "bias_relu": ("m = 1 << 15, n = 2048", {"x": "m * n", "b": "n", "y": "m * n"},
                  {"macro": WIDE, "flat": "(m * n + 255) / 256, 256", "rows": "m, 256"}),
    "column_sum": ("m = 1 << 14, n = 4096", {"x": "m * n", "y": "n"}, dict.fromkeys(("indexed", "moving", "offset"), ELEMENTS)),
    "convolution": ("n = 1 << 26", {"in": "n", "taps": "9", "out": "n"},
                    dict.fromkeys(("guarded", "template<9>", "moving"), ELEMENTS)),
    "dot": ("n = 1 << 26", {"x": "n", "y": "n", "result": "1"}, {"atomic": ELEMENTS, "strided": "2112, 256", "warp": "2112, 256"}),
    "embedding": ("count = 1 << 15, width = 2048", {"table": "65536 * width", "ids": "count", "out": "count * width"},
                  {"plane": "dim3((width + 255) / 256, count), 256", "flat": "(count * width + 255) / 256, 256", "rows": "count, 256"}),
    "grey": ("h = 1 << 13, w = 1 << 14", {"in": "h * w", "out": "h * w"},
             {"plane": PLANE, "flat": FLAT, "rows": "(h + 127) / 128, 128"}),
    "histogram": ("n = 1 << 26", {"keys": "n", "bins": "256"}, dict.fromkeys(("guarded", "strided", "early"), ELEMENTS)),
    "layernorm": ("m = 1 << 16, n = 1024", {"x": "m * n", "g": "n", "y": "m * n"}, {"indexed": ROWS, "shifted": ROWS, "block": "m, 256"}),
    "matmul": ("m = 2048, n = 2048, k = 2048", {"a": "m * k", "b": "k * n", "c": "m * n"},
               {"plane": WIDE, "flat": "(m * n + 255) / 256, 256", "called": WIDE}),
    "matvec": ("m = 1 << 17, n = 512", {"a": "m * n", "x": "n", "y": "m"},
               {"indexed": ROWS, "template<float>": ROWS, "walking": ROWS}),
    "maxpool": ("h = 1 << 12, w = 1 << 13", {"in": "4 * h * w", "out": "h * w"}, {"plane": PLANE, "flat": FLAT, "rows": "h, 256"}),
    "particles": ("n = 1 << 23, dt = 0.01f", {"p": "n"}, dict.fromkeys(("indexed", "reference", "called"), ELEMENTS)),
    "permute": ("c = 64, h = 1024, w = 1024", {"in": "c * h * w", "out": "c * h * w"},
                {"flat": "(c * h * w + 255) / 256, 256", "cube": "dim3((w + 31) / 32, (h + 7) / 8, c), dim3(32, 8)",
                 "loops": "dim3((w + 255) / 256, h), 256"}),
    "reverse": ("n = 1 << 27", {"in": "n", "out": "n"}, dict.fromkeys(("guarded", "pointer", "strided"), ELEMENTS)),
    "row_scan": ("m = 1 << 16, n = 1024", {"x": "m * n", "y": "m * n"}, dict.fromkeys(("indexed", "index", "ends"), ROWS)),
    "row_softmax": ("m = 1 << 16, n = 1024", {"x": "m * n", "y": "m * n"}, dict.fromkeys(("thread", "rows", "called"), ROWS)),
    "row_sum": ("m = 1 << 17, n = 512", {"x": "m * n", "y": "m"}, {"thread": ROWS, "backwards": ROWS, "block": "m, 256"}),
    "saxpy": ("n = 1 << 26, a = 2.5f", {"x": "n", "y": "n"}, dict.fromkeys(("guarded", "early", "strided"), ELEMENTS)),
    "stencil_line": ("n = 1 << 27", {"in": "n", "out": "n"}, dict.fromkeys(("guarded", "continue", "reference"), ELEMENTS)),
    "stencil_plane": ("h = 1 << 13, w = 1 << 13", {"in": "h * w", "out": "h * w"},
                      {"guarded": PLANE, "flat": FLAT, "pointer": "(w + 255) / 256, 256"}),
    "transpose": ("m = 1 << 13, n = 1 << 13", {"in": "m * n", "out": "m * n"},
                  {"plane": WIDE, "flat": "(m * n + 255) / 256, 256", "columns": ELEMENTS}),
}
SIGNATURE = r"__global__\s+void\s+{}\s*\(([^)]*)\)"


def plain(name):
    return re.sub("<.*", "", name)


def host(text, computation, style):
    """A function that allocates the buffers of a kernel and launches it."""
    scalars, sizes, grids = LAUNCHES[computation]
    name = f"{computation}_{style}"
    parameters = re.search(SIGNATURE.format(plain(name)), text).group(1).split(",")
    lines = [f"    const {'float' if value.endswith('f') else 'int'} {scalar} = {value};"
             for scalar, value in (each.split(" = ") for each in scalars.split(", "))]
    arguments = []
    for parameter in parameters:
        kind, argument = re.match(r"(.*?)(\w+)$", parameter.strip()).groups()
        arguments.append(argument)
        if argument in sizes:
            element = re.sub(r"\bT\b", "float", re.sub(r"\bconst\b|__restrict__|\*", "", kind)).strip()
            lines += [f"    {element}* {argument};",
                      f"    cudaMalloc(&{argument}, sizeof({element}) * ({sizes[argument]}));"]
    lines.append(f"    {name}<<<{grids[style]}>>>({', '.join(arguments)});")
    return "void run() {\n" + "\n".join(lines) + "\n}\n"


def search(program, folder, computation, style, seconds):
    """Searches one kernel and keeps what the program prints."""
    name = f"{computation}_{style}"
    workspace = folder / plain(name)
    workspace.mkdir()  # One that is there may hold what an earlier search has found.
    source = workspace / f"{computation}.cu"
    text = (KERNELS / source.name).read_text(encoding="utf-8")
    source.write_text(f"{text}\n{host(text, computation, style)}", encoding="utf-8")
    kernel = ["--kernel", plain(name), "--on", "gpu", "--json"]
    search = ["--seconds", str(seconds), "--no-long-term-memory"]
    answers = {}
    for action, further in (("profile", []), ("optimize", search)):
        done = subprocess.run([program, action, str(source), *kernel, *further], capture_output=True, text=True, check=False,
                              timeout=seconds + 120)
        answers[action] = json.loads(done.stdout) if done.stdout else done.stderr
    (folder / f"{plain(name)}.json").write_text(json.dumps(answers), encoding="utf-8")


def duration(document):
    """The kernel's time in microseconds, wherever the profile has it."""
    if isinstance(document, dict):
        if DURATION in document:
            return document[DURATION] / 1000
        document = document.values()
    elif not isinstance(document, list):
        return None
    return next(filter(None, map(duration, document)), None)


def times(folder, computation, style):
    """Microseconds of the original and of what the search left, and its skills; a string: why there are none."""
    try:
        found = json.loads((folder / f"{plain(f'{computation}_{style}')}.json").read_text(encoding="utf-8"))
        before = duration(found["profile"])
        best = found["optimize"]["best"]
        return before, before / best["speedup"] if best["improved"] else before, best["skills"]
    except (OSError, KeyError, TypeError, ValueError) as error:
        return str(error) or "no result"


def table(folder):
    print("| computation | style | original us | left us | skills | slowest by fastest |\n|---|---|---:|---:|---|---:|")
    spreads, originals = [], []
    for computation, (_, _, grids) in LAUNCHES.items():
        rows = {style: times(folder, computation, style) for style in grids}
        known = {style: row for style, row in rows.items() if not isinstance(row, str)}
        spread = ""
        if len(known) == len(grids):
            left = [row[1] for row in known.values()]
            spreads.append(max(left) / min(left))
            originals.append(max(row[0] for row in known.values()) / min(row[0] for row in known.values()))
            spread = f"{spreads[-1]:.2f}"
        for number, (style, row) in enumerate(rows.items()):
            cells = f"- | - | {row}" if isinstance(row, str) else f"{row[0]:.1f} | {row[1]:.1f} | {', '.join(row[2]) or 'none'}"
            print(f"| {computation if number == 0 else ''} | {plain(style)} | {cells} | {spread if number == 0 else ''} |")
    if spreads:
        mean = math.exp(sum(map(math.log, spreads)) / len(spreads))
        before = math.exp(sum(map(math.log, originals)) / len(originals))
        print(f"\n{sum(each <= 1.1 for each in spreads)} of {len(spreads)} computations are within 10 % whatever the style; slowest by "
              f"fastest {mean:.2f} in the geometric mean ({before:.2f} as written)")
    left_out = sorted({path.stem for path in KERNELS.glob("*.cu")} - set(LAUNCHES))
    print(f"left out: {', '.join(left_out)}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("places", nargs="+")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.action == "table":
        return table(Path(arguments.places[0]))
    if len(arguments.places) != 2:
        parser.error("run needs a program and a folder")
    program, folder = arguments.places[0], Path(arguments.places[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, arguments.only.split(",")))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for computation, (_, _, grids) in LAUNCHES.items():
            if only and computation not in only:
                continue
            for style in grids:
                pool.submit(search, program, folder, computation, style, arguments.seconds)
    return table(folder)


if __name__ == "__main__":
    sys.exit(main())
