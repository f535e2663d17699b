#!/usr/bin/env python3
"""What share of the kernels below folders `kernelskill nest` understands, and why not the others.

usage: tests/bench/nest_share.py FOLDER... [-- COMPILER_FLAG...]

Each .cu file is read on its own. Kernels of files with errors are counted apart: what they lack is not understood for that
reason. A kernel counts as understood if no statement within its innermost loops is opaque.
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def accesses(nodes):
    for node in nodes:
        yield from node.get("accesses", [])
        yield from accesses(node.get("nodes", []))


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("--help", "-h"):
        print(__doc__.strip())
        return 0 if arguments else 2
    split = arguments.index("--") if "--" in arguments else len(arguments)
    folders, flags = arguments[:split], arguments[split + 1:]
    sums = {False: collections.Counter(), True: collections.Counter()}
    reasons, forms = collections.Counter(), collections.Counter()
    for file in sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.cu")):
        command = [ROOT / "build/bin/kernelskill", "nest", "--json", "--no-toolkit", file, "--", *flags]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        document = json.loads(result.stdout) if result.stdout else {}
        broken = document.get("errors", 0) > 0
        for kernel in document.get("kernels", []):
            found = kernel["understood"]
            sums[broken].update(kernels=1, understood=int(found["hotOpaque"] == 0),
                                **{key: found[key] for key in ("statements", "opaque", "hot", "hotOpaque")})
            if not broken:
                reasons.update(found["reasons"])
                forms.update(access["form"] for access in accesses(kernel["nodes"]))
    for broken, counts in sums.items():
        if counts["kernels"]:
            print(f"{'files with errors' if broken else 'files without errors'}: {counts['understood']} of "
                  f"{counts['kernels']} kernels understood; {counts['hotOpaque']} of {counts['hot']} statements in "
                  f"innermost loops are opaque, {counts['opaque']} of {counts['statements']} in all")
    print("accesses: " + ", ".join(f"{count} {form}" for form, count in forms.most_common()))
    for reason, count in reasons.most_common(12):
        print(f"{count:6} {reason}")
    return 0


sys.exit(main())
