#include "engine/replay/replayed_trial.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace kernelskill::engine {
namespace {

/// Another order of a long sum may explain a difference of so many times the usual rounding.
constexpr double doubtful = 100;

/// The original's variation explains differences up to so many times as large.
constexpr double variationFactor = 16;

bool isRounding(const MemoryDifference& difference) {
    return difference.maxRelative <= roundingOf(difference.element);
}

bool mayBeRounding(const MemoryDifference& difference) {
    return difference.strayBytes == 0 &&
           difference.maxRelative <= doubtful * roundingOf(difference.element);
}

/// Whether a candidate's difference is one that the original's own runs have among each other.
bool isVariation(const MemoryDifference& difference, const MemoryDifference& own) {
    return own.where == difference.where && difference.strayBytes <= own.strayBytes &&
           static_cast<double>(difference.differingBytes) <=
               variationFactor * static_cast<double>(own.differingBytes) &&
           // Bytes of unknown type have no relative difference.
           (difference.element == MemoryElement::Bytes ||
            difference.maxRelative <= variationFactor * own.maxRelative);
}

const MemoryDifference& worstOf(const std::vector<MemoryDifference>& differences) {
    return *std::ranges::max_element(differences, {}, [](const MemoryDifference& each) {
        return std::pair(!isRounding(each), each.differingBytes);
    });
}

/// Sets the trial's outcome and sentence from the differences in memory that only kernels write.
void judgeDifferences(ReplayedTrial& trial, const std::vector<MemoryDifference>& differences,
                      const std::vector<MemoryDifference>& variation, bool isByStaleMemory,
                      const HeldDescription& held, bool isExact) {
    if (differences.empty()) {
        trial.outcome = TrialOutcome::Same;
        trial.sentence = "all memory is as before";
        return;
    }
    trial.sentence = describe(worstOf(differences), held);
    if (isByStaleMemory)
        trial.sentence += "; with what was there before the launch, nothing differs: it leaves out "
                          "results that an earlier launch has left";
    if (!isExact && std::ranges::all_of(differences, isRounding)) {
        trial.outcome = TrialOutcome::Rounded;
        return;
    }
    if (!isExact && !isByStaleMemory && std::ranges::all_of(differences, mayBeRounding)) {
        trial.sentence += ", which is more than rounding is as a rule";
        return;
    }
    const bool varies = std::ranges::all_of(differences, [&](const MemoryDifference& each) {
        return std::ranges::any_of(
            variation, [&](const MemoryDifference& own) { return isVariation(each, own); });
    });
    trial.outcome = varies ? TrialOutcome::NotJudged : TrialOutcome::Different;
    if (varies)
        trial.sentence = "the program's own kernel gives other results each time: " +
                         describe(worstOf(variation), held);
}

} // namespace

std::string_view spelling(TrialOutcome outcome) {
    constexpr std::array<std::string_view, 6> names{"same",       "rounded",   "not-judged",
                                                    "not-loaded", "different", "failed"};
    return names[static_cast<std::size_t>(outcome)];
}

double roundingOf(MemoryElement element) {
    switch (element) {
    case MemoryElement::Float16:
        return 2e-3;
    case MemoryElement::BFloat16:
        return 2e-2;
    case MemoryElement::Float32:
        return 1e-5;
    case MemoryElement::Float64:
        return 1e-13;
    case MemoryElement::Bytes:
        break;
    }
    return -1; // Nothing is rounding.
}

std::string describe(const MemoryDifference& difference, const HeldDescription& held) {
    std::string place = difference.where;
    const auto& parameters = held.launch.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& buffer = parameters[i].buffer;
        if (difference.address != 0 && buffer && buffer->address >= difference.address &&
            buffer->address - difference.address < difference.bytes)
            place += fmt::format(", where parameter {} points to", i + 1);
    }
    std::string text =
        fmt::format("{}: {} of {} bytes differ, from offset {} on", place,
                    difference.differingBytes, difference.bytes, difference.firstOffset);
    if (difference.strayBytes > 0)
        text += fmt::format("; the original leaves {} of them alone", difference.strayBytes);
    if (difference.element != MemoryElement::Bytes)
        text += fmt::format("; as {} by up to {:.3g} times the number",
                            spelling(difference.element), difference.maxRelative);
    return text;
}

ReplayedTrial failedTrial(const Error& error) {
    ReplayedTrial trial;
    trial.outcome = TrialOutcome::Failed;
    trial.sentence = error.what;
    return trial;
}

ReplayedTrial judgeTrial(const HeldDescription& held, const TryAnswer& answer, std::size_t index,
                         bool isExact) {
    ReplayedTrial trial;
    if (index >= answer.candidates.size()) {
        trial.sentence = "the program said nothing of this kernel";
        return trial;
    }
    const CandidateResult& result = answer.candidates[index];
    trial.original = answer.original;
    trial.candidate = result.microseconds;
    trial.differences = result.differences;
    trial.notes = answer.notes;
    trial.notes.insert(trial.notes.end(), result.notes.begin(), result.notes.end());
    if (result.refusal) {
        trial.outcome = TrialOutcome::NotLoaded;
        trial.sentence = result.refusal->what;
        return trial;
    }
    std::vector<MemoryDifference> judged;
    std::ranges::remove_copy_if(result.differences, std::back_inserter(judged),
                                &MemoryDifference::isOfHost);
    judgeDifferences(trial, judged, answer.variation, result.isByStaleMemory, held, isExact);
    const auto host = std::ranges::find_if(result.differences, &MemoryDifference::isOfHost);
    if (agrees(trial.outcome) && host != result.differences.end()) {
        trial.outcome = TrialOutcome::NotJudged;
        trial.sentence =
            describe(*host, held) + "; the kernel or a thread of the program wrote there";
    }
    return trial;
}

} // namespace kernelskill::engine
