/// Writes the kernels of a parallel function, and the host function that launches them, in the
/// file's own style.
#pragma once

#include "engine/generate/parallel_function.h"
#include "engine/generate/written_function.h"

#include <array>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The kernel of a nest. With reductions: one that leaves a part for each block, and one that
/// brings those together.
struct WrittenKernel {
    std::string name;
    std::string purpose; ///< What it is named after: "sum"; may be empty.
    std::string text;    ///< Its definition, ending with a line end; so the next.
    std::string grid;    ///< As an argument of a launch, of the function's parameters.
    std::string block;
    std::vector<std::string> parts; ///< What the kernel calls its parts, one array a reduction.
    std::string totalName;          ///< Of the second kernel, which several nests may share.
    std::string totalText;
};

struct WrittenFunction {
    std::vector<WrittenKernel> kernels; ///< In the order of ParallelFunction::nests.
    std::string helpers;                ///< Device functions that they call; may be empty.
    std::string launcherName;
    std::string launcher; ///< Copies arrays to the GPU, launches, copies the results back.

    /// All of it, in an order in which it compiles.
    [[nodiscard]] std::string text(const std::string& newline) const;
};

/// Threads of a block along x, y, z for a nest of so many mapped loops.
[[nodiscard]] std::array<int, 3> blockFor(std::size_t loops);

/// Blocks of a reduction, at most: the same on every GPU, so that its results are, too.
constexpr int maxParts = 1024;
constexpr int foldingThreads = 256;

/// `names` goes on to be asked for more of them.
[[nodiscard]] WrittenFunction writeFunction(const analysis::FileModel& file,
                                            const analysis::KernelModel& function,
                                            const ParallelFunction& parallel, DerivedNames& names);

} // namespace kernelskill::engine
