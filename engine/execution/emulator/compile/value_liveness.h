/// Tells whether a value is used after its basic block.
#pragma once

#include "engine/execution/emulator/compile/predication.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

class ValueLiveness {
public:
    /// `lines` outlive the object.
    explicit ValueLiveness(const std::vector<AssemblyLine>& lines);

    /// Whether some path from `line` on reads the location (see HostInstruction) before writing it.
    /// If the search takes too long, false.
    [[nodiscard]] bool isRead(const std::string& location, std::size_t line) const;

private:
    const std::vector<AssemblyLine>& lines_;
    std::map<std::string_view, std::size_t> labels_;
};

} // namespace kernelskill::engine
