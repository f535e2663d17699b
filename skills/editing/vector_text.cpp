#include "skills/editing/vector_text.h"

#include <spdlog/fmt/fmt.h>

#include <map>

namespace kernelskill::skills {

std::string alignmentCondition(const std::vector<VectorAddress>& addresses) {
    std::map<std::uint32_t, std::string> numbersOfSize;
    for (const VectorAddress& address : addresses) {
        std::string& numbers = numbersOfSize[address.bytes];
        numbers += fmt::format("{}reinterpret_cast<size_t>({})", numbers.empty() ? "" : " | ",
                               address.text);
    }
    std::string condition;
    for (const auto& [bytes, numbers] : numbersOfSize)
        condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " && ",
                                 numbers.contains(" | ") ? "(" + numbers + ")" : numbers, bytes);
    return condition;
}

} // namespace kernelskill::skills
