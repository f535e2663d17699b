#include "engine/inputs/launch_text.h"

namespace kernelskill::engine {

std::optional<Dim3> dim3Of(const std::array<std::int64_t, 3>& extent, std::int64_t max) {
    for (const auto component : extent) {
        if (component < 1 || component > max)
            return std::nullopt;
    }
    return Dim3{static_cast<std::uint32_t>(extent[0]), static_cast<std::uint32_t>(extent[1]),
                static_cast<std::uint32_t>(extent[2])};
}

std::string listed(const std::map<std::string, std::int64_t>& values) {
    std::string result;
    for (const auto& [name, value] : values)
        result += (result.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    return result;
}

} // namespace kernelskill::engine
