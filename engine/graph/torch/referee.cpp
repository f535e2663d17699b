#include "engine/graph/torch/referee.h"

#include "engine/graph/torch/agreement.h"
#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// How much worse than eager float32 a candidate may be where float32 is beyond a tolerance.
constexpr double allowedExcess = 4;

/// The share of the outputs' magnitude that a difference may have at most. Small outputs are within
/// torch's tolerances of anything that is small.
constexpr double allowedShare = 0.1;

TorchSubject withoutTf32(TorchSubject subject, Precision precision) {
    subject.precision = precision;
    subject.allowsTf32 = false;
    return subject;
}

/// An output of the candidate next to the reference's.
struct OutputComparison {
    Agreement candidate;
    std::optional<double> magnitude; ///< Root mean square of the reference's output.
    Agreement eager;                 ///< Eager without TF32, if it was needed.
    Agreement usual;                 ///< Eager by PyTorch's defaults of TF32, if it was needed.

    [[nodiscard]] bool isOutOfProportion(double share) const {
        return magnitude && candidate.difference > share * allowedShare * *magnitude;
    }
    [[nodiscard]] bool needsEager(double share) const {
        return candidate.nearTight > 0 || needsUsual(share);
    }
    [[nodiscard]] bool needsUsual(double share) const {
        return candidate.nearLoose > 0 || isOutOfProportion(share);
    }
    /// `yardstick`: eager or usual. `share`: of all that is allowed, with the elements beyond it.
    [[nodiscard]] bool isWithin(std::int64_t Agreement::* beyond, const Agreement& yardstick,
                                double share = 1) const {
        const double excess = share * allowedExcess;
        if (isOutOfProportion(share) && candidate.difference > excess * yardstick.difference)
            return false;
        const auto elements = static_cast<double>(candidate.*beyond);
        const auto eagerElements = static_cast<double>(yardstick.*beyond);
        return elements == 0 || (eagerElements > 0 && candidate.error <= excess * yardstick.error &&
                                 elements <= excess * eagerElements);
    }
};

std::string describe(std::size_t output, const Agreement& agreement, at::IntArrayRef sizes) {
    std::ostringstream text;
    text << "output " << output << " at " << placeText(agreement.worst, sizes) << ": "
         << agreement.found << " instead of " << agreement.expected;
    return text.str();
}

} // namespace

Result<Referee> Referee::of(const std::shared_ptr<const Program>& program,
                            const TorchSubject& subject) {
    auto wide = PreparedProgram::prepareUnbound(program, withoutTf32(subject, Precision::Float64));
    if (!wide)
        return std::unexpected(wide.error());
    auto asWritten =
        PreparedProgram::prepareUnbound(program, withoutTf32(subject, Precision::AsWritten));
    if (!asWritten)
        return std::unexpected(asWritten.error());
    return Referee(std::move(*wide), std::move(*asWritten));
}

Result<std::vector<at::Tensor>> outputsOf(const PreparedProgram& program, const TrialTensors& model,
                                          Values tensors, bool usesDefaults) {
    static_cast<void>(program.begin()); // Sets the seed and the precision of products.
    if (usesDefaults)
        useTf32(false);
    auto values = program.run(std::move(tensors), {});
    if (!values)
        return std::unexpected(values.error());
    std::vector<at::Tensor> outputs;
    for (const TrialTensor& output : model.outputs) {
        const auto found = values->find(output.name);
        if (found == values->end() || !found->second.isTensor())
            return std::unexpected(
                Error{ErrorKind::Failed, "the reference did not compute " + output.name, {}, {}});
        const auto tensor = found->second.toTensor();
        if (tensor.sizes() != at::IntArrayRef(output.sizes))
            return std::unexpected(Error{ErrorKind::Failed,
                                         "the reference's output " + output.name +
                                             " has another shape than the program says",
                                         {},
                                         {}});
        outputs.push_back(tensor);
    }
    return outputs;
}

Result<at::Tensor> Expectation::eager(std::size_t output, bool usesDefaults) {
    std::vector<at::Tensor>& made = usesDefaults ? usual_ : eager_;
    if (made.empty()) {
        auto outputs = outputsOf(asWritten_, model_, tensors_, usesDefaults);
        if (!outputs)
            return std::unexpected(outputs.error());
        made = std::move(*outputs);
    }
    return made[output];
}

Result<Expectation> Referee::expect(const TrialTensors& model, const Values& tensors) const {
    Expectation expectation(asWritten_, model, tensors);
    auto expected = withoutExceptions("the reference failed", "", [&] {
        Values wide = tensors;
        for (auto& [name, value] : wide)
            if (value.isTensor())
                value = value.toTensor().to(typeAt(wide_.place(), value.toTensor().scalar_type()));
        return outputsOf(wide_, model, std::move(wide));
    });
    expectation.isFloat64 = expected.has_value();
    if (!expected) {
        releaseCachedMemory();
        expected = outputsOf(asWritten_, model, tensors);
    }
    if (!expected)
        return std::unexpected(expected.error());
    expectation.outputs = std::move(*expected);
    return expectation;
}

Result<TrialResult> Referee::compare(Expectation& expectation, const std::vector<at::Tensor>& found,
                                     bool scalesAtol, double share) {
    return withoutExceptions("the outputs cannot be compared", "", [&]() -> Result<TrialResult> {
        TrialResult result;
        result.isFloat64 = expectation.isFloat64;
        result.isWithinLoose = true;
        result.isWithinTight = true;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const at::Tensor& expected = expectation.outputs[i];
            OutputComparison output;
            output.magnitude = magnitudeOf(expected);
            const double scale = scalesAtol ? std::max(output.magnitude.value_or(1), 1.0) : 1;
            const auto yardstick = [&](bool usesDefaults) -> Result<Agreement> {
                const auto eager = expectation.eager(i, usesDefaults);
                if (!eager)
                    return std::unexpected(eager.error());
                return agreementOf(*eager, expected, scale, share);
            };
            output.candidate = agreementOf(found[i], expected, scale, share);
            if (output.candidate.error >= result.error) {
                result.error = output.candidate.error;
                result.worst = describe(i, output.candidate, found[i].sizes());
            }
            if (!output.needsEager(share))
                continue;
            if (result.isFloat64) {
                const auto agreement = yardstick(false);
                if (!agreement)
                    return std::unexpected(agreement.error());
                output.eager = *agreement;
                result.eagerError = std::max(result.eagerError.value_or(0), output.eager.error);
                if (output.needsUsual(share)) {
                    const auto byDefaults = yardstick(true);
                    if (!byDefaults)
                        return std::unexpected(byDefaults.error());
                    output.usual = *byDefaults;
                }
            }
            result.isWithinLoose &= output.isWithin(&Agreement::beyondLoose, output.usual) &&
                                    output.isWithin(&Agreement::nearLoose, output.usual, share);
            result.isWithinTight &= output.isWithin(&Agreement::beyondTight, output.eager) &&
                                    output.isWithin(&Agreement::nearTight, output.eager, share);
        }
        return result;
    });
}

Result<Comparison> Referee::compare(const TrialTensors& model, const Values& tensors,
                                    const std::vector<at::Tensor>& found, bool scalesAtol) const {
    auto expectation = expect(model, tensors);
    if (!expectation)
        return std::unexpected(expectation.error());
    auto result = compare(*expectation, found, scalesAtol);
    if (!result)
        return std::unexpected(result.error());
    return Comparison{std::move(*result), std::move(expectation->outputs)};
}

} // namespace kernelskill::engine::graph
