#include "analysis/command/compile_command.h"
#include "analysis/command/standard_headers.h"
#include "analysis/source/files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

/// Errors of clang that g++, nvcc's host compiler, accepts or only warns about.
constexpr auto lenience = std::to_array<std::string_view>({
    "-Wno-unknown-cuda-version",
    "-Wno-unused-command-line-argument",
    "-Wno-c++11-narrowing",
    "-Wno-register",
    "-Wno-reserved-user-defined-literal",
    "-Wno-missing-template-arg-list-after-template-kw",
    "-Wno-deprecated-declarations",
    "-Wno-unknown-pragmas",
    "-Wno-ignored-attributes",
    "-Wno-unknown-attributes",
    "-Wno-writable-strings",
    "-Wno-pragma-once-outside-header",
});

/// The newest requested architecture that clang 22 supports.
std::string clangArchitecture(const std::vector<std::string>& architectures) {
    constexpr int oldest = 52;
    constexpr int newest = 121;
    int best = 0;
    std::string name = "sm_90";
    for (const std::string& architecture : architectures) {
        const int number = static_cast<int>(std::strtol(architecture.c_str() + 3, nullptr, 10));
        if (number >= oldest && number <= newest && number > best) {
            best = number;
            name = architecture;
        }
    }
    return name;
}

/// g++'s dialects enable extensions, and CUDA 13's headers need C++17.
std::string clangStandard(const CompileCommand& command, const Toolchain& toolchain) {
    std::string_view digits = command.standard;
    const auto plus = digits.rfind('+');
    if (plus == std::string_view::npos)
        return "gnu++17";
    digits.remove_prefix(plus + 1);
    const bool old = digits == "98" || digits == "03" || digits == "11" || digits == "0x" ||
                     digits == "14" || digits == "1y";
    if (old && toolchain.toolkit && toolchain.toolkit->version >= 13000)
        return "gnu++17";
    return "gnu++" + std::string(digits);
}

} // namespace

std::vector<std::string> clangArguments(const CompileCommand& command, const Toolchain& toolchain) {
    std::vector<std::string> arguments = {
        "-x",
        "cuda",
        "-std=" + clangStandard(command, toolchain),
        "--cuda-device-only",
        "--cuda-gpu-arch=" + clangArchitecture(command.architectures),
        "-resource-dir",
        toolchain.clangResourceDir.string(),
        "-ferror-limit=0",
        // The default of 2048 would overflow the stack of libclang's parsing threads.
        "-fbracket-depth=256",
        "-fspell-checking",
        "-Xclang",
        "-fcuda-allow-variadic-functions",
    };
    if (const auto root = substituteSystemRoot(toolchain.preludeInclude.parent_path()))
        arguments.push_back("--sysroot=" + root->string());
    arguments.insert(arguments.end(), lenience.begin(), lenience.end());
    for (const std::string& flag : command.hostFlags) {
        // Options for the host's processor; the device compiler has no such features.
        if (flag.starts_with("-m"))
            arguments.emplace_back("-Xarch_host");
        arguments.push_back(flag);
    }
    // A launch inside a kernel needs -rdc=true, which an unknown Makefile may pass.
    if (command.relocatableDeviceCode || command.origin == CommandOrigin::Inferred)
        arguments.emplace_back("-fgpu-rdc");
    for (const std::string& definition : command.definitions)
        arguments.push_back("-D" + definition);
    for (const std::string& name : command.undefinitions)
        arguments.push_back("-U" + name);
    for (const std::string& directory : command.includeDirs)
        arguments.push_back("-I" + directory);
    for (const std::string& directory : command.systemIncludeDirs) {
        arguments.emplace_back("-isystem");
        arguments.push_back(directory);
    }

    const fs::path& prelude = toolchain.preludeInclude;
    if (toolchain.toolkit) {
        const fs::path& root = toolchain.toolkit->root;
        arguments.push_back("--cuda-path=" + root.string());
        if (pathExists(root / "include" / "cccl")) {
            arguments.emplace_back("-isystem");
            arguments.push_back((root / "include" / "cccl").string());
        }
        if (pathExists(prelude / "toolkit_compat.h")) {
            arguments.emplace_back("-include");
            arguments.push_back((prelude / "toolkit_compat.h").string());
        }
    } else {
        for (const char* flag :
             {"-nocudainc", "-nocudalib", "-nobuiltininc", "--cuda-path=/nonexistent"})
            arguments.emplace_back(flag);
        arguments.emplace_back("-isystem");
        arguments.push_back(prelude.string());
        arguments.emplace_back("-isystem");
        arguments.push_back((toolchain.clangResourceDir / "include").string());
        arguments.emplace_back("-include");
        arguments.push_back((prelude / "prelude.h").string());
    }
    if (pathExists(prelude / "fallback")) {
        arguments.emplace_back("-idirafter");
        arguments.push_back((prelude / "fallback").string());
    }
    for (const std::string& header : command.forcedIncludes) {
        const fs::path beside = command.directory / header;
        if (pathExists(beside) && !isFile(beside))
            continue; // A pipe or a device may have no end.
        arguments.emplace_back("-include");
        arguments.push_back(pathExists(beside) ? beside.string() : header);
    }
    return arguments;
}

} // namespace kernelskill::analysis
