/// Writes the kernels of a parallel function, and its host function, in the file's own style.
#pragma once

#include "engine/generate/parallel_function.h"
#include "engine/generate/written_function.h"

#include <array>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The kernel of a nest. With reductions there are two: the first writes one partial result per
/// block, the second combines them.
struct WrittenKernel {
    std::string name;
    std::string purpose; ///< The word for its name: "sum"; may be empty.
    std::string text;    ///< Its definition, with a line end.
    std::string grid;    ///< As an argument of a launch, in terms of the function's parameters.
    std::string block;
    /// The kernel's names of its arrays of partial results, one per reduction.
    std::vector<std::string> parts;
    std::string totalName; ///< The second kernel, which several nests may share.
    std::string totalText;
};

struct WrittenFunction {
    std::vector<WrittenKernel> kernels; ///< In the order of ParallelFunction::nests.
    std::string helpers;                ///< Device functions that the kernels call; may be empty.
    std::string launcherName;
    std::string launcher; ///< The host function, see host_function_writer.h.

    /// The whole text, in an order that compiles.
    [[nodiscard]] std::string text(const std::string& newline) const;
};

/// The threads of a block along x, y, z for a nest with this number of mapped loops.
[[nodiscard]] std::array<int, 3> blockFor(std::size_t loops);

/// The maximum number of blocks of a reduction. It is the same on every GPU, so that results are
/// the same.
constexpr int maxParts = 1024;
constexpr int foldingThreads = 256;

/// Takes further names from `names`.
[[nodiscard]] WrittenFunction writeFunction(const analysis::FileModel& file,
                                            const analysis::KernelModel& function,
                                            const ParallelFunction& parallel, DerivedNames& names);

} // namespace kernelskill::engine
