/// The integers that launches pass to a kernel, as far as host code tells.
#pragma once

#include "skills/base/skill.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace kernelskill::skills {

struct KnownArgument {
    std::int64_t value = 0;
    /// The argument is a constant expression: it may be a template argument as it stands. Else the
    /// value is what the program passes as long as nothing else is asked for: to be compared with.
    bool isConstant = false;
};

/// The argument for the parameter of that index, from constants, from what a local is set to, from
/// a pinned launch, and from the calls in the file of a function that passes its own parameter on.
/// nullopt where it is not told, and where reading it may change something.
[[nodiscard]] std::optional<KnownArgument> knownArgument(const SkillContext& context,
                                                         const analysis::LaunchSite& launch,
                                                         std::size_t parameter);

/// Integers of a kernel's code with values given for some of its parameters.
using GivenValues = std::map<analysis::VariableId, std::int64_t>;

/// The value of an integral expression of the kernel; nullopt where it does not follow.
[[nodiscard]] std::optional<std::int64_t>
valueWith(const analysis::CodeMap& code, const GivenValues& given, analysis::ExprId expr);
/// The rounds of a loop of the kernel; nullopt where they do not follow.
[[nodiscard]] std::optional<std::int64_t>
roundsWith(const analysis::CodeMap& code, const GivenValues& given, const analysis::Loop& loop);

} // namespace kernelskill::skills
