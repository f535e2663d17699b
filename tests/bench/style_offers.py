"""Counts how much the style that a kernel is written in decides about what is offered for it.

usage: style_offers.py KERNELSKILL [FOLDER]

Each file of FOLDER (tests/nest/kernels) has one computation in three styles. A launch is added for each kernel, because most edits
change launches; then `kernelskill check` says what is offered. A line a kernel, and the sums: kernels that have an edit of their
structure, and computations of which each style has the same one first. Hygiene, unrolling and intrinsics are no such edits.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OTHERS = {"restrict-and-const", "grid-stride-loop", "loop-unrolling", "fast-math-intrinsics", "address-strength-reduction"}
KERNEL = re.compile(r"(?:template\s*<([^>]*)>\s*)?__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{")


def launches(text):
    """Functions that launch the kernels of a text, each with its own parameters passed on."""
    lines = []
    for kernel in KERNEL.finditer(text):
        template, name, parameters = kernel.groups()
        body = text[kernel.end():text.find("\n}", kernel.end())]
        values = []
        for parameter in filter(None, (template or "").split(",")):
            kind, parameter_name = parameter.split()[:2]
            values.append("float" if kind in ("typename", "class") else "4")
            parameters = re.sub(rf"\b{parameter_name}\b", values[-1], parameters)
        names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
        is_plane, is_cube = "threadIdx.y" in body, "threadIdx.z" in body
        block = "dim3(8, 8, 4)" if is_cube else "dim3(16, 16)" if is_plane else "256"
        grid = "dim3(blocks, blocks)" if is_plane or "blockIdx.y" in body else "blocks"
        instance = f"<{', '.join(values)}>" if values else ""
        lines.append(f"void run_{name}({parameters}, int blocks) {{ {name}{instance}<<<{grid}, {block}>>>({names}); }}")
    return "\n".join(lines)


def offers(program, path):
    """The ids that are offered for each kernel of a file, in their order."""
    done = subprocess.run([program, "check", "--json", str(path)], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    kernels = (report["files"][0] if "files" in report else report)["kernels"]
    return {kernel.get("name") or kernel["kernel"]: [skill.get("id") or skill["skill"] for skill in kernel.get("skills", [])]
            for kernel in kernels}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parents[1] / "nest" / "kernels"
    kernels = structured = computations = alike = 0
    with tempfile.TemporaryDirectory() as scratch:
        for source in sorted(folder.glob("*.cu")):
            text = source.read_text(encoding="utf-8")
            copy = Path(scratch) / source.name
            copy.write_text(f"{text}\n{launches(text)}\n", encoding="utf-8")
            firsts = []
            for name, ids in offers(sys.argv[1], copy).items():
                edits = [skill for skill in ids if skill not in OTHERS]
                firsts.append(edits[0] if edits else "")
                print(f"{name}: {', '.join(edits) or '-'}")
            kernels += len(firsts)
            structured += sum(bool(first) for first in firsts)
            computations += 1
            alike += len(set(firsts)) == 1 and bool(firsts[0])
    print(f"{structured} of {kernels} kernels have an edit of their structure; {alike} of {computations} computations have the same "
          "one first in each style")
    return 0


if __name__ == "__main__":
    sys.exit(main())
