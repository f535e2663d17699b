#include "engine/verification/program_trial.h"

#include "engine/storage/size_text.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {
namespace {

std::string timeText(const TimingVerdict& timing) {
    return fmt::format(", {:.3g} times as fast ({:.3g} to {:.3g}, {} rounds)", timing.speedup,
                       timing.least, timing.most, timing.candidate.rounds);
}

bool isOtherResult(const ReplayedTrial& trial) {
    return trial.outcome == TrialOutcome::Different || trial.outcome == TrialOutcome::Failed;
}

} // namespace

ProgramTrial judgeInProgram(const HeldDescription& held, const ReplayedTrial& before,
                            const ReplayedTrial& after) {
    ProgramTrial trial;
    trial.launch = held.launch.ordinal;
    trial.allocations = held.allocations;
    trial.allocatedBytes = held.allocatedBytes;
    trial.savedBytes = held.savedBytes;
    trial.differences = after.differences;
    trial.notes = after.notes;
    if (agrees(after.outcome) && isOtherResult(before)) {
        trial.outcome = ChangeOutcome::Wrong;
        trial.sentence =
            "the program's own kernel computes what the new version does, and not what "
            "the old one does: " +
            before.sentence;
        return trial;
    }
    if (agrees(after.outcome)) {
        trial.outcome = ChangeOutcome::Right;
        trial.sentence = fmt::format(
            "{} ({} allocation{}, {})",
            after.outcome == TrialOutcome::Same ? "same memory as before"
                                                : "same memory as before but for rounding",
            held.allocations, held.allocations == 1 ? "" : "s", sizeText(held.allocatedBytes));
        if (!agrees(before.outcome))
            trial.notes.push_back("the old version was not compared: " + before.sentence);
        const bool hasBoth = !before.candidate.empty() && agrees(before.outcome);
        const auto& times = hasBoth ? before.candidate : after.original;
        if (!times.empty() && !after.candidate.empty()) {
            trial.timing = judgeTimes(times, after.candidate, std::nullopt);
            trial.sentence += timeText(*trial.timing);
        }
        return trial;
    }
    trial.sentence = after.sentence;
    if (!isOtherResult(after))
        return trial;
    if (isOtherResult(before)) {
        trial.sentence = "neither version computes what the program's own kernel does; build the "
                         "program from one of them, with the flags that the file is read with: " +
                         after.sentence;
        return trial;
    }
    trial.outcome = ChangeOutcome::Wrong;
    return trial;
}

} // namespace kernelskill::engine
