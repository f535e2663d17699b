/// The names that a consumer's variables get in the body of a fused kernel.
#pragma once

#include "skills/base/skill.h"
#include "skills/kernel-fusion/launch_pair.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A parameter of the fused kernel that is the consumer's alone.
struct AddedParameter {
    std::size_t place = 0; ///< Among the consumer's.
    std::string name;
};

struct FusedNames {
    std::string kernel; ///< The fused kernel's own.
    /// What the consumer's names become in its body; those that stay are left out.
    std::map<std::string, std::string> renamed;
    std::vector<AddedParameter> added;
    /// Places among the producer's parameters whose declaration is to be that of the consumer's
    /// parameter, since it alone may be written through.
    std::map<std::size_t, std::size_t> widened;
    /// The consumer's top-level declarations that repeat one of the producer's.
    std::set<analysis::StmtId> repeated;
};

/// Refuses with `pointer-not-merged`, `name-clash` or `name-in-macro`.
[[nodiscard]] Gated<FusedNames> fusedNames(const SkillContext& context, const LaunchPair& pair);

} // namespace kernelskill::skills
