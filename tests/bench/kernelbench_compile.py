"""Times PyTorch programs eagerly and by torch.compile on a GPU, and prints one line of JSON each: {"task": name, "eager":
median, MODE: median, ...} in microseconds; for a mode that fails, its reason instead of a number.

usage: kernelbench_compile.py ARCHIVE... [--device=cuda] [--rounds=100] [--tf32] [--modes=default,max-autotune-no-cudagraphs]

PyTorch's defaults hold, TF32 in convolutions and float32 in products; --tf32 allows TF32 in products as well. A second run finds
what the first one compiled in PyTorch's cache, so that programs can be compiled side by side before they are timed alone.

Weights that the archive does not hold, and inputs, are made up: times do not depend on them.
"""

import argparse
import gc
import io
import json
import math
import statistics
import sys
import zipfile
from pathlib import Path

import torch

LONG_ROUND = 50e3  # microseconds; fewer rounds are enough
LONG_ROUNDS = 5e6


def number(size):
    return size["as_int"] if "as_int" in size else size["as_expr"]["hint"]["as_int"]


def made_up(meta, device):
    """A tensor like the metadata of one, made where it is used: some have gigabytes."""
    from torch._export.serde.serialize import _SERIALIZE_TO_TORCH_DTYPE
    shape = [number(size) for size in meta["sizes"]]
    dtype = _SERIALIZE_TO_TORCH_DTYPE[meta["dtype"]]
    if not dtype.is_floating_point:
        return torch.randint(0, 2, shape, device=device).to(dtype)
    scale = 1 / math.sqrt(math.prod(shape[1:])) if len(shape) > 1 else 0.5
    return (torch.rand(shape, device=device) * scale + (0.5 if len(shape) == 1 else 0)).to(dtype)


def program_of(path, device):
    """The exported program, with made-up weights if the archive has none."""
    from torch._export.serde import schema
    from torch._export.serde.serialize import ExportedProgramDeserializer, _dict_to_dataclass
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        model = next(name for name in names if name.endswith("models/model.json"))
        if any("/weights/" in name for name in names):
            return torch.export.load(path)
        text = json.loads(archive.read(model))
        constants = {}
        for name in names:
            if name.endswith("constants/constants.pt"):
                constants = torch.load(io.BytesIO(archive.read(name)), weights_only=False)
    metas = text["graph_module"]["graph"]["tensor_values"]
    state = {}
    for spec in text["graph_module"]["signature"]["input_specs"]:
        for kind, key in (("parameter", "parameter_name"), ("buffer", "buffer_name")):
            if kind in spec:
                tensor = made_up(metas[spec[kind]["arg"]["name"]], device)
                state[spec[kind][key]] = torch.nn.Parameter(tensor) if kind == "parameter" else tensor
    program = ExportedProgramDeserializer().deserialize(_dict_to_dataclass(schema.ExportedProgram, text), state, constants)
    program._inputs_for_times = [made_up(metas[spec["user_input"]["arg"]["as_tensor"]["name"]], device)
                                 for spec in text["graph_module"]["signature"]["input_specs"]
                                 if "user_input" in spec and "as_tensor" in spec["user_input"]["arg"]]
    return program


def inputs_of(program):
    if hasattr(program, "_inputs_for_times"):
        return program._inputs_for_times
    return [value for value in program.example_inputs[0] if isinstance(value, torch.Tensor)]


def median_of(run, device, rounds):
    """The median of rounds, the L2 cache swept before each, by events; microseconds."""
    sweep = torch.empty(2 * torch.cuda.get_device_properties(device).L2_cache_size, dtype=torch.uint8, device=device)

    def round_of():
        sweep.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    first = statistics.median(round_of() for _ in range(5))
    if first > LONG_ROUND:
        rounds = min(rounds, max(10, int(LONG_ROUNDS / first)))
    return statistics.median(round_of() for _ in range(rounds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archives", nargs="+")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--modes", default="default,max-autotune-no-cudagraphs")
    words = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = words.tf32
    for archive in words.archives:
        try:
            times = times_of(archive, words)
        except Exception as problem:  # whatever PyTorch says is the row's reason
            times = {"eager": reason_of(problem)}
        print(json.dumps({"task": Path(archive).stem} | times), flush=True)
        torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()


def reason_of(problem):
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:200]


def times_of(archive, words):
    from torch.export.passes import move_to_device_pass
    torch.manual_seed(1)
    program = program_of(archive, words.device)
    inputs = [tensor.to(words.device) for tensor in inputs_of(program)]
    module = move_to_device_pass(program, words.device).module()
    times = {}
    with torch.no_grad():
        times["eager"] = median_of(lambda: module(*inputs), words.device, words.rounds)
        for mode in filter(None, words.modes.split(",")):
            try:
                torch._dynamo.reset()
                compiled = torch.compile(module, mode=mode)
                compiled(*inputs)
                times[mode] = median_of(lambda: compiled(*inputs), words.device, words.rounds)
            except Exception as problem:  # whatever a compiler says is its row's reason
                times[mode] = reason_of(problem)
    return times


if __name__ == "__main__":
    sys.exit(main())
