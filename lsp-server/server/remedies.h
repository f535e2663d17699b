/// What a user can do about a failed request, as buttons of the one notice that tells of it.
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

/// The engine's failure; what is missing on the machine has a button that looks for it.
[[nodiscard]] ResponseError toResponseErrorWithRemedy(const Error& error);

/// Kernels are not run, by the user's setting. `consequence` follows in the sentence: ", and an
/// edit is only applied after it has been verified"; may be empty.
[[nodiscard]] ResponseError executionIsOff(const std::string& consequence = "");

} // namespace kernelskill::lsp
