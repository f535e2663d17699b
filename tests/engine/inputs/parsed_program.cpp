#include "tests/engine/inputs/parsed_program.h"

#include "analysis/parse/translation_unit.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {

analysis::FileModel parsedProgram(const std::string& text) {
    const auto toolchain = analysis::findToolchain({.cudaPath = {}, .ignoreToolkit = true});
    EXPECT_TRUE(toolchain);
    auto model = analysis::analyzeFile("/project/a.cu", text, {}, toolchain.value());
    EXPECT_TRUE(model);
    return std::move(model.value());
}

LaunchSpec bestLaunch(const std::string& text, LaunchTarget target) {
    const auto model = parsedProgram(text);
    EXPECT_FALSE(model.kernels.empty()) << text;
    if (model.kernels.empty())
        return {};
    const auto launches = inferLaunches(model, model.kernels.front(), target);
    EXPECT_TRUE(launches) << launches.error().describe();
    return launches && !launches->empty() ? launches->front() : LaunchSpec{};
}

const ScalarSpec* scalarNamed(const LaunchSpec& launch, std::string_view name) {
    for (const auto& argument : launch.arguments) {
        if (const auto* scalar = std::get_if<ScalarSpec>(&argument);
            scalar != nullptr && scalar->name == name)
            return scalar;
    }
    return nullptr;
}

const BufferSpec* bufferNamed(const LaunchSpec& launch, std::string_view name) {
    for (const auto& argument : launch.arguments) {
        if (const auto* buffer = std::get_if<BufferSpec>(&argument);
            buffer != nullptr && buffer->name == name)
            return buffer;
    }
    return nullptr;
}

} // namespace kernelskill::engine
