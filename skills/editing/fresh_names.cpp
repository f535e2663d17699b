#include "skills/editing/fresh_names.h"

#include "analysis/queries/code_map.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

std::string FreshNames::add(const std::string& wanted) {
    std::string name = freshName(body_, wanted);
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = freshName(body_, fmt::format("{}{}", wanted, number));
    return name;
}

} // namespace kernelskill::skills
