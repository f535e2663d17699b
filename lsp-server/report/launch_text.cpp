#include "lsp-server/report/launch_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

namespace {

std::string describe(const engine::ScalarSpec& scalar) {
    if (scalar.integer)
        return fmt::format("{}={}", scalar.name, *scalar.integer);
    if (scalar.floating)
        return fmt::format("{}={:g}", scalar.name, *scalar.floating);
    return scalar.name;
}

std::string describe(const engine::BufferSpec& buffer) {
    if (buffer.elements)
        return fmt::format("{}[{}]", buffer.name, *buffer.elements);
    return buffer.name + "[]";
}

} // namespace

std::string describe(const engine::Dim3& dimensions) {
    if (dimensions.z > 1)
        return fmt::format("{}×{}×{}", dimensions.x, dimensions.y, dimensions.z);
    if (dimensions.y > 1)
        return fmt::format("{}×{}", dimensions.x, dimensions.y);
    return fmt::format("{}", dimensions.x);
}

std::string describeLaunch(const engine::LaunchSpec& launch) {
    std::string text =
        fmt::format("grid {}, block {}", describe(launch.grid), describe(launch.block));
    if (launch.dynamicSharedBytes > 0)
        text += fmt::format(", {} bytes of dynamic shared memory", launch.dynamicSharedBytes);
    return text;
}

std::string describeArguments(const engine::LaunchSpec& launch) {
    std::string text;
    for (const engine::ArgumentSpec& argument : launch.arguments) {
        if (!text.empty())
            text += ", ";
        text += std::visit([](const auto& spec) { return describe(spec); }, argument);
    }
    return text;
}

} // namespace kernelskill::lsp
