#include "engine/review/error_judgement.h"

#include "engine/comparison/scalar_row.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace kernelskill::engine {
namespace {

constexpr const char* errorCheck = "errors are rounding errors";
/// With fewer results as large as their scale no bias is told from chance.
constexpr double minEvidence = 2.5;
/// A bias below this part of the errors' spread is no side that they take.
constexpr double sidePart = 0.25;
/// A constant that is rounded once, such as the reciprocal of a divisor, moves all results to one
/// side; so many units are explained by a few of them.
/// Results of one row may share the rounding of its sum.
constexpr double biasExplained = 8;
/// The same where the original is the measure, whose own bias is not known.
constexpr double biasExplainedWithoutTruth = 64;
/// The bias that rounding to 16 bits alone explains, in units of the result: if values are few,
/// their roundings may fall to one side.
constexpr double biasOfRounding = 0.25;
/// The bias of the candidate relative to the original's.
constexpr double biasGrowthAllowed = 4;
/// The standard errors that are added to the original's bias.
constexpr double chanceOfOwn = 3;
/// So many small results must be lost, and this part of all up to their magnitude. More of them
/// must have lost digits alone, as chance may take digits where sums cancel.
constexpr std::uint64_t minLost = 4;
constexpr std::uint64_t minCoarse = 32;
constexpr double lostPart = 0.5;
/// A small result lost digits if it is so far from the reference, relatively and in units of its
/// type, and so many times as far as any that the original computes of that magnitude.
constexpr double coarseError = 0x1p-14;
constexpr double coarseUnits = 4;
constexpr double coarseGrowth = 64;
/// The original keeps so many results for each that it misses, or the kernel is no measure there.
constexpr double missedAllowed = 8;
/// A relative error that the statement explains makes a loss no surprise.
constexpr double explainedLoss = 0x1p-4;
constexpr double statementsMargin = 4;

/// The stated error in units of the output, where the original's own rounding tells how much the
/// kernel enlarges an error on its way.
double statedUnits(const skills::StatedError& stated, const OutputErrors& errors) {
    const double enlarged = std::max(1.0, errors.original.spread());
    return (stated.ulps * skills::unitInTheLastPlace + stated.absolute) / errors.unit * enlarged;
}

/// The number of standard errors from which on a bias is certain: Student's distribution exceeds it
/// about once in a million, whatever the number of results.
double certainty(const ErrorMoments& moments) {
    return 5 * std::pow(10.0, 4 / (std::max(moments.evidence(), minEvidence) - 1));
}

double allowedBias(const OutputErrors& errors, const Closeness& closeness, bool isTruth) {
    const skills::StatedError& stated = closeness.accuracy.error;
    const double own = std::abs(errors.original.bias()) + chanceOfOwn * errors.original.doubt();
    double explained = isTruth ? biasExplained : biasExplainedWithoutTruth;
    if (closeness.onlyStoresHalf && errors.unit > skills::unitInTheLastPlace)
        explained = explained * skills::unitInTheLastPlace / errors.unit + biasOfRounding;
    if (stated == skills::StatedError{})
        return biasGrowthAllowed * own + explained;
    // A function that is called with one argument in each round of a loop errs to one side.
    return biasGrowthAllowed * own + explained +
           std::max(statedUnits(stated, errors), errors.allowed);
}

bool isBiased(const OutputErrors& errors, double allowed) {
    const double bias = std::abs(errors.candidate.bias());
    return errors.candidate.evidence() >= minEvidence && bias > allowed &&
           bias > certainty(errors.candidate) * errors.candidate.doubt() &&
           bias > sidePart * errors.candidate.spread();
}

/// The relative error of results of this magnitude that the statement explains.
double explainedAt(const skills::StatedError& stated, const OutputErrors& errors, int exponent,
                   const SmallResults& small) {
    const double enlarged = std::max(1.0, small.relativeError / skills::unitInTheLastPlace);
    const double relative = stated.ulps * skills::unitInTheLastPlace * enlarged;
    // A root near zero makes of an absolute error its root.
    const double absolute =
        std::sqrt(stated.absolute) * std::max(errors.scale, 1.0) / std::ldexp(1, exponent);
    return statementsMargin * (relative + absolute);
}

struct LostResults {
    std::uint64_t lost = 0; ///< Or only digits of them.
    std::uint64_t kept = 0; ///< By the original.
    int below = 0;          ///< All are below 2 to this power.
    bool isWhole = true;    ///< Next to nothing of them is left.
};

/// The small results up to a magnitude of which the candidate loses the most.
std::optional<LostResults> lostResults(const OutputErrors& errors,
                                       const skills::StatedError& stated) {
    std::optional<LostResults> worst;
    LostResults gone;
    LostResults coarse{.isWhole = false};
    const auto take = [&](LostResults& all, std::uint64_t lost, std::uint64_t least) {
        all.lost += lost;
        if (all.lost >= least &&
            static_cast<double>(all.lost) >= lostPart * static_cast<double>(all.kept) &&
            (!worst || (all.isWhole && !worst->isWhole) ||
             (all.isWhole == worst->isWhole && all.lost > worst->lost)))
            worst = all;
    };
    for (const auto& [exponent, small] : errors.small) {
        const double explained = explainedAt(stated, errors, exponent, small);
        if (explained > explainedLoss ||
            missedAllowed * static_cast<double>(small.missed) > static_cast<double>(small.kept))
            continue;
        gone.kept = coarse.kept += small.kept;
        gone.below = coarse.below = exponent + 1;
        take(gone, small.lost, minLost);
        take(coarse,
             small.furtherThan(std::max({coarseError, coarseUnits * errors.unit,
                                         coarseGrowth * small.relativeError, explained})),
             minCoarse);
    }
    return worst;
}

std::string inWords(const OutputErrors& errors) {
    return fmt::format("{} results of '{}': largest error {:.3g} ulp (original {:.3g}, allowed "
                       "{:.3g}), bias {:+.2g} ulp (original {:+.2g})",
                       errors.candidate.count, errors.buffer, errors.candidate.largest,
                       errors.original.largest, errors.allowed, errors.candidate.bias(),
                       errors.original.bias());
}

std::string inWords(const skills::StatedError& stated) {
    if (stated == skills::StatedError{})
        return "";
    std::string text = fmt::format("; the edit states {:.3g} ulp", stated.ulps);
    if (stated.absolute > 0)
        text += fmt::format(" and {:.2g} of 1", stated.absolute);
    return text;
}

} // namespace

ReviewErrors::Errors& ReviewErrors::errorsOf(const LaunchSpec& launch, bool hasTruth) {
    for (Errors& errors : errors_)
        if (errors.hasTruth == hasTruth && errors.templateArguments == launch.templateArguments)
            return errors;
    return errors_.emplace_back(Errors{launch.templateArguments, hasTruth, {}});
}

void ReviewErrors::add(const LaunchSpec& launch, const RunPair& pair, const Closeness& closeness,
                       const OutputJudgement& judged) {
    if (judged.tolerance.bitExact || closeness.onlyFiniteness)
        return;
    const auto& outputs = pair.original.outputs;
    const bool hasTruth = judged.ownError.has_value();
    errorsOf(launch, hasTruth)
        .distribution.add(hasTruth ? **pair.truth : outputs, outputs, pair.candidate.outputs,
                          closeness.usualScales, judged.tolerance.scaledError);
}

std::string ReviewErrors::sentence() const {
    const OutputErrors* worst = nullptr;
    for (const Errors& errors : errors_)
        for (const OutputErrors& output : errors.distribution.outputs())
            if (worst == nullptr || output.candidate.largest > worst->candidate.largest)
                worst = &output;
    return worst == nullptr || worst->candidate.count == 0
               ? ""
               : fmt::format(" Errors in {}.", inWords(*worst));
}

bool ReviewErrors::hasAny() const {
    return std::ranges::any_of(
        errors_, [](const Errors& errors) { return !errors.distribution.outputs().empty(); });
}

CheckResult ReviewErrors::judge(const Closeness& closeness) const {
    const skills::StatedError& stated = closeness.accuracy.error;
    std::string seen;
    for (const Errors& instance : errors_) {
        for (const OutputErrors& errors : instance.distribution.outputs()) {
            // For an output in double the reference is the original itself.
            const bool isTruth =
                instance.hasTruth && errors.unit > 2 * unitRoundoff(analysis::ScalarKind::Double);
            const std::string against = isTruth ? "float64" : "the original, without float64";
            const auto refused = [&](const std::string& why) {
                return incorrect(errorCheck,
                                 fmt::format("{}; against {}, {}{}", why, against, inWords(errors),
                                             inWords(stated)),
                                 {.stage = ReviewStage::Outputs});
            };
            const double allowed = allowedBias(errors, closeness, isTruth);
            if (isBiased(errors, allowed))
                return refused(fmt::format("the results of '{}' are off to one side by {:+.3g} ulp "
                                           "on average, more than the {:.3g} ulp that rounding and "
                                           "the edit's statement explain",
                                           errors.buffer, errors.candidate.bias(), allowed));
            // Only float64 shows what the original keeps.
            if (const auto lost = isTruth ? lostResults(errors, stated) : std::nullopt)
                return refused(fmt::format("{} of {} results of '{}' below {:.3g} in magnitude {}, "
                                           "which the original keeps",
                                           lost->lost, lost->kept, errors.buffer,
                                           std::ldexp(1, lost->below),
                                           lost->isWhole ? "are lost" : "lost digits"));
            if (errors.candidate.count > 0)
                seen += fmt::format("{}against {}, {}", seen.empty() ? "" : "; ", against,
                                    inWords(errors));
        }
    }
    return held(errorCheck,
                seen.empty() ? "both kernels compute all results exactly" : seen + inWords(stated));
}

} // namespace kernelskill::engine
