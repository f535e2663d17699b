/// Running means with the sum of squared deviations from them, by Welford's method.
#pragma once

#include "skills/base/skill.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// `++count; delta = x - mean; mean += delta / count; m2 += delta * (x - mean);` in a loop that
/// uses the variables for nothing else. All of them are 0 when the loop begins.
struct WelfordFold {
    analysis::VariableId mean = analysis::noId;
    analysis::VariableId m2 = analysis::noId;
    /// The text's own count of values; noId: the text divides by the number of the round.
    analysis::VariableId count = analysis::noId;
    /// The number of the round, `j + 1`, from which the text takes how many values there are; noId:
    /// it counts them.
    analysis::ExprId round = analysis::noId;
    /// The statement that holds `round`: `count = j + 1;`, or one that a count can stand before.
    analysis::StmtId counted = analysis::noId;
    /// The name of the count: that of `count`, or a free one, which sharedLoops() chooses.
    std::string countName;
    std::string countType;
};

[[nodiscard]] inline bool isPartOf(const WelfordFold& fold, analysis::VariableId variable) {
    return variable == fold.mean || variable == fold.m2 || variable == fold.count;
}

/// The running means of a loop.
struct WelfordFolds {
    std::vector<WelfordFold> folds;
    /// Why the first running mean that is none of `folds` is none: `running-variance`.
    std::optional<Refusal> refusal;
};

/// Reads the loop, `loop` by its index into KernelModel::loops.
[[nodiscard]] WelfordFolds welfordFolds(const SkillContext& context, std::uint32_t loop);

} // namespace kernelskill::skills
