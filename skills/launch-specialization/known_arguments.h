/// The integers that launches pass to a kernel, as far as they follow from host code.
#pragma once

#include "skills/base/skill.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace kernelskill::skills {

struct KnownArgument {
    std::int64_t value = 0;
    /// The argument is a constant expression, which can be a template argument as it stands.
    /// Otherwise the value is the usual one, and the program may pass another.
    bool isConstant = false;
};

/// Returns the argument for the parameter with that index. It follows from constants, a pinned
/// launch, the first value of a local, or, where a function passes its own parameter on, from calls
/// of the function in the file. nullopt where it is not known.
[[nodiscard]] std::optional<KnownArgument> knownArgument(const SkillContext& context,
                                                         const analysis::LaunchSite& launch,
                                                         std::size_t parameter);

/// Known values of some of a kernel's parameters.
using GivenValues = std::map<analysis::VariableId, std::int64_t>;

/// Evaluates an integral expression of the kernel; nullopt if it is not known.
[[nodiscard]] std::optional<std::int64_t>
valueWith(const analysis::CodeMap& code, const GivenValues& given, analysis::ExprId expr);
/// Counts the rounds of a loop of the kernel; nullopt if they are not known.
[[nodiscard]] std::optional<std::int64_t>
roundsWith(const analysis::CodeMap& code, const GivenValues& given, const analysis::Loop& loop);

} // namespace kernelskill::skills
