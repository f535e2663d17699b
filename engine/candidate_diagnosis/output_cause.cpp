#include "engine/candidate_diagnosis/output_cause.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

namespace kernelskill::engine {
namespace {

/// Smaller differences between floating-point results are considered rounding.
constexpr double roundingError = 1e-3;

bool isTail(const Difference& difference) {
    const bool isOneRow = difference.last - difference.first + 1 == difference.differing;
    return isOneRow && difference.first > 0 && difference.last + 1 == difference.elements;
}

void explain(CandidateDiagnosis& found, const char* cause, std::string sentence,
             const char* invariant, const char* repair) {
    found.cause = cause;
    found.sentence = std::move(sentence);
    found.invariant = invariant;
    found.repair = repair;
}

constexpr const char* coversAll =
    "every element that the original writes is written, whatever the size";
constexpr const char* anySize = "the result is right for every size, not only for the file's own";
constexpr const char* leftOver =
    "round the grid up, or end with a loop over what a whole block, tile or vector leaves";

/// Explains which elements of an output differ.
void explainElements(CandidateDiagnosis& found, const Difference& difference) {
    const bool isUnwritten = difference.unwritten == difference.differing;
    if (isTail(difference))
        return explain(found, "tail",
                       fmt::format("the last {} of {} elements of '{}' are {}",
                                   difference.differing, difference.elements, difference.buffer,
                                   isUnwritten ? "not written" : "wrong"),
                       coversAll, leftOver);
    explain(found, "unwritten",
            fmt::format("{} of {} elements of '{}' are not written", difference.differing,
                        difference.elements, difference.buffer),
            coversAll, "let a thread write each element");
}

void explainRounding(CandidateDiagnosis& found, const Difference& difference,
                     skills::Numerics numerics) {
    if (numerics == skills::Numerics::Exact)
        return explain(
            found, "rounding",
            fmt::format("results differ only by rounding, by at most {:.2g}", *difference.maxError),
            "an exact edit keeps the order and the kind of floating-point operations",
            "compute each sum in the original's order, without faster functions");
    explain(found, "precision",
            fmt::format("results are less exact than the original's, by at most {:.2g}",
                        *difference.maxError),
            "an edit that reorders sums loses no more precision than reordering does",
            "keep partial sums in the original's type or a wider one, and use no faster functions");
}

void explainValues(CandidateDiagnosis& found, const Difference& difference,
                   const ReviewFailure& failure) {
    const std::string wrong =
        fmt::format("{} of {} elements of '{}' are wrong", difference.differing,
                    difference.elements, difference.buffer);
    if (failure.trial && failure.trial->isOnGpu)
        return explain(found, "order-of-threads", wrong + " on the GPU, none on the emulator",
                       "the result does not depend on the order in which blocks and warps run",
                       "look for warps that are assumed to run in lock-step, and for blocks that "
                       "read data that others write");
    if (failure.trial && !failure.trial->isFileSize && failure.agreedBefore > 0)
        return explain(found, "size", wrong + " at this size, none at the file's own", anySize,
                       "look for a count that is assumed to be a multiple of a block, tile or "
                       "vector");
    if (failure.agreedBefore > 0)
        return explain(found, "data", wrong + " on this input, none on another",
                       "the result is right whatever the data",
                       "look for a branch, an initial value or an index that depends on data");
    explain(found, "wrong-value", wrong, "each element is computed from the same values as before",
            "compare the expression of the first wrong element with the original's");
}

} // namespace

CandidateDiagnosis outputCause(const analysis::KernelModel& before,
                               const analysis::KernelModel& after, skills::Numerics numerics,
                               const ReviewFailure& failure) {
    CandidateDiagnosis found;
    if (!failure.difference) {
        explain(found, "wrong-output", "its outputs differ from the original's", coversAll, "");
        return found;
    }
    const Difference& difference = *failure.difference;
    const bool isRounding = difference.maxError && *difference.maxError <= roundingError;
    if (isRounding)
        explainRounding(found, difference, numerics);
    else if (isTail(difference) || difference.unwritten == difference.differing)
        explainElements(found, difference);
    else
        explainValues(found, difference, failure);
    found.evidence.push_back(fmt::format(
        "{}[{}] is {} where {} is expected, the first of {}", difference.buffer, difference.first,
        difference.unwritten == difference.differing ? "unwritten" : difference.actual,
        difference.expected, difference.differing));
    if (failure.trial)
        found.evidence.push_back(
            fmt::format("at {}, seed {} ({:#x}), blocks of {}; it agreed on {} inputs before",
                        failure.trial->label, failure.trial->seedNumber, failure.trial->seed,
                        failure.trial->launch.block.count(), failure.agreedBefore));
    if (after.barriers.size() < before.barriers.size())
        found.evidence.push_back(fmt::format("it has {} barriers where the original has {}",
                                             after.barriers.size(), before.barriers.size()));
    return found;
}

} // namespace kernelskill::engine
