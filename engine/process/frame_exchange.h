/// Sends a request to another process over a socket and waits for its answer, in frames
/// (framing.h).
#pragma once

#include "analysis/source/error.h"
#include "engine/process/child_messages.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The other process. All parts outlive the exchange.
struct FramePartner {
    int socket = -1;
    const std::string& calledInMessages; ///< "emulator worker"
    ChildMessages& messages;             ///< The messages on its standard error, read meanwhile.
    const LineSink& onMessage;           ///< Gets each line of them; may be empty.
};

/// Sends a whole frame and waits for the payload of the answer. After an error the socket is
/// useless. Errors: Cancelled on `stop`; Failed if `time` passes, or if the process ends without an
/// answer.
[[nodiscard]] Result<std::vector<std::byte>> exchangeFrame(const FramePartner& partner,
                                                           std::span<const std::byte> frame,
                                                           std::chrono::milliseconds time,
                                                           const std::stop_token& stop);

} // namespace kernelskill::engine
