/// A program whose parts are run by generated models, and the rest by LibTorch.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/part_model.h"
#include "engine/graph/torch/prepared_program.h"

#include <c10/core/Stream.h>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

class MixedProgram {
public:
    /// `program` and the models, which are prepared before a run, outlive it. Models that cannot
    /// run at once with those before them are left out: LibTorch runs their nodes.
    MixedProgram(const PreparedProgram& program, const std::vector<PartModel*>& models);

    /// The places of those models.
    [[nodiscard]] const std::vector<std::size_t>& leftOut() const { return leftOut_; }

    /// Runs what the outputs need, and returns them by their names. Values are freed after their
    /// last use. LibTorch's nodes run without TF32 or, with `usesDefaults`, by PyTorch's defaults
    /// of it.
    [[nodiscard]] Result<Values> run(Values values, const c10::Stream& stream,
                                     bool usesDefaults) const;

private:
    /// A node that LibTorch runs, or a model.
    struct Unit {
        const Node* node = nullptr;
        PartModel* model = nullptr;
        std::vector<std::string> reads;
        std::vector<std::string> makes;
        std::vector<std::string> done; ///< Values that no later unit reads, nor an output is.
    };

    /// Returns the units that the outputs need, in an order in which they can run; nullopt if
    /// there is no such order.
    [[nodiscard]] static std::optional<std::vector<Unit>>
    ordered(const Program& graph, const std::vector<PartModel*>& models);
    void findLastUses();

    const PreparedProgram* program_;
    std::vector<Unit> units_;
    std::vector<std::size_t> leftOut_;
};

} // namespace kernelskill::engine::graph
