#include "skills/editing/vector_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

namespace {

/// Lines of conditions break before this column.
constexpr std::size_t maxColumn = 100;

} // namespace

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

void addCondition(CodeLines& lines, const analysis::SourceLayout& layout, const std::string& name,
                  std::string condition, std::size_t indentation) {
    const std::string head = fmt::format("const bool {} = ", name);
    condition += ";";
    if (indentation + head.size() + condition.size() <= maxColumn) {
        lines.add(head + condition);
        return;
    }
    lines.open(head.substr(0, head.size() - 1));
    const std::size_t left = maxColumn - indentation - layout.unit().size();
    for (std::size_t from = 0;;) {
        const std::size_t sum = condition.find(" | ", from);
        const std::size_t both = condition.find(" && ", from);
        if (condition.size() - from <= left || std::min(sum, both) == std::string::npos) {
            lines.add(condition.substr(from));
            break;
        }
        const std::size_t end = sum < both ? sum + 2 : both + 3;
        lines.add(condition.substr(from, end - from));
        from = end + 1;
    }
    lines.leave();
}

} // namespace kernelskill::skills
