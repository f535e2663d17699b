/// The server for coding agents: the Model Context Protocol on standard input and output.
#pragma once

#include "lsp-server/configuration/options.h"

#include <spdlog/fwd.h>

#include <cstddef>
#include <filesystem>

namespace kernelskill::lsp {

struct McpSettings {
    Options options;
    std::filesystem::path folder; ///< The absolute folder that relative paths start in.
    int input = 0;                ///< File descriptors.
    int output = 1;
    std::size_t maxMessageBytes = std::size_t{64} << 20;
};

/// Serves until the end of input: revision 2026-07-28, and the older ones that begin with
/// `initialize`. Nothing is compiled or run in a folder that the user does not trust. Returns the
/// process's exit status.
[[nodiscard]] int runMcpServer(const McpSettings& settings, spdlog::logger& log);

} // namespace kernelskill::lsp
