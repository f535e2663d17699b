"""The tables of script/bench-optimize, from what `kernelskill optimize --json` printed.

usage: optimize_table.py FOLDER    which holds CONFIGURATION/PASS/NAME.json and NAME.seconds
"""

import json
import math
import sys
from pathlib import Path


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


class Search:
    def __init__(self, file):
        found = json.loads(file.read_text())
        best, rounds = found["best"], found["rounds"]
        self.name = file.stem
        self.seconds = float(file.with_suffix(".seconds").read_text())
        self.rounds = found["stop"]["rounds"]
        self.stop = found["stop"]["reason"]
        self.improved = best["improved"]
        self.skills = best["skills"]
        self.speedup = best["speedup"]
        self.gain = best["speedup"] or best["modelled_gain"] or 1.0
        self.bottleneck = (found["base"]["bottleneck"] or {}).get("kind", "-")
        reviewed = [each for each in rounds if each["verdict"] and not each["remembered"]]
        self.reviews = len(reviewed)
        self.wasted = sum(not each["kept"] for each in reviewed)
        status = best["verdict"]["status"] if best["verdict"] else "unchanged"
        # What is left is the original, or an edit that passed every check of the Reviewer.
        self.correct = status in ("unchanged", "faster", "unmeasured") and all(
            check["passed"] for check in (best["verdict"] or {"checks": []})["checks"]
        )

    def result(self):
        if not self.improved:
            return "1"
        return f"{self.speedup:.2f}" if self.speedup else f"({self.gain:.2f})"


def print_table(titles, rows):
    print("| " + " | ".join(titles) + " |")
    print("|" + "---|" * len(titles))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def main():
    folder = Path(sys.argv[1])
    searches, broken = {}, []
    for file in sorted(folder.glob("*/*/*.json")):
        key = (file.parent.parent.name, int(file.parent.name))
        try:
            searches.setdefault(key, []).append(Search(file))
        except (json.JSONDecodeError, KeyError, TypeError):
            broken.append(f"{key[0]}, pass {key[1]}: {file.stem}")

    print("Speedups are measured; in brackets, by the cost model.\n")
    print("## Each kernel, with both memories, first pass\n")
    print_table(
        ["kernel", "bottleneck", "speedup", "skills", "rounds", "plans reviewed", "seconds", "ended"],
        [
            [each.name, each.bottleneck, each.result(), ", ".join(each.skills) or "none", each.rounds,
             each.reviews, f"{each.seconds:.1f}", each.stop]
            for each in searches.get(("full", 1), [])
        ],
    )
    print("## With and without memories\n")
    order = ["full", "no-long-term", "no-short-term"]
    rows = []
    for (configuration, run), all_of in sorted(
        searches.items(), key=lambda item: (item[0][1], order.index(item[0][0]))
    ):
        rows.append(
            [configuration, run, len(all_of), sum(each.correct for each in all_of),
             sum(each.improved for each in all_of),
             f"{geometric_mean([each.gain for each in all_of]):.3f}",
             sum(each.rounds for each in all_of), sum(each.reviews for each in all_of),
             sum(each.wasted for each in all_of), f"{sum(each.seconds for each in all_of):.0f}"]
        )
    print_table(
        ["memories", "pass", "kernels", "correct", "improved", "geometric mean", "rounds",
         "plans reviewed", "of them dropped", "seconds"],
        rows,
    )
    print("Calls of language models: 0.")
    for line in broken:
        print(f"no result: {line}")
    wrong = [each.name for all_of in searches.values() for each in all_of if not each.correct]
    return 1 if broken or wrong or not searches else 0


if __name__ == "__main__":
    sys.exit(main())
