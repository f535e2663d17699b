/// Buttons that a client shows with the notice about a failed request.
#pragma once

#include "lsp-server/transport/json_rpc.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// A button. The client runs a command of the server, opens a setting, or does what it alone can.
struct RemedyButton {
    enum class Does : std::uint8_t {
        RunCommand,  ///< `name` is a command of the server, with `argument`.
        OpenSetting, ///< `name` is a setting.
        ManageTrust, ///< Shows where folders are trusted.
        CheckMachine ///< Runs `kernelskill doctor`.
    };
    std::string title;
    Does does = Does::RunCommand;
    std::string name = {};
    std::shared_ptr<const nlohmann::json> argument = nullptr;
};

/// The error with its remedies in `data`: {remedies: [{title, command, arguments} | {title,
/// setting} | {title, client: "trust" | "doctor"}]}. Its message says them in words as well, for
/// clients that draw no buttons.
[[nodiscard]] ResponseError withRemedies(ResponseError error,
                                         const std::vector<RemedyButton>& remedies);

/// The engine's failure. If something is missing on the machine, a button checks the machine.
[[nodiscard]] ResponseError toResponseErrorWithRemedy(const Error& error);

/// The error that the user's setting forbids running kernels. `consequence` is appended to its
/// sentence: ", and an edit is only applied after it has been verified"; it may be empty.
[[nodiscard]] ResponseError executionIsOff(const std::string& consequence = "");

} // namespace kernelskill::lsp
