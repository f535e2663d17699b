/// Runs a program to its end and returns its output.
#pragma once

#include "analysis/source/error.h"
#include "engine/process/walls.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Called with each piece of text when it arrives, and with STDOUT_FILENO or STDERR_FILENO.
using OutputSink = std::function<void(int stream, std::string_view text)>;

struct ChildCommand {
    std::filesystem::path program; ///< Absolute.
    std::vector<std::string> arguments;
    std::string input; ///< Written to its standard input.
    std::chrono::milliseconds time{60'000};
    std::optional<Walls> walls = std::nullopt;  ///< Around it and all that it starts.
    std::filesystem::path temporaryFolder = {}; ///< Its TMPDIR; empty: ours.
    std::filesystem::path folder = {};          ///< The folder that it runs in; empty: ours.
    /// "NAME=value"; nullopt: a clean environment (PATH, LANG=C, TMPDIR).
    std::optional<std::vector<std::string>> environment = std::nullopt;
    OutputSink onOutput = {};
};

/// The max bytes that are kept of each text of a child.
inline constexpr std::size_t maxOutputBytes = 4u << 20;

struct ChildOutcome {
    int status = 0;       ///< Exit status, or 128 + signal.
    std::string output;   ///< Standard output.
    std::string messages; ///< Standard error.
};

/// Blocks. The child gets its own process group, which is killed on a time-out (Failed) and on
/// `stop` (Cancelled). Missing if the program cannot be started.
[[nodiscard]] Result<ChildOutcome> runChild(const ChildCommand& command, std::stop_token stop);

} // namespace kernelskill::engine
