#include "engine/execution/emulator/compile/value_liveness.h"

#include "engine/execution/emulator/compile/host_instruction.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxSearchLines = 4000; // Lines.

/// The target of a jump; "" for a jump through a table and for other instructions.
std::string_view targetOf(const AssemblyLine& line) {
    const auto comma = line.rest.rfind(',');
    auto name = comma == std::string_view::npos ? line.rest : line.rest.substr(comma + 1);
    while (name.starts_with(' '))
        name.remove_prefix(1);
    return name;
}

} // namespace

ValueLiveness::ValueLiveness(const std::vector<AssemblyLine>& lines) : lines_(lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].word.ends_with(':'))
            labels_.emplace(lines[i].word.substr(0, lines[i].word.size() - 1), i);
    }
}

bool ValueLiveness::isRead(const std::string& location, std::size_t line) const {
    std::vector<std::size_t> open{line};
    std::set<std::size_t> entered;
    std::size_t searched = 0;
    while (!open.empty()) {
        std::size_t at = open.back();
        open.pop_back();
        for (; at < lines_.size() && searched < maxSearchLines; ++at, ++searched) {
            const AssemblyLine& here = lines_[at];
            if (here.word == ".cfi_endproc" || here.word == "ret")
                break;
            if (isJump(here) || isBranch(here)) {
                const auto target = labels_.find(targetOf(here));
                if (target != labels_.end() && entered.insert(target->second).second)
                    open.push_back(target->second);
                if (isJump(here))
                    break;
                continue;
            }
            const auto instruction = hostInstruction(here);
            if (std::ranges::find(instruction.sources, location) != instruction.sources.end())
                return true;
            const bool isLost = instruction.action == HostAction::Call && isLostInCalls(location);
            if (isLost ||
                (instruction.action != HostAction::None && instruction.target == location))
                break;
        }
    }
    return false;
}

} // namespace kernelskill::engine
