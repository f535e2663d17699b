/// Looks for the fastest variants of a model's places that together are exact enough.
#pragma once

#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/variant_mix.h"
#include "engine/graph/reference/mix.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {

/// The reason to refuse a variant whose nodes LibTorch cannot leave out of the program at once.
inline constexpr std::string_view cannotRunAtOnce = "not compared: its part cannot run at once";

/// A variant that equal places can have.
struct AccuracyOption {
    std::size_t variant = 0; ///< Its number at the places.
    const ModelFiles* files = nullptr;
    Exactness exactness = Exactness::AsPyTorch;
    bool isLibrary = false;
    std::string refused; ///< Why it is not taken; empty if it may be.
};

/// Equal places, which have the same variant.
struct AccuracyGroup {
    std::vector<ProgramPart> parts;
    std::vector<AccuracyOption> options; ///< The one to prefer first; at least one.
    std::size_t picked = 0;              ///< The option's place in `options`.
    double error = 0;           ///< The error of the program with this group's variant alone.
    bool hasAllOptions = false; ///< Whether `findMore` was asked.

    [[nodiscard]] const AccuracyOption& option() const { return options[picked]; }
};

class AccuracySearch {
public:
    using Judge = std::function<std::vector<MixVerdict>(const std::vector<VariantMix>&)>;
    /// Adds more exact options to a group where there are some, and keeps all in the order of
    /// preference. The one that is picked stays so.
    using FindMore = std::function<void(AccuracyGroup&)>;

    /// `trusted`: how exact an option has to be to be taken without a verdict.
    AccuracySearch(std::vector<AccuracyGroup>& groups, Exactness trusted, Judge judge,
                   FindMore findMore)
        : groups_(groups), trusted_(trusted), judge_(std::move(judge)),
          findMore_(std::move(findMore)) {}

    /// Picks an option of each group, and returns the verdict on all of them together. The program
    /// with the preferred options is judged first. If it is wrong, groups are judged alone, and
    /// those that are wrong get their next option; then those with the largest errors do, one, two,
    /// four at a time, until it is right. If the verdict is not known, all groups get trusted ones.
    MixVerdict run();

private:
    /// Judges the picked options. A group whose variant is left out of the mix gets a trusted one.
    MixVerdict judgeAll();
    void judgeAlone();
    /// Gives so many groups a more exact option. False if none has one.
    bool makeMoreExact(std::size_t count, const std::string& why);
    /// Refuses the group's option and all that are less exact, together with those that are as
    /// exact and by own kernels as well, or by a library as well; with `isWhole` by both. Picks the
    /// next one. False if there is none.
    bool refuse(AccuracyGroup& group, const std::string& why, bool isWhole);

    /// Picks a trusted option of the group. False if it has one, or there is none.
    bool pickTrusted(AccuracyGroup& group, const std::string& why);

    std::vector<AccuracyGroup>& groups_;
    Exactness trusted_;
    Judge judge_;
    FindMore findMore_;
};

} // namespace kernelskill::engine::graph
