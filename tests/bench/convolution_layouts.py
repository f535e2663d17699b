"""Times the convolutions of exported PyTorch programs on a GPU in two layouts, NCHW and channels-last.

usage: convolution_layouts.py measure ARCHIVE...
       convolution_layouts.py table ROWS

`measure` prints one line of JSON for each convolution in two or three dimensions: {"task": name, "nchw": median, "nhwc": median,
"in": median, "out": median, ...} in microseconds, where "in" and "out" are ATen's conversions of the input and of the result. For a
program that fails it prints {"task": name, "error": reason}. Timed as by kernelbench_compile.py, with PyTorch's defaults.

`table` prints, for each level of KernelBench in the file ROWS, geometric means over tasks of the time in NCHW by that in channels-last
order: the convolutions alone, with the conversion of their inputs, and with both conversions.
"""

import json
import math
import sys
from collections import defaultdict
from pathlib import Path

ROUNDS = 15


def recorded_calls(module, inputs):
    """Runs the module; returns (operator, arguments) of each of its convolutions."""
    import torch
    aten = torch.ops.aten
    convolutions = {aten.convolution.default, aten.conv2d.default, aten.conv3d.default, aten.conv_transpose2d.input,
                    aten.conv_transpose3d.input}
    calls = []

    class Recorder(torch.fx.Interpreter):
        def run_node(self, n):
            if n.op == "call_function" and n.target in convolutions:
                calls.append((n.target, self.fetch_args_kwargs_from_env(n)[0]))
            return super().run_node(n)

    Recorder(module).run(*inputs)
    return [(operator, arguments) for operator, arguments in calls if arguments[0].dim() in (4, 5)]


def times_of(operator, arguments):
    import torch
    from kernelbench_compile import median_of
    image, weight, *others = arguments
    layout = torch.channels_last if image.dim() == 4 else torch.channels_last_3d
    converted = (image.contiguous(memory_format=layout), weight.contiguous(memory_format=layout), *others)
    result = operator(*converted)
    return {"nchw": median_of(lambda: operator(*arguments), "cuda", ROUNDS),
            "nhwc": median_of(lambda: operator(*converted), "cuda", ROUNDS),
            "in": median_of(lambda: image.contiguous(memory_format=layout), "cuda", ROUNDS),
            "out": median_of(lambda: result.contiguous(), "cuda", ROUNDS),
            "out_nhwc": result.is_contiguous(memory_format=layout)}


def measure(archives):
    import torch
    from torch.export.passes import move_to_device_pass
    from kernelbench_compile import inputs_of, program_of
    for archive in archives:
        task = Path(archive).stem
        try:
            torch.manual_seed(1)
            program = program_of(archive, "cuda")
            inputs = [tensor.to("cuda") for tensor in inputs_of(program)]
            with torch.no_grad():
                for operator, arguments in recorded_calls(move_to_device_pass(program, "cuda").module(), inputs):
                    row = {"task": task, "x": list(arguments[0].shape), "w": list(arguments[1].shape)}
                    print(json.dumps(row | times_of(operator, arguments)), flush=True)
        except Exception as problem:  # The others are timed all the same.
            print(json.dumps({"task": task, "error": f"{type(problem).__name__}: {problem}"[:300]}), flush=True)


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows):
    sums = defaultdict(lambda: defaultdict(float))
    for line in Path(rows).read_text().splitlines():
        row = json.loads(line)
        for key in ("nchw", "nhwc", "in", "out"):
            if "error" not in row:
                sums[row["task"]][key] += row[key]
    levels = defaultdict(list)
    for task, total in sums.items():
        levels[task.split("-")[0]].append(total)
    print("| level | tasks | the convolutions alone | with the input's conversion | with both |\n|---|---:|---:|---:|---:|")
    for level, tasks in sorted(levels.items()):
        alone = [total["nchw"] / total["nhwc"] for total in tasks]
        with_input = [total["nchw"] / (total["nhwc"] + total["in"]) for total in tasks]
        with_both = [total["nchw"] / (total["nhwc"] + total["in"] + total["out"]) for total in tasks]
        faster, slower = sum(ratio > 1.02 for ratio in alone), sum(ratio < 0.98 for ratio in alone)
        print(f"| {level} | {len(tasks)} | {geometric(alone):.2f} ({faster} faster, {slower} slower by more than 2 %) | "
              f"{geometric(with_input):.2f} | {geometric(with_both):.2f} |")


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "measure":
        return measure(sys.argv[2:])
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        return table(sys.argv[2])
    sys.exit(__doc__)


main()
