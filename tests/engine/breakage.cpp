#include "tests/engine/breakage.h"

#include "analysis/parse/parsed_units.h"
#include "analysis/source/files.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

namespace kernelskill::testing {

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     int occurrence) {
    std::size_t place = text.find(from);
    for (; occurrence > 0 && place != std::string_view::npos; --occurrence)
        place = text.find(from, place + 1);
    EXPECT_NE(place, std::string_view::npos) << "no such text to break: " << from;
    std::string result(text);
    if (place != std::string_view::npos)
        result.replace(place, from.size(), to);
    return result;
}

std::string sourceFile(std::string_view path) {
    const auto text = analysis::readFile(std::filesystem::path(paths::sourceFolder) / path);
    EXPECT_TRUE(text) << path;
    return text.value_or("");
}

RepairBench::RepairBench() {
    analysis::ToolchainOptions options;
    options.ignoreToolkit = true;
    auto found = analysis::findToolchain(options);
    EXPECT_TRUE(found) << found.error().describe();
    // Most tests parse texts that begin with the same header.
    static const auto units = std::make_shared<analysis::ParsedUnits>();
    if (found)
        toolchain = *found;
    toolchain.units = units;
    command = analysis::translateArguments({}, std::filesystem::temp_directory_path());
}

analysis::FileModel RepairBench::parsed(const std::string& text) const {
    auto file = std::filesystem::temp_directory_path() / "kernelskill-broken.cu";
    auto model = analysis::analyzeFile(file, text, command, toolchain);
    EXPECT_TRUE(model) << model.error().describe();
    return model ? std::move(*model) : analysis::FileModel{};
}

engine::Repair RepairBench::repaired(const std::string& text) const {
    return engine::repairFile(parsed(text), command, toolchain, {});
}

std::vector<engine::CompileFix> RepairBench::fixes(const std::string& text) const {
    return engine::proposeFixes(parsed(text), command, toolchain, std::nullopt, {});
}

} // namespace kernelskill::testing
