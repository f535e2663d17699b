/// A kernel of a generated model, as text: what one launch computes of a raised program.
#pragma once

#include "analysis/raise/program.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct KernelParameter {
    analysis::raise::BufferId buffer = 0;
    bool isWritten = false; ///< A pointer to const if not.
};

/// The text uses a buffer's name for its pointer and a symbol's name for its value, `long long`.
struct Kernel {
    std::string name;                 ///< An identifier; the kernel is `<name>_kernel`.
    std::vector<std::string> sources; ///< The nodes of the graph that it does the work of.
    std::string schedule; ///< How the work is shared out, in a sentence: "one warp a row".
    std::vector<KernelParameter> parameters; ///< In their order; each buffer once.
    std::vector<std::string> symbols;        ///< The symbolic sizes that it takes, after buffers.
    std::vector<std::string> helpers; ///< The device functions that it calls, by device_helpers.h.
    std::vector<std::string> headers; ///< Includes beside cuda_runtime.h: "cuda_fp16.h".
    /// The kernel, and what it alone needs before it. Its parameters are those above.
    std::string definition;
    std::array<analysis::raise::Index, 3> blocks = {
        1, 1, 1}; ///< The grid; with 0 blocks nothing is launched.
    std::array<std::size_t, 3> threads = {1, 1, 1}; ///< The block.
    /// Floating-point operations, and bytes of its buffers, each once. Estimates: sizes that are
    /// not known count as 64.
    double operations = 0;
    double bytes = 0;
    bool usesTensorCores = false; ///< Its products are of TF32 numbers, or of parts of numbers.
    /// Numbers that its text keeps in 32 bits: the launcher refuses those of more than 2^30.
    std::vector<analysis::raise::Index> narrow;
    std::size_t sharedBytes = 0; ///< Dynamic shared memory.
};

/// "const float* __restrict__ x, float* __restrict__ y, long long s77".
[[nodiscard]] std::string parameterList(const analysis::raise::Program& program,
                                        const Kernel& kernel);
/// "x, y, s77".
[[nodiscard]] std::string argumentList(const analysis::raise::Program& program,
                                       const Kernel& kernel);

} // namespace kernelskill::engine::graph
