"""The kernels of examples/naive as whole programs whose data is several times as large as a GPU's L2 cache, for
script/bench-programs, and how near to the GPU's copy bandwidth and to cuBLAS their searches bring them.

usage: naive_programs.py write EXAMPLES FOLDER     writes FOLDER/manifest.json and the programs
       naive_programs.py time KERNELSKILL FOLDER   times a copy and cuBLAS' SGEMM on this GPU; FOLDER/references.json
       naive_programs.py table FOLDER ROWS...      the table of the rows that script/bench-programs wrote to folders ROWS

`bytes` of a program is what its kernel cannot do without: each input's sectors read once, each output written once.
"""

import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

MIB = 1 << 20

# Name: the size in the example and the one for the bench, and the bytes that are moved at least.
SIZES = {
    "argmax": ("rows = 8192, columns = 256", "rows = 262144, columns = 256", 256 * MIB + 4 * 262144),
    "bias-relu": ("rows = 4096, columns = 1024", "rows = 32768, columns = 1024", 256 * MIB),
    "cross-entropy": ("rows = 8192, classes = 128", "rows = 524288, classes = 128", 256 * MIB + 8 * 524288),
    "dot": ("n = 1 << 20", "n = 1 << 25", 256 * MIB),
    "embedding": ("count = 8192, width = 128, words = 1000", "count = 262144, width = 128, words = 50000",
                  128 * MIB + 50000 * 512 + 4 * 262144),
    "gelu": ("n = 1 << 22", "n = 1 << 25", 256 * MIB),
    "histogram": ("n = 1 << 20", "n = 1 << 28", 256 * MIB),
    "layernorm": ("rows = 8192, columns = 256", "rows = 131072, columns = 256", 256 * MIB),
    "matmul": ("n = 384", "n = 2048", 0),
    "matvec": ("rows = 8192, columns = 512", "rows = 131072, columns = 512", 256 * MIB + 4 * 131072),
    "permute": ("batches = 8, channels", "batches = 128, channels", 256 * MIB),
    "reduction": ("n = 1 << 22", "n = 1 << 26", 256 * MIB + MIB),
    "residual-norm": ("rows = 2048, columns = 1024", "rows = 32768, columns = 1024", 384 * MIB),
    "rmsnorm": ("rows = 4096, columns = 512", "rows = 65536, columns = 512", 256 * MIB),
    "row-softmax": ("rows = 8192, columns = 256", "rows = 131072, columns = 256", 256 * MIB),
    "saxpy": ("n = 1 << 22", "n = 1 << 25", 384 * MIB),
    "scan": ("n = 1 << 20", "n = 1 << 25", 256 * MIB),
    "stencil": ("width = 2048, height = 1024", "width = 8192, height = 4096", 256 * MIB),
    "strided-copy": ("n = 1 << 21", "n = 1 << 23", 256 * MIB + 32 * MIB),
    "transpose": ("width = 2048, height = 1024", "width = 8192, height = 4096", 256 * MIB),
}
MATRIX = 2048

COPY = """#include <cuda_runtime.h>

__global__ void copy(const float4* in, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

int main() {
    const int n = 1 << 23;
    float4 *in, *out;
    cudaMalloc(&in, n * sizeof(float4));
    cudaMalloc(&out, n * sizeof(float4));
    cudaMemset(in, 1, n * sizeof(float4));
    for (int round = 0; round < 21; ++round)
        copy<<<(n + 255) / 256, 256>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""

SGEMM = """#include <cublas_v2.h>
#include <cuda_runtime.h>

int main() {
    const int n = SIZE;
    const float one = 1.0f, zero = 0.0f;
    float *a, *b, *c;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    cudaMemset(a, 1, n * n * sizeof(float));
    cudaMemset(b, 1, n * n * sizeof(float));
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
        return 1;
    for (int round = 0; round < 21; ++round)
        if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, c, n) != CUBLAS_STATUS_SUCCESS)
            return 2;
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def write(examples, folder):
    """The programs, and the manifest of those that are searched."""
    manifest = []
    for name, (before, after, _) in SIZES.items():
        text = (examples / f"{name}.cu").read_text()
        if text.count(before) != 1:
            sys.exit(f"'{before}' is not once in {name}.cu")
        program = folder / name
        program.mkdir(parents=True, exist_ok=True)
        (program / f"{name}.cu").write_text(text.replace(before, after))
        manifest.append({"name": name, "folder": name, "build": f"nvcc -O3 -arch=native {name}.cu -o program",
                         "run": "./program"})
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    (folder / "copy.cu").write_text(COPY)
    (folder / "sgemm.cu").write_text(SGEMM.replace("SIZE", str(MATRIX)))


def time(kernelskill, folder):
    """Seconds of a copy of 128 MiB and of SGEMM: medians of their launches, as `kernelskill profile` has them."""
    found = {}
    for name, libraries in (("copy", []), ("sgemm", ["-lcublas"])):
        program = folder / f"{name}-program"
        subprocess.run(["nvcc", "-O3", "-arch=native", str(folder / f"{name}.cu"), "-o", str(program)] + libraries, check=True)
        said = subprocess.run([kernelskill, "profile", "--json", "--no-details", "--", str(program)], check=True,
                              capture_output=True, text=True)
        found[name] = max(json.loads(said.stdout)["kernels"], key=lambda kernel: kernel["share"])
    (folder / "references.json").write_text(json.dumps(found, indent=1) + "\n")


def table(folder, rows):
    """One line a program: its kernels' time before and after, the bytes it needs a second, and that beside a copy's."""
    references = json.loads((folder / "references.json").read_text())
    copied = 256 * MIB / seconds_of(references["copy"])
    product = seconds_of(references["sgemm"])
    print(f"A copy of 128 MiB moves {copied / 1e9:.0f} GB/s; cuBLAS' SGEMM of {MATRIX} x {MATRIX} takes {product * 1e6:.0f} us.\n")
    print("| kernel | before, us | after, us | speedup | of the copy's or cuBLAS' speed, before | after | skills |")
    print("|---|---:|---:|---:|---:|---:|---|")
    speedups, shares = [], {}
    for name, (_, _, moved) in SIZES.items():
        file = next((each / f"{name}.json" for each in rows if (each / f"{name}.json").exists()), None)
        row = json.loads(file.read_text()) if file else {"error": "not run"}
        if "error" in row or not row["kernels"]:
            print(f"| {name} | | | | | | {row.get('error', 'no kernel is hot')} |")
            continue
        kernel = row["kernels"][0]
        turns = row["kernel_time"]["seconds"]
        before = statistics.median(turn["before"] for turn in turns) if turns else kernel["median_microseconds"] * 1e-6
        after = statistics.median(turn["after"] for turn in turns) if turns else before
        best = moved / copied if moved else product
        speedups.append(before / after)
        shares[name] = best / after
        print(f"| {name} | {before * 1e6:.1f} | {after * 1e6:.1f} | {before / after:.2f} | {100 * best / before:.0f} % "
              f"| {100 * best / after:.0f} % | {', '.join(kernel['skills']) or 'none'} |")
    bound = [name for name in shares if name != "matmul"]
    print()
    if speedups:
        mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
        at = math.exp(sum(math.log(speedup / shares[name]) for name, speedup in zip(shares, speedups)) / len(speedups))
        print(f"Geometric mean {mean:.2f} of {len(speedups)}; it would be {at:.2f} if each ran at the copy's or cuBLAS' speed.")
        print(f"At 85 % of the copy's speed or more: {sum(shares[name] >= 0.85 for name in bound)} of {len(bound)}.")


def seconds_of(reference):
    return reference["median_microseconds"] * 1e-6


def main():
    command, words = sys.argv[1], sys.argv[2:]
    if command == "write":
        write(Path(words[0]), Path(words[1]))
    elif command == "time":
        time(words[0], Path(words[1]))
    elif command == "table":
        table(Path(words[0]), [Path(word) for word in words[1:]])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
