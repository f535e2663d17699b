/// The language server: one client, from initialize to exit.
#pragma once

#include "lsp-server/configuration/options.h"

#include <spdlog/fwd.h>

#include <memory>

namespace kernelskill::lsp {

struct ServerSettings {
    Options options; ///< The command line's; the client's settings are read on top.
    int input = 0;   ///< File descriptors.
    int output = 1;
    std::size_t maxMessageBytes = std::size_t{256} << 20;
};

/// Serves until exit or the end of input. Returns the process's exit status: 0 after shutdown and
/// exit, else 1.
[[nodiscard]] int runLanguageServer(const ServerSettings& settings, spdlog::logger& log);

} // namespace kernelskill::lsp
