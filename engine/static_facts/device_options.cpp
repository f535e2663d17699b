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

/// "-fmad=false" and "--fmad=false" mean the same.
std::string_view withoutDashes(std::string_view flag) {
    while (flag.starts_with('-'))
        flag.remove_prefix(1);
    return flag;
}

/// The options in a flag, ignored when parsing, that change machine code; empty if there are none.
std::vector<std::string> codeOptions(std::string_view flag) {
    const auto bare = withoutDashes(flag);
    const auto space = bare.find(' ');
    const auto name = bare.substr(0, space);
    const auto value =
        space == std::string_view::npos ? std::string{} : std::string(bare.substr(space + 1));
    if (name == "maxrregcount")
        return {"--maxrregcount=" + value};
    if (name == "G" || name == "device-debug")
        return {"--device-debug"};
    if (name == "extra-device-vectorization")
        return {"--extra-device-vectorization"};
    for (const auto* arithmetic : {"fmad=", "ftz=", "prec-div=", "prec-sqrt="}) {
        if (bare.starts_with(arithmetic))
            return {"--" + std::string(bare)};
    }
    std::vector<std::string> options;
    if (name == "Xptxas" || name == "ptxas-options") {
        for (auto rest = std::string_view(value); !rest.empty();) {
            const auto comma = rest.find(',');
            const auto part = rest.substr(0, comma);
            const auto word = withoutDashes(part);
            if (word != "v" && word != "verbose" && !word.starts_with("warn") && !part.empty())
                options.push_back("--ptxas-options=" + std::string(part));
            rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        }
    }
    return options;
}

/// Options that both compilers spell alike.
void addCommon(std::vector<std::string>& options, const analysis::CompileCommand& command) {
    options.push_back(standardOption(command.standard));
    if (command.fastMath)
        options.emplace_back("--use_fast_math");
    if (command.relocatableDeviceCode)
        options.emplace_back("--relocatable-device-code=true");
    for (const auto& flag : command.ignored) {
        for (auto& option : codeOptions(flag))
            options.push_back(std::move(option));
    }
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
    for (const std::string_view flag : command.ignored) {
        for (const std::string_view name : {"-ccbin ", "--compiler-bindir "}) {
            if (flag.starts_with(name))
                options.insert(options.end(), {"-ccbin", std::string(flag.substr(name.size()))});
        }
    }
    return options;
}

} // namespace kernelskill::engine
