/// Keeps a server running for one client: what a text of the user's makes crash is started again.
#pragma once

#include "lsp-server/server/language_server.h"

#include <spdlog/fwd.h>

namespace kernelskill::lsp {

/// Runs the server in a child process and passes messages on, as SessionRecord has it. Gives up
/// when the child crashes for the sixth time within three minutes. Returns the exit status of the
/// child that was told to end; 1 after giving up. No thread may have been started before.
[[nodiscard]] int superviseLanguageServer(const ServerSettings& settings, spdlog::logger& log);

} // namespace kernelskill::lsp
