/// Texts that the feature tests share, with the places they point at.
#pragma once

#include "analysis/command/toolchain.h"
#include "tests/lsp-server/lsp_client.h"

#include <string>

namespace kernelskill::lsp::testing {

/// A tiled transpose: line 7 reads a column of the tile, a 32-way bank conflict.
inline const std::string transpose =
    "#define TILE 32\n"
    "__global__ void transpose(float* out, const float* in, int width, int height) {\n"
    "    __shared__ float tile[TILE][TILE];\n"
    "    int x = blockIdx.x * TILE + threadIdx.x;\n"
    "    int y = blockIdx.y * TILE + threadIdx.y;\n"
    "    tile[threadIdx.y][threadIdx.x] = in[y * width + x];\n"
    "    __syncthreads();\n"
    "    out[(blockIdx.x * TILE + threadIdx.y) * height + blockIdx.y * TILE + threadIdx.x] =\n"
    "        tile[threadIdx.x][threadIdx.y];\n"
    "}\n"
    "void launch(float* out, const float* in) {\n"
    "    dim3 block(TILE, TILE);\n"
    "    dim3 grid(4, 2);\n"
    "    transpose<<<grid, block>>>(out, in, 128, 64);\n"
    "}\n";

/// The transpose with a parameter that no launch can provide.
inline std::string transposeWithoutLaunch() {
    std::string text = transpose;
    return text.insert(text.find('(', text.find("__global__")) + 1, "float** rows, ");
}

/// Whether the GPU's compiler can be asked.
inline bool hasToolkit() {
    const auto toolchain = analysis::findToolchain({});
    return toolchain && toolchain->toolkit;
}

/// The place of `needle` in `text`, `into` characters after its start.
inline json placeOf(const std::string& text, const std::string& needle, int into = 0) {
    const auto at = text.find(needle) + static_cast<std::size_t>(into);
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const auto lineStart = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    return {{"line", line},
            {"character", lineStart == std::string::npos ? at : at - lineStart - 1}};
}

inline json pointRange(const json& place) {
    return {{"start", place}, {"end", place}};
}

} // namespace kernelskill::lsp::testing
