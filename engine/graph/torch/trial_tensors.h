/// The tensors that a generated model takes and gives, for one set of extents.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/torch/program_shapes.h"
#include "engine/graph/torch/values.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct TrialTensor {
    std::string name; ///< The value of the graph.
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> sizes;
    ElementRange range;
    at::Tensor held; ///< On the CPU; undefined if the archive does not hold it.

    [[nodiscard]] std::int64_t bytes() const;
};

/// How a trial's tensors are drawn.
struct Draw {
    std::uint64_t seed = 1;
    Distribution distribution = Distribution::Normal;
};

struct TrialTensors {
    Symbols symbols;
    std::vector<std::int64_t> sizes;  ///< The symbols' values in alphabetical order.
    std::vector<TrialTensor> weights; ///< Inputs that are no user's, in the graph's order.
    std::vector<TrialTensor> inputs;  ///< The user's.
    std::vector<TrialTensor> outputs; ///< The user's.

    /// Unsupported, by name, for inputs and outputs that are no tensors or have an extent that
    /// depends on data. The tensors that the archive holds are copied.
    [[nodiscard]] static Result<TrialTensors> of(const Program& program, Symbols symbols);
    /// The same for the extents that the program was exported with.
    [[nodiscard]] static Result<TrialTensors> ofExported(const Program& program);
};

/// Fills a weight: with what the archive holds, else by the draw's seed.
void drawWeight(const at::Tensor& tensor, const TrialTensor& weight, std::uint64_t seed);
/// Fills a user's input.
void drawInput(const at::Tensor& tensor, const TrialTensor& input, const Draw& draw);

} // namespace kernelskill::engine::graph
