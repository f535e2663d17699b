/// Checks a generated model without a GPU: its kernels run on an executor, on made-up tensors, and
/// their results are compared with a reference's.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/executor.h"
#include "engine/graph/model/model_plan.h"
#include "engine/graph/reference/torch_wire.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// The result of a check.
struct ModelCheck {
    enum class Outcome : std::uint8_t {
        Agrees,
        Differs,
        NotCompared, ///< Nothing is known of the kernels.
    };
    Outcome outcome = Outcome::NotCompared;
    /// The first difference, with output and element; or the reason why nothing was compared; or,
    /// where some extents agree, why others were not compared.
    std::string why;
    /// The largest |found - expected| / max(1, |expected|) of the outputs that were compared.
    double largestError = 0;
    std::size_t kernels = 0; ///< The number of kernels that ran.
    /// The inputs with the extents that were compared, or differ: "x float32[5, 8]". Programs with
    /// dynamic extents are compared with several: those at export, the smallest, and odd ones.
    std::vector<std::vector<std::string>> shapes;
};

[[nodiscard]] std::string_view nameOf(ModelCheck::Outcome outcome);

/// Computes the outputs of the program with these extents, by withExtents() and withSymbolValues(),
/// and the values of these names, in float64. seededTensor() makes the tensors that the program
/// holds no data for.
using ModelReference = std::function<Result<TorchRun>(const ProgramExtents& extents,
                                                      const std::vector<std::string>& keep)>;

struct ModelCheckOptions {
    ModelOptions model;
    std::uint64_t seed = 1;
    /// Operations and elements of all kernels together: extents are made smaller until there are no
    /// more of them. 25 times as many where smaller extents do not fit.
    double maxWork = 4e6;
};

/// The program with the types that raising finds for its values, whatever they were before.
/// Unsupported if an extent is neither a number nor follows from the program's symbols.
[[nodiscard]] Result<Program> withRaisedTypes(Program program);

/// Plans `program` with the extents that it has or, where that is too much work or does not fit,
/// with smaller ones, and runs it. Dynamic extents stay dynamic: the kernels that are run for
/// several values of them are the same. The results of nodes that are left to a library are the
/// reference's. Never fails: what prevents the comparison is its outcome. A kernel that does not
/// compile, ends with an error or has a hazard differs.
[[nodiscard]] ModelCheck checkModel(const Program& program, const ModelReference& reference,
                                    const ModelCheckOptions& options, Executor& executor,
                                    const analysis::Toolchain& toolchain, std::stop_token stop);

} // namespace kernelskill::engine::graph
