/// Compares what a candidate computed with what LibTorch computes from the same tensors.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/trial_tensors.h"

#include <memory>
#include <vector>

namespace kernelskill::engine::graph {

/// Has the outputs that LibTorch computes from a trial's tensors. Those of eager float32 are
/// computed when they are first asked for. The referee that made it, and the model, outlive it.
class Expectation {
public:
    Expectation(const PreparedProgram& asWritten, const TrialTensors& model, Values tensors)
        : asWritten_(asWritten), model_(model), tensors_(std::move(tensors)) {}

    std::vector<at::Tensor> outputs; ///< They are float64 if `isFloat64`.
    bool isFloat64 = true;

    /// Returns an output of eager float32, without TF32 or, with `usesDefaults`, by PyTorch's
    /// defaults of TF32.
    [[nodiscard]] Result<at::Tensor> eager(std::size_t output, bool usesDefaults);

private:
    const PreparedProgram& asWritten_;
    const TrialTensors& model_;
    Values tensors_;
    std::vector<at::Tensor> eager_;
    std::vector<at::Tensor> usual_;
};

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
    /// where the memory is short. Failed if the program cannot be run, or has outputs of other
    /// shapes.
    [[nodiscard]] Result<Expectation> expect(const TrialTensors& model,
                                             const Values& tensors) const;

    /// Compares outputs with expected ones. An output that is beyond a tolerance counts as within
    /// it if eager float32 is beyond it, too, in as many elements and as far, up to a factor of 4:
    /// float32 cannot tell then. So does one that differs by a tenth of the outputs' magnitude,
    /// which torch's rule allows where outputs are small. With `scalesAtol`, for large inputs, atol
    /// is multiplied by the outputs' magnitude: else any rounding of operands would show where
    /// terms cancel. With a `share` below 1, right at a tolerance is only who also is with that
    /// share of all that is allowed, and so is not at the edge. The result lacks seed,
    /// distribution, symbols and stream.
    [[nodiscard]] static Result<TrialResult> compare(Expectation& expectation,
                                                     const std::vector<at::Tensor>& found,
                                                     bool scalesAtol, double share = 1);
    /// Both, one after the other.
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
