/// What a code lens says of a skill's edit.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace kernelskill::skills {

/// By the skill's id, the edit in two or three words: "pad rows". Skills of users may have
/// none.
using LensTitles = std::map<std::string, std::string, std::less<>>;

} // namespace kernelskill::skills
