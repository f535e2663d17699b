/// Compares what a candidate computed with what LibTorch computes from the same tensors.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/trial_tensors.h"

#include <memory>
#include <vector>

namespace kernelskill::engine::graph {

/// A comparison of all outputs.
struct Comparison {
    TrialResult result;               ///< Without seed, distribution, symbols and stream.
    std::vector<at::Tensor> expected; ///< The reference's outputs.
};

class Referee {
public:
    /// Errors as PreparedProgram::prepare().
    [[nodiscard]] static Result<Referee> of(const std::shared_ptr<const Program>& program,
                                            const TorchSubject& subject);

    /// Runs the program from these tensors in float64, or as written if that fails, as it does
    /// where the memory is short. An output that is beyond a tolerance counts as within it if eager
    /// float32 is beyond it, too, in as many elements and as far, up to a factor of 4: float32
    /// cannot tell then. So does one that differs by a tenth of the outputs' magnitude, which
    /// torch's rule allows where outputs are small. With `scalesAtol`, for large inputs, atol is
    /// multiplied by the outputs' magnitude: else any rounding of operands would show where terms
    /// cancel. Failed if the program cannot be run, or has outputs of other shapes.
    [[nodiscard]] Result<Comparison> compare(const TrialTensors& model, const Values& tensors,
                                             const std::vector<at::Tensor>& found,
                                             bool scalesAtol) const;

    [[nodiscard]] const PreparedProgram& asWritten() const { return asWritten_; }

private:
    Referee(PreparedProgram wide, PreparedProgram asWritten)
        : wide_(std::move(wide)), asWritten_(std::move(asWritten)) {}

    PreparedProgram wide_;
    PreparedProgram asWritten_;
};

/// The program's outputs that the model gives, computed from these tensors.
[[nodiscard]] Result<std::vector<at::Tensor>> outputsOf(const PreparedProgram& program,
                                                        const TrialTensors& model, Values tensors,
                                                        bool usesDefaults = false);

} // namespace kernelskill::engine::graph
