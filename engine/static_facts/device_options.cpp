#include "engine/static_facts/device_options.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine {
namespace {

/// Every compiler version in use reads 03 to 20.
std::string standardOption(const std::string& standard) {
    static constexpr auto known = std::to_array<std::string_view>({"03", "11", "14", "17", "20"});
    const auto number = standard.size() > 2 ? standard.substr(standard.size() - 2) : std::string{};
    if (number == "2a" || number == "2b" || number == "2c" || number == "23" || number == "26")
        return "-std=c++20";
    return "-std=c++" + (std::ranges::find(known, number) == known.end() ? "17" : number);
}

/// Options that both compilers spell alike.
void addCommon(std::vector<std::string>& options, const analysis::CompileCommand& command) {
    options.push_back(standardOption(command.standard));
    if (command.fastMath)
        options.emplace_back("--use_fast_math");
    if (command.relocatableDeviceCode)
        options.emplace_back("--relocatable-device-code=true");
    options.insert(options.end(), command.codeOptions.begin(), command.codeOptions.end());
    for (const auto& definition : command.definitions)
        options.push_back("-D" + definition);
    for (const auto& name : command.undefinitions)
        options.push_back("-U" + name);
    for (const auto& folder : command.includeDirs)
        options.push_back("-I" + folder);
}

} // namespace

std::vector<std::string> nvrtcOptions(const analysis::CompileCommand& command,
                                      const std::vector<std::filesystem::path>& toolkitFolders) {
    // Functions without annotation in the unit are constexpr. nvcc takes these into device code,
    // too.
    std::vector<std::string> options = {"-default-device", "-w", "-lineinfo", "--ptxas-options=-v"};
    addCommon(options, command);
    for (const auto& folder : command.systemIncludeDirs)
        options.push_back("-I" + folder);
    for (const auto& folder : toolkitFolders)
        options.push_back("-I" + folder.string());
    return options;
}

std::vector<std::string> nvccOptions(const analysis::CompileCommand& command) {
    std::vector<std::string> options = {"-cubin", "-w", "-lineinfo", "--ptxas-options=-v",
                                        "--allow-unsupported-compiler"};
    addCommon(options, command);
    for (const auto& folder : command.systemIncludeDirs)
        options.insert(options.end(), {"-isystem", folder});
    // If the compile command is a guess, choose the flags with which more code compiles.
    const bool guessed = command.origin == analysis::CommandOrigin::Inferred;
    if (command.relaxedConstexpr || guessed)
        options.emplace_back("--expt-relaxed-constexpr");
    if (command.extendedLambda || guessed)
        options.emplace_back("--extended-lambda");
    return options;
}

} // namespace kernelskill::engine
