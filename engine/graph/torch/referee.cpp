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

    [[nodiscard]] bool isOutOfProportion() const {
        return magnitude && candidate.difference > allowedShare * *magnitude;
    }
    [[nodiscard]] bool needsEager() const {
        return candidate.beyondTight > 0 || isOutOfProportion();
    }
    [[nodiscard]] bool needsUsual() const {
        return candidate.beyondLoose > 0 || isOutOfProportion();
    }
    /// `yardstick`: eager or usual.
    [[nodiscard]] bool isWithin(std::int64_t Agreement::* beyond,
                                const Agreement& yardstick) const {
        if (isOutOfProportion() && candidate.difference > allowedExcess * yardstick.difference)
            return false;
        const auto elements = static_cast<double>(candidate.*beyond);
        const auto eagerElements = static_cast<double>(yardstick.*beyond);
        return elements == 0 ||
               (eagerElements > 0 && candidate.error <= allowedExcess * yardstick.error &&
                elements <= allowedExcess * eagerElements);
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

Result<Comparison> Referee::compare(const TrialTensors& model, const Values& tensors,
                                    const std::vector<at::Tensor>& found, bool scalesAtol) const {
    Comparison comparison;
    TrialResult& result = comparison.result;
    auto expected = withoutExceptions("the reference failed", "", [&] {
        Values wide = tensors;
        for (auto& [name, value] : wide)
            if (value.isTensor())
                value = value.toTensor().to(typeAt(wide_.place(), value.toTensor().scalar_type()));
        return outputsOf(wide_, model, std::move(wide));
    });
    result.isFloat64 = expected.has_value();
    if (!expected) {
        releaseCachedMemory();
        expected = outputsOf(asWritten_, model, tensors);
    }
    if (!expected)
        return std::unexpected(expected.error());
    return withoutExceptions("the outputs cannot be compared", "", [&]() -> Result<Comparison> {
        result.isWithinLoose = true;
        result.isWithinTight = true;
        std::vector<at::Tensor> eager;
        std::vector<at::Tensor> usual;
        const auto agreementWith = [&](std::vector<at::Tensor>& outputs, bool usesDefaults,
                                       std::size_t i, double scale) -> Result<Agreement> {
            if (outputs.empty()) {
                auto made = outputsOf(asWritten_, model, tensors, usesDefaults);
                if (!made)
                    return std::unexpected(made.error());
                outputs = std::move(*made);
            }
            return agreementOf(outputs[i], (*expected)[i], scale);
        };
        for (std::size_t i = 0; i < found.size(); ++i) {
            OutputComparison output;
            output.magnitude = magnitudeOf((*expected)[i]);
            const double scale = scalesAtol ? std::max(output.magnitude.value_or(1), 1.0) : 1;
            output.candidate = agreementOf(found[i], (*expected)[i], scale);
            if (output.candidate.error >= result.error) {
                result.error = output.candidate.error;
                result.worst = describe(i, output.candidate, found[i].sizes());
            }
            if (!output.needsEager())
                continue;
            if (result.isFloat64) {
                const auto agreement = agreementWith(eager, false, i, scale);
                if (!agreement)
                    return std::unexpected(agreement.error());
                output.eager = *agreement;
                result.eagerError = std::max(result.eagerError.value_or(0), output.eager.error);
                if (output.needsUsual()) {
                    const auto byDefaults = agreementWith(usual, true, i, scale);
                    if (!byDefaults)
                        return std::unexpected(byDefaults.error());
                    output.usual = *byDefaults;
                }
            }
            result.isWithinLoose &= output.isWithin(&Agreement::beyondLoose, output.usual);
            result.isWithinTight &= output.isWithin(&Agreement::beyondTight, output.eager);
        }
        comparison.expected = std::move(*expected);
        return std::move(comparison);
    });
}

} // namespace kernelskill::engine::graph
