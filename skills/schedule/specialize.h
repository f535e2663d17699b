/// The primitive `specialize`: a kernel is compiled for the values that its launches pass.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/known_arguments.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Each value of each is an instance of its own.
inline constexpr std::size_t maxSpecialParameters = 2;

/// What the compiler can do once it knows a parameter.
enum class SpecialUse : std::uint8_t {
    Loop,     ///< A loop has a known, small number of rounds.
    Division, ///< Divisions by it become multiplications.
    Branch,   ///< A condition in a loop is decided.
};

struct SpecialReason {
    SpecialUse use = SpecialUse::Loop;
    std::vector<std::uint32_t> parameters; ///< Those that have to be known, by their index.
    double weight = 0;                     ///< Instructions of a thread that it saves, roughly.
    analysis::Span place;
    /// For Loop; noId: one of a function that is called at the place.
    analysis::StmtId loop = analysis::noId;
    std::int64_t rounds = 0;
    std::string array; ///< For Loop: an array of the thread that it indexes; empty: none.
};

/// One launch, by the parameters that are specialised.
struct SpecialLaunch {
    std::uint32_t launch = 0; ///< Index into KernelModel::launches.
    std::vector<std::optional<KnownArgument>> values;

    /// The instance for the values may be launched here, if need be under a condition.
    [[nodiscard]] bool isKnown() const;
    [[nodiscard]] bool isConstant() const;
};

struct Specialization {
    std::vector<std::uint32_t> parameters; ///< One or two, by their index.
    std::vector<SpecialReason> reasons;    ///< Those that the parameters decide, heaviest first.
    std::vector<SpecialLaunch> launches;   ///< All of them.
    /// Every launch passes constants: the parameters become template parameters. Else they stay,
    /// and a template parameter beside each holds its value, or what tells that it is not known.
    bool isDirect = false;
    /// Loops that are small enough to be unrolled whole and have no pragma yet.
    std::vector<analysis::StmtId> unrolled;
};

/// Refuses with `no-launch`, `no-scalar`, `unknown-value`, `no-gain`, `c-linkage`,
/// `declared-before`, `overloaded`, `template-head`, `name-hidden`, `default-argument`,
/// `launch-statement`, `value-range` or what
/// requireFollowableLaunches() refuses with.
[[nodiscard]] Gated<Specialization> specialization(const SkillContext& context);

/// The statement of a block that is the launch and nothing else; noId: there is none.
[[nodiscard]] analysis::StmtId launchStatement(const SkillContext& context,
                                               const analysis::LaunchSite& launch);

/// Rewrites the head of the kernel and its launches.
void specialize(Draft& draft, const SkillContext& context, const Specialization& found);

} // namespace kernelskill::skills
