/// The program of recorders' tests, on the stand-in of driver and CUPTI (fake_gpu/).
#pragma once

#include "tests/paths.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace kernelskill::engine::testing {

/// Runs the program with these arguments and returns its output, standard error included.
/// `environment` holds assignments in a shell's syntax.
inline std::string outputOfFakeProgram(const std::string& words,
                                       const std::string& environment = {}) {
    const std::string command = "LD_LIBRARY_PATH='" + std::string(paths::fakeGpuFolder) + "' " +
                                environment + " '" + std::string(paths::fakeCaptureProgram) + "' " +
                                words + " 2>&1";
    std::string output;
    std::FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part{};
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr)
        output += part.data();
    pclose(pipe);
    return output;
}

/// Returns the assignments with which the driver loads a recorder that reads its target in
/// `variable`.
inline std::string withRecorder(const char* library, const char* variable,
                                const std::string& target) {
    const auto path = std::filesystem::path(paths::captureLibrary).parent_path() / library;
    return "CUDA_INJECTION64_PATH='" + path.string() + "' " + variable + "='" + target + "'";
}

} // namespace kernelskill::engine::testing
